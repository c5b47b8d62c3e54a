package booking

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
)

// StaffMember is a member of the team. Hours and services are left out while booking is off.
type StaffMember struct {
	UserID          int64       `json:"user_id" doc:"The user id of the person."`
	Name            string      `json:"name" doc:"As clients see it."`
	Hours           Hours       `json:"hours,omitzero" doc:"Spans of each weekday, where 1 is Monday: {\"1\": [[\"09:00\", \"17:00\"]]}."`
	Services        []uuid.UUID `json:"services,omitzero" doc:"The ids of the services that they offer."`
	MeetingURL      string      `json:"meeting_url" doc:"The link of their online meetings; empty for none."`
	Role            string      `json:"role" doc:"Their strongest role."`
	Sees            string      `json:"sees" enum:"all,own" doc:"all for the records of everybody, own for theirs."`
	Invited         bool        `json:"invited" doc:"They have not accepted the invitation yet."`
	NameIsLogin     bool        `json:"name_is_login" doc:"They have chosen no name, so the login stands for it."`
	Access          []string    `json:"access" doc:"Permissions held."`
	RolesYouCanGive []string    `json:"roles_you_can_give" doc:"Roles that the caller may give them."`
	CanRemove       bool        `json:"can_remove" doc:"The caller may remove them from the team."`
	CanRename       bool        `json:"can_rename" doc:"The caller may change their name."`
}

// profile is a row of staff with the services of the person. Its JSON is the record as other services get it.
type profile struct {
	UserID     int64       `json:"user_id"`
	Name       string      `json:"name"`
	MeetingURL string      `json:"meeting_url"`
	Hours      Hours       `json:"hours"`
	Services   []uuid.UUID `json:"services"`

	chosen    string
	week      slots.Week
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
		if err := row.Scan(&p.UserID, &p.chosen, &p.MeetingURL, &hours, &p.Services, &p.removedAt, &p.version); err != nil {
			return p, err
		}
		p.Name = s.staffName(p.UserID, p.chosen)
		err = json.Unmarshal(hours, &p.week)
		p.Hours = p.week.Strings()
		return p, err
	})
}

