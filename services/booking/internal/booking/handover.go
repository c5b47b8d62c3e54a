package booking

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
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
	// Before any calendar: a visitor's booking that holds the catalog waits for calendars.
	if _, err := tx.Exec(ctx, `select from catalog for update`); err != nil {
		return StaffRemoval{}, err
	}
	appointments, err := comingAppointments(ctx, tx, in.User)
	if err != nil {
		return StaffRemoval{}, err
	}
	if in.Successor == 0 {
		var has bool
		err := tx.QueryRow(ctx, `select exists (select from contact where owner_user_id = $1) or exists (select from organization where owner_user_id = $1)`,
			in.User).Scan(&has)
		if err != nil {
			return StaffRemoval{}, err
		}
		if has || len(appointments) > 0 {
			return StaffRemoval{}, fault.Invalid("successor", fault.NewProblem("required", "is required: the person has contacts, organizations or appointments"))
		}
	}
	before, err := s.profiles(ctx, tx, `where user_id = $1`, in.User)
	if err != nil {
		return StaffRemoval{}, err
	}
	if len(before) > 0 {
		if err := dropServices(ctx, tx, in.User); err != nil {
			return StaffRemoval{}, err
		}
	}
	p, err := s.lockMember(ctx, tx, in.User)
	if err != nil {
		return StaffRemoval{}, err
	}
	if err := s.handOver(ctx, tx, in.User, in.Successor); err != nil {
		return StaffRemoval{}, err
	}
	// The name stays for the appointments of the past; the account may go.
	_, err = tx.Exec(ctx, `update staff set name = $2, meeting_url = '', hours = '{}', removed_at = $3 where user_id = $1`, in.User, p.Name, tx.Now)
	if err != nil {
		return StaffRemoval{}, err
	}
	if _, err := tx.Exec(ctx, `delete from exception where user_id = $1`, in.User); err != nil {
		return StaffRemoval{}, err
	}
	rest := slices.DeleteFunc(slices.Clone(u.GetRoles()), func(r string) bool { return slices.Contains(teamRoles, r) })
	out := StaffRemoval{Deleted: len(rest) == 0}
	out.AccessLeft = auth.Sum(s.Identity.RolesNamed(rest)...).Can(auth.ViewContacts)
	p.Hours, p.Services = Hours{}, []uuid.UUID{}
	return out, p.emit(ctx, tx, proto.KindStaffRemoved, &proto.StaffRemoved{Successor: in.Successor})
}

// comingAppointments locks those that take time and are not over, by id.
func comingAppointments(ctx context.Context, tx *db.Tx, user int64) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `select id from appointment where user_id = $1 and status in `+open+` and ends_at > $2 order by id for no key update`, user, tx.Now)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

// dropServices makes a person do no service at all, archived ones included.
func dropServices(ctx context.Context, tx *db.Tx, user int64) error {
	rows, err := tx.Query(ctx, `select service_id from skill where user_id = $1`, user)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	return replaceServices(ctx, tx, user, ids, nil)
}

// handOver gives the coming appointments of one person to another, whose time must be free.
func (s *service) handOver(ctx context.Context, tx *db.Tx, from, to int64) error {
	calendars := []int64{from}
	if to != 0 {
		calendars = append(calendars, to)
	}
	slices.Sort(calendars)
	for _, user := range calendars {
		if err := tx.Lock(ctx, calendarLock, user); err != nil {
			return err
		}
	}
	// Read again: somebody may have booked until the calendar was held.
	ids, err := comingAppointments(ctx, tx, from)
	if err != nil || len(ids) == 0 {
		return err
	}
	if to == 0 {
		return fault.Invalid("successor", fault.NewProblem("required", "is required: the person has appointments"))
	}
	if _, err := tx.Exec(ctx, `insert into staff (user_id) values ($1) on conflict do nothing`, to); err != nil {
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
		a, err := s.lock(ctx, tx, id)
		if err != nil {
			return err
		}
		a.Staff.UserID = to
		a.sequence++
		if a, err = s.resave(ctx, tx, a); err != nil {
			return err
		}
		if err := tx.Emit(ctx, a.change(proto.KindAppointmentUpdated, nil, "staff")); err != nil {
			return err
		}
		if err := s.notify(ctx, tx, a, mailHandedOver, settings); err != nil {
			return err
		}
	}
	return nil
}

// overlapped is svc_conflict with reason overlap if one of the appointments falls on one that the user has. Its data.appointments are
// the first 50 that do, by start.
func overlapped(ctx context.Context, tx *db.Tx, ids []uuid.UUID, user int64) error {
	rows, err := tx.Query(ctx, `select a.id, a.starts_at from appointment a where a.id = any(@ids) and exists (select from appointment b
		where b.user_id = @to and `+takesTime+` and b.period && a.period) order by a.starts_at, a.id limit 50`, pgx.NamedArgs{"to": user, "ids": ids, "now": tx.Now})
	if err != nil {
		return err
	}
	clashes, err := pgx.CollectRows(rows, pgx.RowToStructByName[Touched])
	if err != nil || len(clashes) == 0 {
		return err
	}
	return fault.New(http.StatusConflict, "svc_conflict", "One of the appointments falls on one of the successor's.", "reason", "overlap", "appointments", clashes)
}
