package settings

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// giver is a user who gives and takes roles, with the rights they hold at this moment.
type giver struct {
	person
	all    []role
	rights rights
}

// currentGiver reads the caller's rights under the lock of lockRoles: the copy that let them in may be a
// moment old.
func currentGiver(ctx context.Context, tx *db.Tx, all []role) (giver, error) {
	p, err := personByID(ctx, tx, tx.Who.UserID)
	if err != nil {
		return giver{}, fault.Unauthorized("This user is no longer there.")
	}
	g := giver{p, all, rightsOf(all, p.Roles)}
	if !g.rights.can("svc_manage_crm") {
		return g, fault.Forbidden("svc_manage_crm")
	}
	return g, nil
}

func (g giver) isSiteAdmin() bool { return slices.Contains(g.Roles, roleSiteAdmin) }

// mayGive refuses a role with rights that the giver does not hold.
func (g giver) mayGive(name string) error {
	if name == roleSiteAdmin && !g.isSiteAdmin() {
		return fault.Refused(roleSiteAdmin, "Only a site administrator may do this.")
	}
	if !g.isSiteAdmin() && !g.rights.covers(rightsOf(g.all, []string{name})) {
		return fault.Refused("rights", "You cannot give rights that you do not hold.")
	}
	return nil
}

// mayChange refuses to change a user who holds more than the giver.
func (g giver) mayChange(p person) error {
	if g.isSiteAdmin() {
		return nil
	}
	if slices.Contains(p.Roles, roleSiteAdmin) {
		return fault.Refused(roleSiteAdmin, "Only a site administrator may do this.")
	}
	if !g.rights.covers(rightsOf(g.all, p.Roles)) {
		return fault.Refused("rights", "This user holds rights that you do not hold.")
	}
	return nil
}

// gives are the roles of the team that the giver may give.
func (g giver) gives() []string {
	names := []string{}
	for _, r := range serviceRoles {
		if g.mayGive(r) == nil {
			names = append(names, r)
		}
	}
	return names
}

// keepsAdministrator refuses roles for p that would leave the site without an administrator who can sign
// in. It needs lockRoles.
func keepsAdministrator(ctx context.Context, tx *db.Tx, p person, next []string) error {
	if !slices.Contains(p.Roles, roleSiteAdmin) || slices.Contains(next, roleSiteAdmin) {
		return nil
	}
	var others bool
	err := tx.QueryRow(ctx, `select exists (select from person where id <> $1 and $2 = any(roles) and password is not null)`, p.ID, roleSiteAdmin).Scan(&others)
	if err == nil && !others {
		return fault.Conflict("last_administrator", "This is the last site administrator.")
	}
	return err
}

// StaffMember is a member of the team. Name, services and hours are booking's, as far as it has told; services
// and hours are left out while booking is off.
type StaffMember struct {
	UserID          int64                  `json:"user_id"`
	Name            string                 `json:"name"`
	Hours           map[string][][2]string `json:"hours,omitzero"`
	Services        []string               `json:"services,omitzero"`
	MeetingURL      string                 `json:"meeting_url"`
	Role            string                 `json:"role"`
	Sees            string                 `json:"sees" enum:"all,own"`
	Invited         bool                   `json:"invited"`
	NameIsLogin     bool                   `json:"name_is_login"`
	Access          []string               `json:"access" doc:"Permissions held."`
	RolesYouCanGive []string               `json:"roles_you_can_give"`
	CanRemove       bool                   `json:"can_remove"`
	CanRename       bool                   `json:"can_rename"`
}

func (s *service) staffMember(ctx context.Context, tx *db.Tx, p person) (StaffMember, error) {
	all, err := roles(ctx, tx)
	if err != nil {
		return StaffMember{}, err
	}
	out := StaffMember{Services: []string{}, Name: p.Name}
	if raw, ok := s.staff.Get(id(p.ID)); ok {
		// What booking says of roles and rights is older than what is known here.
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
	if !s.Apps.On("booking") {
		out.Hours, out.Services = nil, nil
	}
	r := rightsOf(all, p.Roles)
	out.UserID, out.Role, out.Sees, out.Invited, out.Access = p.ID, mainRole(p.Roles), r.visibility, p.Invited, r.capabilities
	out.NameIsLogin = strings.EqualFold(out.Name, p.Login)
	out.RolesYouCanGive, out.CanRemove = []string{}, false
	out.CanRename = tx.Who.Can("svc_manage_crm") || tx.Who.UserID == p.ID
	g, err := currentGiver(ctx, tx, all)
	if err == nil && g.mayChange(p) == nil && g.ID != p.ID {
		out.RolesYouCanGive, out.CanRemove = g.gives(), keepsAdministrator(ctx, tx, p, nil) == nil
	}
	return out, nil
}

func (s *service) setStaffRole(ctx context.Context, tx *db.Tx, in struct {
	User int64  `json:"user" minimum:"1"`
	Role string `json:"role" required:"true" enum:"site_admin,svc_admin,staff"`
}) (StaffMember, error) {
	all, err := lockRoles(ctx, tx)
	if err != nil {
		return StaffMember{}, err
	}
	giver, err := currentGiver(ctx, tx, all)
	if err != nil {
		return StaffMember{}, err
	}
	p, err := lockPerson(ctx, tx, in.User)
	if err != nil {
		return StaffMember{}, fault.NotFound("member of the team")
	}
	onTeam := len(rightsOf(all, p.Roles).capabilities) > 0 || slices.ContainsFunc(p.Roles, func(r string) bool { return slices.Contains(serviceRoles, r) })
	if !onTeam {
		return StaffMember{}, fault.NotFound("member of the team")
	}
	next := []string{in.Role}
	for _, r := range p.Roles {
		if !slices.Contains(serviceRoles, r) {
			next = append(next, r)
		}
	}
	if err := giver.mayChange(p); err != nil {
		return StaffMember{}, err
	}
	if err := giver.mayGive(in.Role); err != nil {
		return StaffMember{}, err
	}
	if slices.Equal(next, p.Roles) {
		return s.staffMember(ctx, tx, p)
	}
	if p.ID == giver.ID && !rightsOf(all, next).covers(rightsOf(all, p.Roles)) || p.ID == giver.ID && mainRole(next) != mainRole(p.Roles) {
		return StaffMember{}, fault.Conflict("own_role", "You cannot change your own role.")
	}
	if err := keepsAdministrator(ctx, tx, p, next); err != nil {
		return StaffMember{}, err
	}
	if p, err = setRoles(ctx, tx, p, next); err != nil {
		return StaffMember{}, err
	}
	return s.staffMember(ctx, tx, p)
}

// TeamMember can own contacts.
type TeamMember struct {
	UserID int64  `json:"user_id" doc:"Use it as owner_user_id."`
	Name   string `json:"name"`
}

func (s *service) listTeam(context.Context, *db.Tx, struct{}) (db.List[TeamMember], error) {
	var team []TeamMember
	for _, u := range s.Identity.Team() {
		team = append(team, TeamMember{u.GetId(), u.GetName()})
	}
	return db.All(team), nil
}