// team lists the people who are or were staff members and may be seen by the caller, by user id: those
// with a permission, and those with a staff row who still have an account.
func (s *service) team(ctx context.Context, tx *db.Tx) ([]profile, error) {
	known, err := s.profiles(ctx, tx, `where $1::bigint = 0 or user_id = $1`, ownUser(tx))
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
		if own := ownUser(tx); own != 0 && own != u.GetId() || slices.ContainsFunc(known, same) {
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
	if err != nil || len(found) == 0 {
		return profile{}, errors.Join(err, missing(err == nil, "staff member"))
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

// teamRoles are the roles of the service, the mightiest first.
var teamRoles = []string{auth.SiteAdmin, "svc_admin", "staff"}

func (s *service) shown(tx *db.Tx, p profile) StaffMember {
	u, _ := s.Identity.User(p.UserID)
	m := StaffMember{UserID: p.UserID, Name: p.Name, MeetingURL: p.MeetingURL, Sees: "all", Invited: u.GetInvited(),
		NameIsLogin: strings.EqualFold(p.Name, u.GetLogin()), Access: []string{}, RolesYouCanGive: []string{}}
	if s.Apps.On(appID) {
		m.Hours, m.Services = p.Hours, p.Services
	}
	if s.Identity.Own(p.UserID) {
		m.Sees = "own"
	}
	rights := s.Identity.Rights(p.UserID)
	for _, permission := range auth.Permissions {
		if rights[permission] {
			m.Access = append(m.Access, permission)
		}
	}
	for _, r := range teamRoles {
		if slices.Contains(u.GetRoles(), r) {
			m.Role = r
			break
		}
	}
	if m.Role == "" && len(u.GetRoles()) > 0 {
		m.Role = u.GetRoles()[0]
	}
	m.CanRename = tx.Who.Can(auth.ManageBookings) && (isManager(tx) || tx.Who.UserID == p.UserID)
	giver := s.giver(tx)
	if isManager(tx) && tx.Who.UserID != p.UserID && giver.MayChange(s.Identity.RolesNamed(u.GetRoles())...) == nil {
		m.CanRemove = !s.lastAdministrator(p.UserID)
		for _, r := range s.Identity.RolesNamed(teamRoles) {
			if giver.MayGive(r) == nil {
				m.RolesYouCanGive = append(m.RolesYouCanGive, r.Name)
			}
		}
	}
	return m
}

// giver is the caller, who gives and takes the rights that their credential leaves them.
func (s *service) giver(tx *db.Tx) auth.Giver {
	return auth.GiverOf(tx.Who, s.Identity.RolesNamed(tx.Who.Roles)...)
}

func (s *service) lastAdministrator(user int64) bool {
	found := false
	for _, u := range s.Identity.Users() {
		if slices.Contains(u.GetRoles(), auth.SiteAdmin) {
			if u.GetId() != user && !u.GetInvited() {
				return false
			}
			found = found || u.GetId() == user
		}
	}
	return found
}

func (s *service) listStaff(ctx context.Context, tx *db.Tx, _ op.None) (db.List[StaffMember], error) {
	all, err := s.team(ctx, tx)
	if err != nil {
		return db.List[StaffMember]{}, err
	}
	items := make([]StaffMember, len(all))
	for i, p := range all {
		items[i] = s.shown(tx, p)
	}
	return db.All(items), nil
}

type changedStaff struct {
	User       int64             `json:"user" minimum:"1"`
	Name       opt.Value[string] `json:"name,omitzero" maxLength:"100" doc:"What clients see."`
	MeetingURL opt.Value[string] `json:"meeting_url,omitzero" nullable:"true" maxLength:"2048" doc:"Fixed link for appointments online; empty clears it."`
	Services   []uuid.UUID       `json:"services" maxItems:"500" doc:"Replaces the services the person does; managers only."`
}

func (s *service) updateStaff(ctx context.Context, tx *db.Tx, in changedStaff) (StaffMember, error) {
	name, link := strings.TrimSpace(in.Name.V), strings.TrimSpace(in.MeetingURL.V)
	found := fault.Problems{}
	if in.Name.Set {
		found.Add("name", form.Name(name, 100))
	}
	if link != "" && !webAddress(link) {
		found.Add("meeting_url", fault.Website())
	}
	if err := found.Err(); err != nil {
		return StaffMember{}, err
	}
	before, err := s.member(ctx, tx, in.User)
	if err != nil {
		return StaffMember{}, err
	}
	if err := mayChange(tx, in.User); err != nil {
		return StaffMember{}, err
	}
	if in.Services != nil {
		if !isManager(tx) {
			return StaffMember{}, fault.Forbidden(auth.ManageCRM)
		}
		if err := replaceServices(ctx, tx, in.User, before.Services, in.Services); err != nil {
			return StaffMember{}, err
		}
	}
	p, err := s.lockMember(ctx, tx, in.User)
	if err != nil {
		return StaffMember{}, err
	}
	var changed []string
	if in.Name.Set && name != p.chosen {
		p.chosen, p.Name = name, name
		changed = append(changed, "name")
	}
	if in.MeetingURL.Set && link != p.MeetingURL {
		p.MeetingURL = link
		changed = append(changed, "meeting_url")
	}
	if in.Services != nil {
		changed = append(changed, "services")
	}
	if len(changed) == 0 {
		return s.shown(tx, p), nil
	}
	_, err = tx.Exec(ctx, `update staff set name = $2, meeting_url = $3 where user_id = $1`, p.UserID, p.chosen, p.MeetingURL)
	if err != nil {
		return StaffMember{}, err
	}
	after := s.shown(tx, p)
	if err := tx.ChangedFrom(s.shown(tx, before), after); err != nil {
		return after, err
	}
	return after, p.emit(ctx, tx, proto.KindStaffUpdated, nil, changed...)
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

// replaceServices makes a person do these services and no other active ones.
func replaceServices(ctx context.Context, tx *db.Tx, user int64, before, after []uuid.UUID) error {
	byBytes := func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }
	all := slices.Concat(before, after)
	slices.SortFunc(all, byBytes)
	if _, err := tx.Exec(ctx, `insert into staff (user_id) values ($1) on conflict do nothing`, user); err != nil {
		return err
	}
	for _, id := range slices.Compact(all) {
		s, err := lockService(ctx, tx, id)
		if err != nil {
			return err
		}
		does, shall := slices.Contains(s.Staff, user), slices.Contains(after, id)
		switch {
		case does == shall:
			continue
		case shall:
			s.Staff = append(s.Staff, user)
			slices.Sort(s.Staff)
		default:
			s.Staff = slices.DeleteFunc(s.Staff, func(u int64) bool { return u == user })
		}
		if err := setSkills(ctx, tx, id, s.Staff); err != nil {
			return err
		}
		if _, err := saveService(ctx, tx, s, proto.KindServiceUpdated); err != nil {
			return err
		}
	}
	return nil
}
