package booking

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
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

// teamRoles are the roles of the service, the mightiest first.
var teamRoles = []string{auth.SiteAdmin, "svc_admin", "staff"}

func (s *service) shown(tx *db.Tx, p profile) StaffMember {
	u, _ := s.Identity.User(p.UserID)
	m := StaffMember{UserID: p.UserID, Name: p.Name, MeetingURL: p.MeetingURL, Sees: "all", Invited: u.GetInvited(),
		NameIsLogin: strings.EqualFold(p.Name, u.GetLogin()), Access: []string{}, RolesYouCanGive: []string{}}
	if s.Apps.On(s.Service) {
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
	if in.Name.Set && name != p.Chosen {
		p.Chosen, p.Name = name, name
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
	if err := p.save(ctx, tx); err != nil {
		return StaffMember{}, err
	}
	after := s.shown(tx, p)
	if err := tx.ChangedFrom(s.shown(tx, before), after); err != nil {
		return after, err
	}
	return after, p.emit(ctx, tx, proto.KindStaffUpdated, nil, changed...)
}
