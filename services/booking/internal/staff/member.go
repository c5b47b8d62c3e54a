package staff

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Profile is a row of staff with the services of the person. Its JSON is the record as other services get it.
type Profile struct {
	UserID     int64       `json:"user_id"`
	Name       string      `json:"name"`
	MeetingURL string      `json:"meeting_url"`
	Hours      Hours       `json:"hours"`
	Services   []uuid.UUID `json:"services"`

	Chosen string     `json:"-"` // name
	Week   slots.Week `json:"-"`
	removal
	version int64
}

// RecordVersion is the version of the member. One who was never changed has 0.
func (p Profile) RecordVersion() int64 { return p.version }

func (p Profile) weekly() weekly { return weekly{p.Hours, p.version} }

// removal says when a person was removed from the team, and by which version of their identity.
type removal struct {
	at      *time.Time
	version *int64 // nil if a version of the service removed them that kept none
}

// Present reports whether a person is on the team: by an identity that is newer than their removal, because settings may still list the
// role.
func Present(ctx context.Context, tx *db.Tx, team *auth.Identity, user int64) (bool, error) {
	var of removal
	err := tx.QueryRow(ctx, `select removed_at, removed_version from staff where user_id = $1`, user).Scan(&of.at, &of.version)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, err
	}
	return of.present(team, user), nil
}

func (of removal) present(team *auth.Identity, user int64) bool {
	removed := int64(0)
	if of.version != nil {
		removed = *of.version
	}
	return team.OnTeamAfter(removed, user)
}

func (r *Room) profiles(ctx context.Context, tx *db.Tx, where string, args ...any) ([]Profile, error) {
	rows, err := tx.Query(ctx, `select user_id, name, meeting_url, hours, array(select service_id from skill join service s on s.id = service_id
		where skill.user_id = staff.user_id and not s.archived order by s.sort_order, lower(s.name), s.id), removed_at, removed_version, version from staff `+where, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Profile, err error) {
		var hours []byte
		if err := row.Scan(&p.UserID, &p.Chosen, &p.MeetingURL, &hours, &p.Services, &p.at, &p.removal.version, &p.version); err != nil {
			return p, err
		}
		p.Name = r.name(p.UserID, p.Chosen)
		err = json.Unmarshal(hours, &p.Week)
		p.Hours = p.Week.Strings()
		return p, err
	})
}

// Team lists the people who are or were staff members and may be seen by the caller, by user id: those
// with a permission, and those with a staff row who have an account or, without one, something that has to be handed over.
func (r *Room) Team(ctx context.Context, tx *db.Tx) ([]Profile, error) {
	known, err := r.profiles(ctx, tx, `where $1::bigint = 0 or user_id = $1`, tx.Who.OwnUser())
	if err != nil {
		return nil, err
	}
	// Their invitation was taken back, for instance.
	left, err := db.Column[int64](ctx, tx, `select user_id from staff s where removed_at is null and ($1::bigint = 0 or user_id = $1)
		and (exists (select from skill where user_id = s.user_id)
			or exists (select from appointment where user_id = s.user_id and status in ('pending', 'confirmed', 'pending_payment') and ends_at > $2))`, tx.Who.OwnUser(), tx.Now)
	if err != nil {
		return nil, err
	}
	var out []Profile
	for _, p := range known {
		_, exists := r.Identity.User(p.UserID)
		if (exists || slices.Contains(left, p.UserID)) && (p.at == nil || p.present(r.Identity, p.UserID)) {
			out = append(out, p)
		}
	}
	for _, u := range r.Identity.Team() {
		same := func(p Profile) bool { return p.UserID == u.GetId() }
		if own := tx.Who.OwnUser(); own != 0 && own != u.GetId() || slices.ContainsFunc(known, same) {
			continue
		}
		out = append(out, Profile{UserID: u.GetId(), Name: r.name(u.GetId(), ""), Hours: slots.Week{}.Strings(), Services: []uuid.UUID{}})
	}
	slices.SortFunc(out, func(a, b Profile) int { return int(a.UserID - b.UserID) })
	return out, nil
}

// Member is one of Team.
func (r *Room) Member(ctx context.Context, tx *db.Tx, user int64) (Profile, error) {
	all, err := r.Team(ctx, tx)
	if err != nil {
		return Profile{}, err
	}
	for _, p := range all {
		if p.UserID == user {
			return p, nil
		}
	}
	return Profile{}, fault.NotFound("staff member")
}

// Lock is Member with the row made and locked.
func (r *Room) Lock(ctx context.Context, tx *db.Tx, user int64) (Profile, error) {
	if _, err := r.Member(ctx, tx, user); err != nil {
		return Profile{}, err
	}
	_, err := tx.Exec(ctx, `insert into staff (user_id) values ($1) on conflict (user_id) do update set removed_at = null, removed_version = null`, user)
	if err != nil {
		return Profile{}, err
	}
	found, err := r.profiles(ctx, tx, `where user_id = $1`, user)
	if err == nil && len(found) == 0 {
		err = fault.NotFound("staff member")
	}
	if err != nil {
		return Profile{}, err
	}
	return found[0], nil
}

// IsManager reports whether the caller may change other people's time, and what holds for the whole business.
func IsManager(tx *db.Tx) bool { return tx.Who.Can(auth.ManageCRM) }

