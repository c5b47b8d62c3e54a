package booking

import (
	"context"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

type removedStaff struct {
	User      int64 `json:"user" minimum:"1"`
	Successor int64 `json:"successor,omitempty" minimum:"1" doc:"Takes over contacts, organizations and appointments; required when there are any."`
}

// StaffRemoval is what becomes of the account.
type StaffRemoval struct {
	Deleted    bool `json:"deleted" doc:"The account has nothing else on the site and goes."`
	AccessLeft bool `json:"access_left" doc:"Another role still lets the person in."`
}

// removeStaff hands the person's coming appointments to the successor, or refuses, in one transaction. What is
// over keeps the name of who did it. Contacts and settings follow the event.
func (s *service) removeStaff(ctx context.Context, tx *db.Tx, in removedStaff) (StaffRemoval, error) {
	if _, err := s.member(ctx, tx, in.User); err != nil {
		return StaffRemoval{}, err
	}
	u, _ := s.Identity.User(in.User)
	switch {
	case in.User == tx.Who.UserID:
		return StaffRemoval{}, fault.Conflict("self", "You cannot remove yourself.")
	case s.giver(tx).MayChange(s.Identity.RolesNamed(u.GetRoles())...) != nil:
		return StaffRemoval{}, fault.Refused("role", "You cannot remove somebody whose rights you do not hold.")
	case s.lastAdministrator(in.User):
		return StaffRemoval{}, fault.Conflict("last_administrator", "This is the last site administrator.")
	case in.Successor == in.User:
		return StaffRemoval{}, fault.Conflict("successor", "The successor must be somebody else.")
	case in.Successor != 0 && !s.Identity.OnTeam(in.Successor):
		return StaffRemoval{}, fault.Conflict("successor", "The successor must be on the team.")
	}
	if err := lockCatalog(ctx, tx); err != nil {
		return StaffRemoval{}, err
	}
	appointments, err := comingAppointments(ctx, tx, in.User)
	if err != nil {
		return StaffRemoval{}, err
	}
	if in.Successor == 0 {
		has, err := owns(ctx, tx, in.User)
		if err != nil {
			return StaffRemoval{}, err
		}
		if has || len(appointments) > 0 {
			return StaffRemoval{}, fault.Invalid("successor", fault.NewProblem("required", "is required: the person has contacts, organizations or appointments"))
		}
	}
	if err := dropServices(ctx, tx, in.User); err != nil {
		return StaffRemoval{}, err
	}
	p, err := s.lockMember(ctx, tx, in.User)
	if err != nil {
		return StaffRemoval{}, err
	}
	if err := s.handOver(ctx, tx, in.User, in.Successor); err != nil {
		return StaffRemoval{}, err
	}
	if err := deleteExceptions(ctx, tx, in.User); err != nil {
		return StaffRemoval{}, err
	}
	rest := slices.DeleteFunc(slices.Clone(u.GetRoles()), func(r string) bool { return slices.Contains(teamRoles, r) })
	out := StaffRemoval{Deleted: len(rest) == 0}
	out.AccessLeft = auth.Sum(s.Identity.RolesNamed(rest)...).Can(auth.ViewContacts)
	return out, p.leave(ctx, tx, in.Successor)
}

// handOver gives the coming appointments of one person to another, whose time must be free.
func (s *service) handOver(ctx context.Context, tx *db.Tx, from, to int64) error {
	calendars := []int64{from}
	if to != 0 {
		calendars = append(calendars, to)
	}
	if err := lockCalendars(ctx, tx, calendars...); err != nil {
		return err
	}
	// Read again: somebody may have booked until the calendar was held.
	ids, err := comingAppointments(ctx, tx, from)
	if err != nil || len(ids) == 0 {
		return err
	}
	if to == 0 {
		return fault.Invalid("successor", fault.NewProblem("required", "is required: the person has appointments"))
	}
	if err := ensureStaff(ctx, tx, to); err != nil {
		return err
	}
	if err := overlapped(ctx, tx, ids, to); err != nil {
		return err
	}
	settings, err := readSettings(ctx, tx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		a, err := s.giveTo(ctx, tx, id, to)
		if err != nil {
			return err
		}
		if err := s.notify(ctx, tx, a, mailHandedOver, settings); err != nil {
			return err
		}
	}
	return nil
}
