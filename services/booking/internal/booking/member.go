package booking

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
)

// profile is a row of staff with the services of the person. Its JSON is the record as other services get it.
type profile struct {
	UserID     int64       `json:"user_id"`
	Name       string      `json:"name"`
	MeetingURL string      `json:"meeting_url"`
	Hours      Hours       `json:"hours"`
	Services   []uuid.UUID `json:"services"`

	Chosen    string     `json:"-"` // name
	Week      slots.Week `json:"-"`
	removedAt *time.Time
	version   int64
}

// forgetAfter is how long a removal counts although settings still lists the role: it consumes staff.removed, and
// publishes the change of its user, within that.
const forgetAfter = 10 * time.Second

func (s *service) profiles(ctx context.Context, tx *db.Tx, where string, args ...any) ([]profile, error) {
	rows, err := tx.Query(ctx, `select user_id, name, meeting_url, hours, array(select service_id from skill join service s on s.id = service_id
		where skill.user_id = staff.user_id and not s.archived order by s.sort_order, lower(s.name), s.id), removed_at, version from staff `+where, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p profile, err error) {
		var hours []byte
		if err := row.Scan(&p.UserID, &p.Chosen, &p.MeetingURL, &hours, &p.Services, &p.removedAt, &p.version); err != nil {
			return p, err
		}
		p.Name = s.staffName(p.UserID, p.Chosen)
		err = json.Unmarshal(hours, &p.Week)
		p.Hours = p.Week.Strings()
		return p, err
	})
}

// team lists the people who are or were staff members and may be seen by the caller, by user id: those
// with a permission, and those with a staff row who still have an account.
func (s *service) team(ctx context.Context, tx *db.Tx) ([]profile, error) {
	known, err := s.profiles(ctx, tx, `where $1::bigint = 0 or user_id = $1`, tx.Who.OwnUser())
	if err != nil {
		return nil, err
	}
	var out []profile
	for _, p := range known {
		_, exists := s.Identity.User(p.UserID)
		gone := p.removedAt != nil && (!s.Identity.OnTeam(p.UserID) || tx.Now.Before(p.removedAt.Add(forgetAfter)))
		if exists && !gone {
			out = append(out, p)
		}
	}
	for _, u := range s.Identity.Team() {
		same := func(p profile) bool { return p.UserID == u.GetId() }
		if own := tx.Who.OwnUser(); own != 0 && own != u.GetId() || slices.ContainsFunc(known, same) {
			continue
		}
		out = append(out, profile{UserID: u.GetId(), Name: s.staffName(u.GetId(), ""), Hours: slots.Week{}.Strings(), Services: []uuid.UUID{}})
	}
	slices.SortFunc(out, func(a, b profile) int { return int(a.UserID - b.UserID) })
	return out, nil
}

// member is one of team.
func (s *service) member(ctx context.Context, tx *db.Tx, user int64) (profile, error) {
	all, err := s.team(ctx, tx)
	if err != nil {
		return profile{}, err
	}
	for _, p := range all {
		if p.UserID == user {
			return p, nil
		}
	}
	return profile{}, fault.NotFound("staff member")
}

// lockMember is member with the row made and locked.
func (s *service) lockMember(ctx context.Context, tx *db.Tx, user int64) (profile, error) {
	if _, err := s.member(ctx, tx, user); err != nil {
		return profile{}, err
	}
	_, err := tx.Exec(ctx, `insert into staff (user_id) values ($1) on conflict (user_id) do update set removed_at = null`, user)
	if err != nil {
		return profile{}, err
	}
	found, err := s.profiles(ctx, tx, `where user_id = $1`, user)
	if err == nil && len(found) == 0 {
		err = fault.NotFound("staff member")
	}
	if err != nil {
		return profile{}, err
	}
	return found[0], nil
}

// isManager reports whether the caller may change other people's time, and what holds for the whole business.
func isManager(tx *db.Tx) bool { return tx.Who.Can(auth.ManageCRM) }

// mayChange lets people change what is theirs, and managers everything.
func mayChange(tx *db.Tx, user int64) error {
	if user != tx.Who.UserID && !isManager(tx) {
		return fault.Forbidden(auth.ManageCRM)
	}
	return nil
}

// save writes the name and the meeting link of a locked profile.
func (p profile) save(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `update staff set name = $2, meeting_url = $3 where user_id = $1`, p.UserID, p.Chosen, p.MeetingURL)
	return err
}

// leave marks a locked member as removed and publishes it. The name stays for the appointments of the past; the account may go.
func (p profile) leave(ctx context.Context, tx *db.Tx, successor int64) error {
	_, err := tx.Exec(ctx, `update staff set name = $2, meeting_url = '', hours = '{}', removed_at = $3 where user_id = $1`, p.UserID, p.Name, tx.Now)
	if err != nil {
		return err
	}
	p.Hours, p.Services = Hours{}, []uuid.UUID{}
	return p.emit(ctx, tx, proto.KindStaffRemoved, &proto.StaffRemoved{Successor: successor})
}

// emit publishes a locked profile under its next version.
func (p profile) emit(ctx context.Context, tx *db.Tx, kind string, extra any, changed ...string) error {
	if err := tx.QueryRow(ctx, `update staff set version = version + 1 where user_id = $1 returning version`, p.UserID).Scan(&p.version); err != nil {
		return err
	}
	return tx.Emit(ctx, p.event(kind, extra, changed...))
}

// event is the record as it leaves the service: without the meeting link.
func (p profile) event(kind string, extra any, changed ...string) db.Event {
	p.MeetingURL = ""
	return db.Event{Topic: proto.StaffTopic, Kind: kind, Key: strconv.FormatInt(p.UserID, 10), Version: p.version, Changed: changed, Data: p, Extra: extra}
}

func (s *service) publishStaff(ctx context.Context, tx *db.Tx, ids []int64) error {
	found, err := s.profiles(ctx, tx, `where user_id = any($1) order by user_id`, ids)
	if err != nil {
		return err
	}
	for _, p := range found {
		if err := tx.Emit(ctx, p.event(proto.KindStaffUpdated, nil)); err != nil {
			return err
		}
	}
	return nil
}
