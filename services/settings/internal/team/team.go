package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/apps"
	"frontdesk/services/settings/internal/assistants"
	"frontdesk/services/settings/internal/keys"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/view"
)

// staffMember is a member of the team. Name, services and hours are those that booking has published last; services and
// hours are left out while booking is off.
type staffMember struct {
	UserID          int64                  `json:"user_id" doc:"The user id of the person."`
	Name            string                 `json:"name" doc:"What clients and the team read."`
	Hours           map[string][][2]string `json:"hours,omitzero" doc:"Spans of each weekday, where 1 is Monday: {\"1\": [[\"09:00\", \"17:00\"]]}."`
	Services        []string               `json:"services,omitzero" doc:"The ids of the services that they offer."`
	MeetingURL      string                 `json:"meeting_url" doc:"The link of their online meetings; empty for none."`
	Role            string                 `json:"role" doc:"Their strongest role."`
	Sees            string                 `json:"sees" enum:"all,own" doc:"all for the records of everybody, own for theirs."`
	Invited         bool                   `json:"invited" doc:"They have not accepted the invitation yet."`
	SignsInBy       []string               `json:"signs_in_by" enum:"password,organization" doc:"How they can sign in: by a password, by the organization's account; empty while they are invited."`
	NameIsLogin     bool                   `json:"name_is_login" doc:"They have chosen no name, so the login stands for it."`
	Access          []string               `json:"access" doc:"Permissions held."`
	RolesYouCanGive []string               `json:"roles_you_can_give" doc:"Roles that the caller may give them."`
	CanRemove       bool                   `json:"can_remove" doc:"The caller may remove them from the team."`
	CanRename       bool                   `json:"can_rename" doc:"The caller may change their name."`
	RoleVersion     int64                  `json:"role_version" doc:"The version of the person's account: the ETag that set-staff-role takes in If-Match."`
}

// RecordVersion is the answer's ETag.
func (m staffMember) RecordVersion() int64 { return m.RoleVersion }

func (r *Room) staffMember(ctx context.Context, tx *db.Tx, p people.Person) (staffMember, error) {
	all, err := roles.Read(ctx, tx)
	if err != nil {
		return staffMember{}, err
	}
	out := staffMember{Services: []string{}, Name: p.Name}
	if raw, ok := r.staff.Get(row.Key(p.ID)); ok {
		// The roles and rights in booking's record are older than those here, and are replaced below.
		_ = json.Unmarshal(raw, &out)
	}
	if out.Hours == nil {
		out.Hours = map[string][][2]string{}
	}
	for _, day := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		if out.Hours[day] == nil {
			out.Hours[day] = [][2]string{}
		}
	}
	if out.Services == nil {
		out.Services = []string{}
	}
	if !r.Apps.On(apps.Booking) {
		out.Hours, out.Services = nil, nil
	}
	held := roles.RightsOf(all, p.Roles)
	out.UserID, out.Role, out.Sees, out.Invited, out.Access = p.ID, roles.Main(p.Roles), held.Visibility(), p.Invited, held.Capabilities
	out.RoleVersion, out.SignsInBy = p.Version, p.SignsInBy()
	out.NameIsLogin = strings.EqualFold(out.Name, p.Login)
	out.RolesYouCanGive, out.CanRemove = []string{}, false
	out.CanRename = tx.Who.Can(auth.ManageCRM) || tx.Who.UserID == p.ID
	g, err := roles.CurrentGiver(ctx, tx, all)
	if err == nil && g.MayChangeUser(p) == nil && g.ID != p.ID {
		if r.mayGiveRoles(p) == nil {
			out.RolesYouCanGive = g.Gives()
		}
		out.CanRemove = roles.KeepsAdministrator(ctx, tx, p, nil) == nil
	}
	return out, nil
}

