package settings

import (
	"context"
	"fmt"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// rights are what several roles add up to.
type rights struct {
	capabilities []string // in the order of auth.Permissions
	visibility   string
}

func (r rights) can(permission string) bool { return slices.Contains(r.capabilities, permission) }

// covers reports whether a user with these rights holds all of o's.
func (r rights) covers(o rights) bool {
	for _, c := range o.capabilities {
		if !r.can(c) {
			return false
		}
	}
	return r.visibility == visibilityAll || o.visibility == visibilityOwn
}

// rightsOf adds up the roles of all that names lists. A role without any capability gives no visibility either.
func rightsOf(all []role, names []string) rights {
	r := rights{capabilities: []string{}, visibility: visibilityOwn}
	held := map[string]bool{}
	for _, x := range all {
		if !slices.Contains(names, x.Name) || len(x.Capabilities) == 0 {
			continue
		}
		for _, c := range x.Capabilities {
			held[c] = true
		}
		if x.Visibility == visibilityAll {
			r.visibility = visibilityAll
		}
	}
	for _, c := range auth.Permissions {
		if held[c] {
			r.capabilities = append(r.capabilities, c)
		}
	}
	return r
}

// mainRole is the role that a user is shown with: the strongest of firstRoles, else the first one held; empty for none.
func mainRole(names []string) string {
	for _, r := range firstRoles {
		if slices.Contains(names, r.Name) {
			return r.Name
		}
	}
	if len(names) > 0 {
		return names[0]
	}
	return ""
}

// giver is a user who gives and takes roles, with the rights they hold at this moment.
type giver struct {
	person
	all    []role
	rights rights
}

// currentGiver reads the caller's rights under the lock of lockRoles: the copy by which the call was admitted may be
// older. It is 401 for a user who was deleted, 403 for one who may no longer manage the site.
func currentGiver(ctx context.Context, tx *db.Tx, all []role) (giver, error) {
	p, err := personByID(ctx, tx, tx.Who.UserID)
	if unlessRefused(err) != nil {
		return giver{}, err
	}
	if err != nil {
		return giver{}, fault.Unauthorized("This user no longer exists.")
	}
	g := newGiver(p, all)
	if !g.rights.can(auth.ManageCRM) {
		return g, fault.Forbidden(auth.ManageCRM)
	}
	return g, nil
}

func newGiver(p person, all []role) giver { return giver{p, all, rightsOf(all, p.Roles)} }

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

// mayShape refuses to give or take rights that the giver does not hold, and to lower the giver's own role.
func (g giver) mayShape(before, next role) error {
	for _, c := range auth.Permissions {
		if slices.Contains(before.Capabilities, c) != slices.Contains(next.Capabilities, c) && !g.rights.can(c) {
			return fault.Forbidden(c)
		}
	}
	if next.Visibility != before.Visibility && g.rights.visibility != visibilityAll {
		return fault.Refused("rights", "You cannot let others see more than you see.")
	}
	if !slices.Contains(g.Roles, next.Name) {
		return nil
	}
	changed := slices.Clone(g.all)
	for i, r := range changed {
		if r.Name == next.Name {
			changed[i] = next
		}
	}
	if !rightsOf(changed, g.Roles).covers(g.rights) {
		return fault.Conflict("own_role", "You cannot lower your own role.")
	}
	return nil
}

// gives are the roles of the team that the giver may give; none for one who may not manage the site.
func (g giver) gives() []string {
	names := []string{}
	for _, r := range serviceRoles {
		if g.rights.can(auth.ManageCRM) && g.mayGive(r) == nil {
			names = append(names, r)
		}
	}
	return names
}

// keepsAdministrator refuses roles for p that would leave the site without an administrator who can sign in: 409. The
// caller holds lockRoles.
func keepsAdministrator(ctx context.Context, tx *db.Tx, p person, next []string) error {
	if !slices.Contains(p.Roles, roleSiteAdmin) || slices.Contains(next, roleSiteAdmin) {
		return nil
	}
	var others bool
	err := tx.QueryRow(ctx, `select exists (select from person where id <> $1 and $2 = any(roles) and password is not null)`, p.ID, roleSiteAdmin).Scan(&others)
	if err != nil {
		return fmt.Errorf("look for another administrator: %w", err)
	}
	if !others {
		return fault.Conflict("last_administrator", "This is the last site administrator.")
	}
	return nil
}
