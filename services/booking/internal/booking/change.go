package booking

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

type changedNote struct {
	ID    uuid.UUID `json:"id"`
	Notes string    `json:"notes" required:"true" maxLength:"2000" doc:"Replaces the internal note."`
}

func (s *service) updateNote(ctx context.Context, tx *db.Tx, in changedNote) (Appointment, error) {
	a, err := s.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	if err := tx.Match(a.RecordVersion()); err != nil {
		return Appointment{}, err
	}
	if a.Notes == in.Notes {
		return a.whole(), nil
	}
	was := a
	a.Notes = in.Notes
	if err := save(ctx, tx, &a); err != nil {
		return Appointment{}, err
	}
	tx.Changed(audited(was, a))
	return a.whole(), tx.EmitAll(ctx, []db.Event{a.change(proto.KindAppointmentUpdated, nil, "notes")})
}

type changedPlace struct {
	ID           uuid.UUID         `json:"id"`
	LocationType string            `json:"location_type" enum:"in_person,client,phone,online" doc:"Where it takes place."`
	Location     opt.Value[string] `json:"location,omitzero" nullable:"true" maxLength:"255" doc:"The address or other words about the place."`
	MeetingURL   opt.Value[string] `json:"meeting_url,omitzero" nullable:"true" maxLength:"2048" doc:"The link of an online meeting."`
}

func (s *service) changePlace(ctx context.Context, tx *db.Tx, in changedPlace) (Appointment, error) {
	a, err := s.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	p := a.place
	if in.LocationType != "" && in.LocationType != p.kind {
		// A place of another kind keeps nothing of the old one.
		p = place{kind: in.LocationType}
	}
	in.Location.Apply(&p.location)
	in.MeetingURL.Apply(&p.meetingURL)
	if p, err = p.checked(); err != nil {
		return Appointment{}, err
	}
	if err := a.must(statusPending, statusConfirmed); err != nil {
		return Appointment{}, err
	}
	if p == a.place {
		return a.whole(), nil
	}
	if err := p.reachable(a.staffLink); err != nil {
		return Appointment{}, err
	}
	was := a
	a.place = p
	a.sequence++
	if a, err = s.resave(ctx, tx, a); err != nil {
		return Appointment{}, err
	}
	tx.Changed(audited(was, a))
	settings, err := readSettings(ctx, tx)
	if err != nil {
		return Appointment{}, err
	}
	return a.whole(), s.publish(ctx, tx, a, settings, a.change(proto.KindAppointmentPlaceChanged, nil, changedNames(in)...))
}

func changedNames(in changedPlace) []string {
	names := []string{"location"}
	if strings.TrimSpace(in.LocationType) != "" {
		names = append(names, "location_type")
	}
	return names
}
