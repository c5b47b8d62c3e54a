package team

import (
	"context"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/calendar"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/mails"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
	"frontdesk/services/booking/internal/times"
)

type removedStaff struct {
	User      int64 `json:"user" minimum:"1"`
	Successor int64 `json:"successor,omitempty" minimum:"1" doc:"Takes over contacts, organizations and appointments; required when there are any."`
}

// staffRemoval is what becomes of the account.
type staffRemoval struct {
	Deleted    bool `json:"deleted" doc:"The account has nothing else on the site and goes."`
	AccessLeft bool `json:"access_left" doc:"Another role still lets the person in."`
}

// removeStaff hands the person's coming appointments to the successor, or refuses, in one transaction. What is
// over keeps the name of who did it. Contacts and settings follow the event.
func (r *Room) removeStaff(ctx context.Context, tx *db.Tx, in removedStaff) (staffRemoval, error) {
	if _, err := r.staff.Member(ctx, tx, in.User); err != nil {
		return staffRemoval{}, err
	}
	u, _ := r.Identity.User(in.User)
	switch {
	case in.User == tx.Who.UserID:
		return staffRemoval{}, fault.Conflict("self", "You cannot remove yourself.")
	case r.giver(tx).MayChange(r.Identity.RolesNamed(u.GetRoles())...) != nil:
		return staffRemoval{}, fault.Refused("role", "You cannot remove somebody whose rights you do not hold.")
	case r.lastAdministrator(in.User):
		return staffRemoval{}, fault.Conflict("last_administrator", "This is the last site administrator.")
	case in.Successor == in.User:
		return staffRemoval{}, fault.Conflict("successor", "The successor must be somebody else.")
	}
	if err := times.LockCatalog(ctx, tx); err != nil {
		return staffRemoval{}, err
	}
	if in.Successor != 0 {
		present, err := staff.Present(ctx, tx, r.Identity, in.Successor)
		if err != nil {
			return staffRemoval{}, err
		}
		if !present {
			return staffRemoval{}, fault.Conflict("successor", "The successor must be on the team.")
		}
	}
	appointments, err := appointments.Coming(ctx, tx, in.User)
	if err != nil {
		return staffRemoval{}, err
	}
	if in.Successor == 0 {
		has, err := clients.Owns(ctx, tx, in.User)
		if err != nil {
			return staffRemoval{}, err
		}
		if has || len(appointments) > 0 {
			return staffRemoval{}, fault.Invalid("successor", fault.NewProblem("required", "is required: the person has contacts, organizations or appointments"))
		}
	}
	if err := services.Drop(ctx, tx, in.User); err != nil {
		return staffRemoval{}, err
	}
	p, err := r.staff.Lock(ctx, tx, in.User)
	if err != nil {
		return staffRemoval{}, err
	}
	if err := r.handOver(ctx, tx, in.User, in.Successor); err != nil {
		return staffRemoval{}, err
	}
	if err := calendar.DeleteExceptions(ctx, tx, in.User); err != nil {
		return staffRemoval{}, err
	}
	rest := slices.DeleteFunc(slices.Clone(u.GetRoles()), func(role string) bool { return slices.Contains(teamRoles, role) })
	out := staffRemoval{Deleted: len(rest) == 0}
	out.AccessLeft = auth.Sum(r.Identity.RolesNamed(rest)...).Can(auth.ViewContacts)
	return out, p.Leave(ctx, tx, r.Identity, in.Successor)
}

// handOver gives the coming appointments of one person to another, whose time must be free.
func (r *Room) handOver(ctx context.Context, tx *db.Tx, from, to int64) error {
	calendars := []int64{from}
	if to != 0 {
		calendars = append(calendars, to)
	}
	if err := times.LockCalendars(ctx, tx, calendars...); err != nil {
		return err
	}
	// Read again: somebody may have booked until the calendar was held.
	ids, err := appointments.Coming(ctx, tx, from)
	if err != nil || len(ids) == 0 {
		return err
	}
	if to == 0 {
		return fault.Invalid("successor", fault.NewProblem("required", "is required: the person has appointments"))
	}
	if err := staff.Ensure(ctx, tx, to); err != nil {
		return err
	}
	if err := appointments.Overlapped(ctx, tx, ids, to); err != nil {
		return err
	}
	if err := appointments.Unlinked(ctx, tx, ids, to); err != nil {
		return err
	}
	settings, err := services.ReadSettings(ctx, tx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		a, err := r.appointments.GiveTo(ctx, tx, id, to)
		if err != nil {
			return err
		}
		if err := r.mails.Notify(ctx, tx, a, mails.HandedOver, settings); err != nil {
			return err
		}
	}
	return nil
}
