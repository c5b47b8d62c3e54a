package booking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

type withReason struct {
	ID     uuid.UUID `json:"id"`
	Reason string    `json:"reason" maxLength:"500" doc:"For the team only; never sent to the client."`
}

func (d *desk) confirmAppointment(ctx context.Context, tx *db.Tx, in byID) (Appointment, error) {
	a, err := d.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	a, err = d.become(ctx, tx, a, confirmed, "", pending)
	return a.whole(), err
}

func (d *desk) declineAppointment(ctx context.Context, tx *db.Tx, in withReason) (Appointment, error) {
	a, err := d.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	a, err = d.become(ctx, tx, a, declined, in.Reason, pending)
	return a.whole(), err
}

func (d *desk) cancelAppointment(ctx context.Context, tx *db.Tx, in withReason) (Appointment, error) {
	a, err := d.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	a, err = d.become(ctx, tx, a, cancelled, in.Reason, pending, confirmed)
	return a.whole(), err
}

func (d *desk) completeAppointment(ctx context.Context, tx *db.Tx, in byID) (Appointment, error) {
	return d.afterStart(ctx, tx, in.ID, completed)
}

func (d *desk) markNoShow(ctx context.Context, tx *db.Tx, in byID) (Appointment, error) {
	return d.afterStart(ctx, tx, in.ID, noShow)
}

func (d *desk) afterStart(ctx context.Context, tx *db.Tx, id uuid.UUID, to string) (Appointment, error) {
	a, err := d.lock(ctx, tx, id)
	if err != nil {
		return Appointment{}, err
	}
	if a.Status == confirmed && a.StartsAt.After(tx.Now) {
		return Appointment{}, fault.InvalidStatus(a.Status, "The appointment has not started yet.")
	}
	a, err = d.become(ctx, tx, a, to, "", confirmed)
	return a.whole(), err
}

// become takes a locked appointment from one of the statuses from to another, or tells the status it has.
func (d *desk) become(ctx context.Context, tx *db.Tx, a appointment, to, reason string, from ...string) (appointment, error) {
	if err := a.must(from...); err != nil {
		return a, err
	}
	a.Status = to
	if reason = strings.TrimSpace(reason); reason != "" {
		a.CancelReason = reason
	}
	if err := d.save(ctx, tx, &a, ``); err != nil {
		return a, err
	}
	return a, d.tell(ctx, tx, a, a.change(to, nil, "status"))
}

// must refuses what the status does not allow.
func (a appointment) must(allowed ...string) error {
	if slices.Contains(allowed, a.Status) {
		return nil
	}
	return fault.InvalidStatus(a.Status, fmt.Sprintf("The appointment is %s, and this needs it to be %s.", a.Status, strings.Join(allowed, " or ")))
}

// save writes a locked appointment under its next version. also sets further columns from args, the first
// of which is $14.
func (d *desk) save(ctx context.Context, tx *db.Tx, a *appointment, also string, args ...any) error {
	a.version++
	a.sequence++
	a.UpdatedAt = tx.Now
	_, err := tx.Exec(ctx, `update appointment set status = $2, user_id = $3, contact_id = $4, starts_at = $5, ends_at = $6, location_type = $7, location = $8,
		meeting_url = $9, notes = $10, cancel_reason = $11, sequence = $12, version = version + 1, updated_at = $13`+also+` where id = $1`,
		append([]any{a.ID, a.Status, a.Staff.UserID, a.Contact.ID, a.StartsAt, a.EndsAt, a.place.kind, a.place.location, a.place.meetingURL, a.Notes,
			a.CancelReason, a.sequence, a.UpdatedAt}, args...)...)
	return overlap(err)
}
