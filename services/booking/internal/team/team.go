package team

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
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
)

// staffMember is a member of the team. Hours and services are left out while booking is off.
type staffMember struct {
	UserID          int64       `json:"user_id" doc:"The user id of the person."`
	Name            string      `json:"name" doc:"As clients see it."`
	Hours           staff.Hours `json:"hours,omitzero" doc:"Spans of each weekday, where 1 is Monday: {\"1\": [[\"09:00\", \"17:00\"]]}."`
	Services        []uuid.UUID `json:"services,omitzero" doc:"The ids of the services that they offer."`
	MeetingURL      string      `json:"meeting_url" doc:"The link of their online meetings; empty for none."`
	Role            string      `json:"role" doc:"Their strongest role."`
	Sees            string      `json:"sees" enum:"all,own" doc:"all for the records of everybody, own for theirs."`
	Invited         bool        `json:"invited" doc:"They have not accepted the invitation yet."`
	SignsInBy       []string    `json:"signs_in_by" enum:"password,organization" doc:"How they can sign in: by a password, by the organization's account; empty while they are invited."`
	NameIsLogin     bool        `json:"name_is_login" doc:"They have chosen no name, so the login stands for it."`
	Access          []string    `json:"access" doc:"Permissions held."`
	RolesYouCanGive []string    `json:"roles_you_can_give" doc:"Roles that the caller may give them."`
	CanRemove       bool        `json:"can_remove" doc:"The caller may remove them from the team."`
	CanRename       bool        `json:"can_rename" doc:"The caller may change their name."`
	Version         int64       `json:"version" doc:"The version of name, hours, services and meeting link: the ETag that changes of them take in If-Match."`
	RoleVersion     int64       `json:"role_version" doc:"The version of the person's account, which set-staff-role takes in If-Match."`
}

// RecordVersion is the answer's ETag.
func (m staffMember) RecordVersion() int64 { return m.Version }

// teamRoles are the roles of the service, the mightiest first.
var teamRoles = auth.TeamRoles

func (r *Room) shown(tx *db.Tx, p staff.Profile) staffMember {
	u, known := r.Identity.User(p.UserID)
	m := staffMember{UserID: p.UserID, Name: p.Name, MeetingURL: p.MeetingURL, Sees: "all", Invited: u.GetInvited(),
		NameIsLogin: strings.EqualFold(p.Name, u.GetLogin()), Version: p.RecordVersion(), RoleVersion: r.Identity.Version(p.UserID), Access: []string{}, RolesYouCanGive: []string{},
		SignsInBy: append([]string{}, u.GetSignsInBy()...)}
	if r.Apps.On(r.Service) {
		m.Hours, m.Services = p.Hours, p.Services
	}
	if r.Identity.Own(p.UserID) {
		m.Sees = "own"
	}
	rights := r.Identity.Rights(p.UserID)
	for _, permission := range auth.Permissions {
		if rights[permission] {
			m.Access = append(m.Access, permission)
		}
	}
	for _, role := range teamRoles {
		if slices.Contains(u.GetRoles(), role) {
			m.Role = role
			break
		}
	}
	if m.Role == "" && len(u.GetRoles()) > 0 {
		m.Role = u.GetRoles()[0]
	}
	m.CanRename = tx.Who.Can(auth.ManageBookings) && (staff.IsManager(tx) || tx.Who.UserID == p.UserID)
	giver := r.giver(tx)
	if staff.IsManager(tx) && tx.Who.UserID != p.UserID && giver.MayChange(r.Identity.RolesNamed(u.GetRoles())...) == nil {
		m.CanRemove = !r.lastAdministrator(p.UserID)
		for _, role := range r.Identity.RolesNamed(teamRoles) {
			if known && giver.MayGive(role) == nil {
				m.RolesYouCanGive = append(m.RolesYouCanGive, role.Name)
			}
		}
	}
	return m
}

// giver is the caller, who gives and takes the rights that their credential leaves them.
func (r *Room) giver(tx *db.Tx) auth.Giver {
	return auth.GiverOf(tx.Who, r.Identity.RolesNamed(tx.Who.Roles)...)
}

func (r *Room) lastAdministrator(user int64) bool {
	found := false
	for _, u := range r.Identity.Users() {
		if slices.Contains(u.GetRoles(), auth.SiteAdmin) {
			if u.GetId() != user && !u.GetInvited() {
				return false
			}
			found = found || u.GetId() == user
		}
	}
	return found
}

func (r *Room) listStaff(ctx context.Context, tx *db.Tx, _ op.None) (db.List[staffMember], error) {
	all, err := r.staff.Team(ctx, tx)
	if err != nil {
		return db.List[staffMember]{}, err
	}
	items := make([]staffMember, len(all))
	for i, p := range all {
		items[i] = r.shown(tx, p)
	}
	return db.All(items), nil
}

type changedStaff struct {
	User       int64             `json:"user" minimum:"1"`
	Name       opt.Value[string] `json:"name,omitzero" maxLength:"100" doc:"What clients see."`
	MeetingURL opt.Value[string] `json:"meeting_url,omitzero" nullable:"true" maxLength:"2048" doc:"Fixed link for appointments online; empty clears it."`
	Services   []uuid.UUID       `json:"services" maxItems:"500" doc:"Replaces the services the person does; managers only."`
}

func (r *Room) updateStaff(ctx context.Context, tx *db.Tx, in changedStaff) (staffMember, error) {
	name, link := strings.TrimSpace(in.Name.V), strings.TrimSpace(in.MeetingURL.V)
	found := fault.Problems{}
	if in.Name.Set {
		found.Add("name", form.Name(name, 100))
	}
	if link != "" && !appointments.WebAddress(link) {
		found.Add("meeting_url", fault.Website())
	}
	if err := found.Err(); err != nil {
		return staffMember{}, err
	}
	before, err := r.staff.Member(ctx, tx, in.User)
	if err != nil {
		return staffMember{}, err
	}
	if err := staff.MayChange(tx, in.User); err != nil {
		return staffMember{}, err
	}
	if in.Services != nil && !staff.IsManager(tx) {
		return staffMember{}, fault.Forbidden(auth.ManageCRM)
	}
	p, err := r.staff.Lock(ctx, tx, in.User)
	if err != nil {
		return staffMember{}, err
	}
	if err := tx.Match(p.RecordVersion()); err != nil {
		return staffMember{}, err
	}
	otherServices := false
	if in.Services != nil {
		if otherServices, err = services.Replace(ctx, tx, in.User, before.Services, in.Services); err != nil {
			return staffMember{}, err
		}
		if p, err = r.staff.Lock(ctx, tx, in.User); err != nil {
			return staffMember{}, err
		}
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
	if otherServices {
		changed = append(changed, "services")
	}
	if len(changed) == 0 {
		return r.shown(tx, p), nil
	}
	if err := p.Save(ctx, tx); err != nil {
		return staffMember{}, err
	}
	was, now := r.shown(tx, before), r.shown(tx, p)
	now.Version = was.Version
	if err := tx.ChangedFrom(was, now); err != nil {
		return staffMember{}, err
	}
	err = p.Emit(ctx, tx, proto.KindStaffUpdated, nil, changed...)
	return r.shown(tx, p), err
}