// MayChange lets people change what is theirs, and managers everything.
func MayChange(tx *db.Tx, user int64) error {
	if user != tx.Who.UserID && !IsManager(tx) {
		return fault.Forbidden(auth.ManageCRM)
	}
	return nil
}

// MayHave returns nil for what is somebody's own, such as the address of their calendar, and, for those who may change everybody's bookings, for
// anybody's. The error is svc_not_found for a person whom the caller does not see.
func (r *Room) MayHave(ctx context.Context, tx *db.Tx, user int64) error {
	if _, err := r.Member(ctx, tx, user); err != nil {
		return err
	}
	if user != tx.Who.UserID && !tx.Who.Can(auth.ManageBookings) {
		return fault.Forbidden(auth.ManageBookings)
	}
	return nil
}

// Save writes the name and the meeting link of a locked profile.
func (p Profile) Save(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `update staff set name = $2, meeting_url = $3 where user_id = $1`, p.UserID, p.Chosen, p.MeetingURL)
	return err
}

// Leave marks a locked member as removed and publishes it. The name stays for the appointments of the past; the account may go.
func (p Profile) Leave(ctx context.Context, tx *db.Tx, team *auth.Identity, successor int64, request string) error {
	removed := team.Version(p.UserID)
	_, err := tx.Exec(ctx, `update staff set name = $2, meeting_url = '', hours = '{}', removed_at = $3, removed_version = $4 where user_id = $1`,
		p.UserID, p.Name, tx.Now, removed)
	if err != nil {
		return err
	}
	p.Hours, p.Services = Hours{}, []uuid.UUID{}
	return p.Emit(ctx, tx, proto.KindStaffRemoved, &proto.StaffRemoved{Successor: successor, IdentityVersion: removed, RequestId: request})
}

// Emit publishes a locked profile under its next version.
func (p *Profile) Emit(ctx context.Context, tx *db.Tx, kind string, extra any, changed ...string) error {
	if err := tx.QueryRow(ctx, `update staff set version = version + 1 where user_id = $1 returning version`, p.UserID).Scan(&p.version); err != nil {
		return err
	}
	return tx.Emit(ctx, p.event(kind, extra, changed...))
}

// event is the record as it leaves the service: without the meeting link.
func (p Profile) event(kind string, extra any, changed ...string) db.Event {
	p.MeetingURL = ""
	return db.Event{Topic: proto.StaffTopic, Kind: kind, Key: strconv.FormatInt(p.UserID, 10), Version: p.version, Changed: changed, Data: p, Extra: extra}
}

func (r *Room) publishStaff(ctx context.Context, tx *db.Tx, ids []int64) error {
	found, err := r.profiles(ctx, tx, `where user_id = any($1) order by user_id`, ids)
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

// Row is a row of the table staff as far as booking needs it. Name and meeting link are those the person has chosen.
type Row struct {
	UserID     int64
	Name       string
	MeetingURL string
	Removed    bool
	Hours      slots.Week
}

// Queue reads, with a batch, the rows that where allows into byUser.
func Queue(b *pgx.Batch, byUser map[int64]Row, where string, args ...any) {
	b.Queue(`select user_id, name, meeting_url, removed_at is not null as removed, hours from staff `+where, args...).Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Row])
		for _, row := range all {
			byUser[row.UserID] = row
		}
		return err
	})
}

// Ensure makes the rows of people who are present.
func Ensure(ctx context.Context, tx *db.Tx, users ...int64) error {
	_, err := tx.Exec(ctx, `insert into staff (user_id) select unnest($1::bigint[]) on conflict (user_id) do update
		set removed_at = null, removed_version = null where staff.removed_at is not null`, users)
	return err
}

// StaffRef names a staff member as clients see the name.
type StaffRef struct {
	UserID int64  `json:"user_id" doc:"The user id of the person."`
	Name   string `json:"name" doc:"The name of the person."`
}

// Ref names a staff member as clients see the name: the chosen one, else the user's own.
func (r *Room) Ref(id int64, chosen string) StaffRef { return StaffRef{id, r.name(id, chosen)} }

func (r *Room) name(id int64, chosen string) string {
	if chosen != "" {
		return chosen
	}
	if u, ok := r.Identity.User(id); ok {
		if u.GetName() != "" {
			return u.GetName()
		}
		return u.GetLogin()
	}
	return "Former staff member"
}

// SetSkills replaces who does a service whose row is locked. Publish who begins or ends, see PublishSkills.
func SetSkills(ctx context.Context, tx *db.Tx, id uuid.UUID, staff []int64) error {
	if err := Ensure(ctx, tx, staff...); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from skill where service_id = $1 and not user_id = any($2)`, id, staff); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `insert into skill (service_id, user_id) select $1, unnest($2::bigint[]) on conflict do nothing`, id, staff)
	return err
}

// PublishSkills publishes members who do other services now, each under its next version.
func (r *Room) PublishSkills(ctx context.Context, tx *db.Tx, users []int64) error {
	if len(users) == 0 {
		return nil
	}
	found, err := r.profiles(ctx, tx, `where user_id = any($1) order by user_id for no key update`, users)
	if err != nil {
		return fmt.Errorf("read members whose services change: %w", err)
	}
	for _, p := range found {
		if err := p.Emit(ctx, tx, proto.KindStaffUpdated, nil, "services"); err != nil {
			return err
		}
	}
	return nil
}
