package settings

import (
	"context"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// of is the role with what it allows.
func (r role) of() auth.Role {
	return auth.Role{Name: r.Name, Rights: auth.Rights{Capabilities: r.Capabilities, All: r.Visibility == visibilityAll}}
}

// rolesNamed are the roles of all that names lists.
func rolesNamed(all allRoles, names []string) (held []auth.Role) {
	for _, r := range all {
		if slices.Contains(names, r.Name) {
			held = append(held, r.of())
		}
	}
	return held
}

// rightsOf adds up the roles of all that names lists.
func rightsOf(all allRoles, names []string) auth.Rights { return auth.Sum(rolesNamed(all, names)...) }

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

// giver is a user who gives and takes roles, with the rights that their credential leaves at this moment.
type giver struct {
	person
	auth.Giver
	all allRoles
}

// currentGiver reads the caller's rights under the lock of lockRoles: the copy by which the call was admitted may be
// older. It is 401 for a user who was deleted, 403 for one who may no longer manage the site.
func currentGiver(ctx context.Context, tx *db.Tx, all allRoles) (giver, error) {
	p, err := personByID(ctx, tx, tx.Who.UserID)
	if unlessRefused(err) != nil {
		return giver{}, err
	}
	if err != nil {
		return giver{}, fault.Unauthorized("This user no longer exists.")
	}
	g := newGiver(tx.Who, p, all)
	if !g.Can(auth.ManageCRM) {
		return g, fault.Forbidden(auth.ManageCRM)
	}
	return g, nil
}

func newGiver(who db.Actor, p person, all allRoles) giver {
	return giver{p, auth.GiverOf(who, rolesNamed(all, p.Roles)...), all}
}

// mayGiveRole refuses a role with rights that the giver does not hold.
func (g giver) mayGiveRole(name string) error {
	i := slices.IndexFunc(g.all, func(r role) bool { return r.Name == name })
	if i < 0 {
		return g.MayGive(auth.Role{Name: name})
	}
	return g.MayGive(g.all[i].of())
}

// mayChangeUser refuses to change a user who holds more than the giver.
func (g giver) mayChangeUser(p person) error { return g.MayChange(rolesNamed(g.all, p.Roles)...) }

// mayShape refuses to give or take rights that the giver does not hold, and to lower the giver's own role.
func (g giver) mayShape(before, next role) error {
	for _, c := range auth.Permissions {
		if slices.Contains(before.Capabilities, c) != slices.Contains(next.Capabilities, c) && !g.Can(c) {
			return fault.Forbidden(c)
		}
	}
	// A role that holds nothing shows nothing, whatever its visibility says: that counts again once it is given a permission.
	shows := auth.Sum(before.of()).All != auth.Sum(next.of()).All
	if (shows || next.Visibility != before.Visibility) && !g.All {
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
	if !rightsOf(changed, g.Roles).Covers(rightsOf(g.all, g.Roles)) {
		return fault.Conflict("own_role", "You cannot lower your own role.")
	}
	return nil
}

// gives are the roles of the team that the giver may give; none for one who may not manage the site.
func (g giver) gives() []string {
	names := []string{}
	for _, r := range serviceRoles {
		if g.Can(auth.ManageCRM) && g.mayGiveRole(r) == nil {
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
	others, err := haveAdministrator(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	if !others {
		return fault.Conflict("last_administrator", "This is the last site administrator.")
	}
	return nil
}

// readGiver is the caller, with the rights that their credential leaves.
func readGiver(ctx context.Context, tx *db.Tx) (giver, error) {
	p, all, err := personAndRoles(ctx, tx, tx.Who.UserID)
	return newGiver(tx.Who, p, all), err
}

// personAndRoles reads a user and all roles.
func personAndRoles(ctx context.Context, tx *db.Tx, userID int64) (person, allRoles, error) {
	p, err := personByID(ctx, tx, userID)
	if err != nil {
		return p, nil, err
	}
	all, err := readRoles(ctx, tx)
	return p, all, err
}