// setStaffRole replaces the role of the team that a member holds, and leaves the platform's roles. Errors: 404 for somebody
// outside the team, 403 for more rights than the caller's, 409 for the caller's own role and for the last administrator.
func (r *Room) setStaffRole(ctx context.Context, tx *db.Tx, in struct {
	User int64  `json:"user" minimum:"1"`
	Role string `json:"role" required:"true" enum:"site_admin,svc_admin,staff" doc:"The role to have from now on."`
}) (staffMember, error) {
	all, err := roles.Lock(ctx, tx)
	if err != nil {
		return staffMember{}, err
	}
	giver, err := roles.CurrentGiver(ctx, tx, all)
	if err != nil {
		return staffMember{}, err
	}
	p, err := people.Lock(ctx, tx, in.User)
	if row.UnlessRefused(err) != nil {
		return staffMember{}, err
	}
	if err != nil {
		return staffMember{}, fault.NotFound("member of the team")
	}
	onTeam := len(roles.RightsOf(all, p.Roles).Capabilities) > 0 || slices.ContainsFunc(p.Roles, func(name string) bool { return slices.Contains(roles.OfTeam, name) })
	if !onTeam {
		return staffMember{}, fault.NotFound("member of the team")
	}
	if err := tx.Match(p.Version); err != nil {
		return staffMember{}, err
	}
	next := []string{in.Role}
	for _, name := range p.Roles {
		if !slices.Contains(roles.OfTeam, name) {
			next = append(next, name)
		}
	}
	if err := giver.MayChangeUser(p); err != nil {
		return staffMember{}, err
	}
	if err := giver.MayGiveRole(in.Role); err != nil {
		return staffMember{}, err
	}
	if slices.Equal(next, p.Roles) {
		return r.staffMember(ctx, tx, p)
	}
	if err := r.mayGiveRoles(p); err != nil {
		return staffMember{}, err
	}
	if p.ID == giver.ID && !roles.RightsOf(all, next).Covers(roles.RightsOf(all, p.Roles)) || p.ID == giver.ID && roles.Main(next) != roles.Main(p.Roles) {
		return staffMember{}, fault.Conflict("own_role", "You cannot change your own role.")
	}
	if err := roles.KeepsAdministrator(ctx, tx, p, next); err != nil {
		return staffMember{}, err
	}
	tx.Changed(change.Set{"roles": {Old: p.Roles, New: next}})
	wasAdministrator := slices.Contains(p.Roles, roles.SiteAdmin)
	if p, err = people.SetRoles(ctx, tx, p, next); err != nil {
		return staffMember{}, err
	}
	if in.Role == roles.SiteAdmin && !wasAdministrator {
		if err := r.noticeAdministrator(ctx, tx, p); err != nil {
			return staffMember{}, err
		}
	}
	return r.staffMember(ctx, tx, p)
}

// mayGiveRoles refuses to give roles to somebody whose roles are those of a claim: the next sign-in would undo it.
func (r *Room) mayGiveRoles(p people.Person) error {
	if p.Issuer != "" && p.Issuer == r.Config.OIDCIssuer && len(r.Config.ClaimRoles) > 0 {
		return fault.Conflict("role_of_claim", "Their role is that of their account at "+r.Config.OIDCName+". Change it there.")
	}
	return nil
}

// teamMember can own contacts.
type teamMember struct {
	UserID int64  `json:"user_id" doc:"Use it as owner_user_id."`
	Name   string `json:"name" doc:"The name of the person."`
}

func (r *Room) listTeam(context.Context, *db.Tx, op.None) (db.List[teamMember], error) {
	var team []teamMember
	for _, u := range r.Identity.Team() {
		team = append(team, teamMember{u.GetId(), u.GetName()})
	}
	return db.All(team), nil
}

// onStaff takes the role of a person whom booking has removed from the team: booking decides, because only booking can
// refuse a successor. History says so of people who were taken back since, too: it counts for those who have not changed.
func onStaff(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindStaffRemoved || e.State {
		return nil
	}
	userID, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return fmt.Errorf("id of the person who left: %w", err)
	}
	if _, err := roles.Lock(ctx, tx); err != nil {
		return err
	}
	p, err := people.Lock(ctx, tx, userID)
	if err != nil {
		return row.UnlessRefused(err)
	}
	if e.History && p.UpdatedAt.After(e.At) {
		return nil
	}
	// Booking's copy of the roles may be old: a site keeps its last administrator all the same. The new version says that they are back.
	if err := roles.KeepsAdministrator(ctx, tx, p, nil); err != nil {
		if row.UnlessRefused(err) == nil {
			_, err = people.SetRoles(ctx, tx, p, p.Roles)
		}
		return err
	}
	var extra proto.StaffRemoved
	if err := e.DecodeExtra(&extra); err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(p.Roles), func(r string) bool { return slices.Contains(roles.OfTeam, r) })
	tx.Changed(change.Set{"roles": {Old: p.Roles, New: rest}})
	if err := op.Audit(ctx, tx, "take-roles", "user", row.Key(p.ID)); err != nil {
		return err
	}
	if err := view.Leave(ctx, tx, p.ID, extra.GetSuccessor()); err != nil {
		return err
	}
	// With an invitation that was revoked the whole account goes.
	if len(rest) == 0 || p.Invited && extra.GetRequestId() != "" {
		return removePerson(ctx, tx, p)
	}
	if err := sessions.EndAll(ctx, tx, p.ID, nil); err != nil {
		return err
	}
	_, err = people.SetRoles(ctx, tx, p, rest)
	return err
}

// removePerson deletes the locked user with their sessions, application passwords, connections and links.
func removePerson(ctx context.Context, tx *db.Tx, p people.Person) error {
	if err := sessions.EndAll(ctx, tx, p.ID, nil); err != nil {
		return err
	}
	if err := errors.Join(keys.EndAll(ctx, tx, p.ID), assistants.EndAll(ctx, tx, p.ID)); err != nil {
		return err
	}
	if err := mailer.EndAllLinks(ctx, tx, p.ID); err != nil {
		return err
	}
	return people.Delete(ctx, tx, p)
}
