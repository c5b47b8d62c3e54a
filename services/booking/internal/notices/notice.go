package notices

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/ics"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
)

// Kinds of notices, and what of a kind it is.
const (
	booked, request, cancelled, moved, waits, agenda = "team_booked", "team_request", "team_cancelled", "team_moved", "request_waiting", "agenda"

	takenOver, requestTakenOver, givenAway, handed = "taken_over", "request_taken_over", "given_away", "handed"
)

// news is what a change is to the team: its kind, and what of that kind.
type news struct{ kind, how string }

// ofChange are the changes that the team is told of, by the event's kind.
var ofChange = map[string]news{
	proto.KindAppointmentBooked:       {booked, "booked"},
	proto.KindAppointmentConfirmed:    {booked, "confirmed"},
	proto.KindAppointmentDeclined:     {cancelled, "declined"},
	proto.KindAppointmentCancelled:    {cancelled, "cancelled"},
	proto.KindAppointmentRescheduled:  {moved, "moved"},
	proto.KindAppointmentPlaceChanged: {moved, "place"},
}

// Changed tells the team of a change, by the kind of its event; of a new appointment was and now are the same. It tells nobody of what the
// calendar does not show.
func (r *Room) Changed(ctx context.Context, tx *db.Tx, was, now appointments.Record, kind string, settings services.Settings) error {
	if kind == proto.KindAppointmentUpdated && was.UserID != now.UserID {
		kind = proto.KindAppointmentRescheduled // a hand-over changes the person alone
	}
	return r.tell(ctx, tx, told(was, now, kind, tx.Who, settings.NotifyEmails, r.email), was, now)
}

// told decides who is told what of a change: the appointment's person, unless they did it themselves, and these addresses, whoever did it. An
// address that is the person's is told once. When the person changes, the one before loses an appointment and the new one gets it.
func told(was, now appointments.Record, kind string, by db.Actor, emails []string, email func(user int64) string) []*proto.Notice_Addressee {
	n, ok := ofChange[kind]
	if !ok {
		return nil
	}
	pending := now.Status == appointments.StatusPending
	switch {
	case pending && kind == proto.KindAppointmentBooked:
		n = news{request, "requested"}
	case kind == proto.KindAppointmentDeclined && by.Channel == db.ChannelSystem:
		n.how = "expired"
	}
	var to []*proto.Notice_Addressee
	person := func(user int64, n news) {
		if user != 0 && user != by.UserID && !among(emails, email(user)) {
			to = append(to, &proto.Notice_Addressee{UserId: user, Kind: n.kind, How: n.how})
		}
	}
	all := n
	if was.UserID == now.UserID {
		person(now.UserID, n)
	} else {
		all = news{moved, handed}
		person(was.UserID, news{cancelled, givenAway})
		if pending {
			person(now.UserID, news{request, requestTakenOver})
		} else {
			person(now.UserID, news{booked, takenOver})
		}
	}
	for _, e := range emails {
		to = append(to, &proto.Notice_Addressee{Address: e, Kind: all.kind, How: all.how})
	}
	return to
}

// among reports whether an address is one of emails, whatever its letters' case.
func among(emails []string, address string) bool {
	return slices.ContainsFunc(emails, func(e string) bool { return strings.EqualFold(e, address) })
}

// email is the address of a user; empty for one who is gone.
func (r *Room) email(user int64) string {
	u, _ := r.Identity.User(user)
	return u.GetEmail()
}

// tell sends what the addressees are told. What takes the appointment out of a calendar is a notice of its own: it shows the appointment as it was
// there.
func (r *Room) tell(ctx context.Context, tx *db.Tx, to []*proto.Notice_Addressee, was, now appointments.Record) error {
	var gone, rest []*proto.Notice_Addressee
	for _, one := range to {
		if one.GetHow() == givenAway {
			gone = append(gone, one)
		} else {
			rest = append(rest, one)
		}
	}
	before := now
	before.StartsAt, before.EndsAt, before.Place = was.StartsAt, was.EndsAt, was.Place
	out := visit(before, before)
	if was.Status == appointments.StatusConfirmed {
		out.Calendar = string(ics.Cancel)
	}
	if err := tx.Tell(ctx, about(now), r.notice(tx, gone, out)); err != nil {
		return err
	}
	in := visit(was, now)
	switch {
	case now.Status == appointments.StatusConfirmed:
		in.Calendar = string(ics.Request)
	case was.Status == appointments.StatusConfirmed && now.Status == appointments.StatusCancelled:
		in.Calendar = string(ics.Cancel)
	}
	return tx.Tell(ctx, about(now), r.notice(tx, rest, in))
}

func about(a appointments.Record) string { return "appointment/" + a.ID.String() }

func (r *Room) notice(tx *db.Tx, to []*proto.Notice_Addressee, v *proto.Notice_Visit) *proto.Notice {
	by := tx.Who.Label
	if tx.Who.Channel == db.ChannelSystem {
		by = ""
	}
	return &proto.Notice{To: to, App: r.Service, By: by, Visits: []*proto.Notice_Visit{v}}
}

// visit is an appointment as the team is told of it.
func visit(was, now appointments.Record) *proto.Notice_Visit {
	at := now.Shown()
	v := &proto.Notice_Visit{Id: now.ID.String(), Status: now.Status, Sequence: int32(now.Sequence), Service: now.Terms.Name, Staff: now.StaffName, ContactId: now.ContactID.String(),
		Client: cmp.Or(now.Client.Name(), now.Client.Label()), BookedFor: now.BookedFor, Email: now.Client.Email, Phone: now.Client.Phone, StartsAt: now.StartsAt.Unix(), EndsAt: now.EndsAt.Unix(),
		LocationType: at.Kind, Location: at.Location, MeetingUrl: at.MeetingURL}
	if !was.StartsAt.Equal(now.StartsAt) {
		v.WasStartsAt = was.StartsAt.Unix()
	}
	return v
}

// Waits tells the team that nobody has answered a request yet, which is declined at ends unless that is zero.
func (r *Room) Waits(ctx context.Context, tx *db.Tx, a appointments.Record, settings services.Settings, ends time.Time) error {
	to := []*proto.Notice_Addressee{}
	if !among(settings.NotifyEmails, r.email(a.UserID)) {
		to = append(to, &proto.Notice_Addressee{UserId: a.UserID, Kind: waits, How: "waiting"})
	}
	for _, e := range settings.NotifyEmails {
		to = append(to, &proto.Notice_Addressee{Address: e, Kind: waits, How: "waiting"})
	}
	n := r.notice(tx, to, visit(a, a))
	if n.NotAfter = a.StartsAt.Unix(); !ends.IsZero() {
		n.EndsAt, n.NotAfter = ends.Unix(), ends.Unix()
	}
	return tx.Tell(ctx, about(a), n)
}
