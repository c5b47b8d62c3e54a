package roles

import (
	"context"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
)

// of is the role with what it allows.
func (r stored) of() auth.Role {
	return auth.Role{Name: r.Name, Rights: auth.Rights{Capabilities: r.Capabilities, All: r.Visibility == visibilityAll}}
}

// named are the roles of all that names lists.
func named(all All, names []string) (held []auth.Role) {
	for _, r := range all {
		if slices.Contains(names, r.Name) {
			held = append(held, r.of())
		}
	}
	return held
}

// RightsOf adds up the roles of all that names lists.
func RightsOf(all All, names []string) auth.Rights { return auth.Sum(named(all, names)...) }

// Main is the role that a user is shown with: the strongest of firstRoles, else the first one held; empty for none.
func Main(names []string) string {
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

// Giver is a user who gives and takes roles, with the rights that their credential leaves at this moment.
type Giver struct {
	people.Person
	auth.Giver
	all All
}

// CurrentGiver reads the caller's rights under the lock of Lock: the copy by which the call was admitted may be
// older. It is 401 for a user who was deleted, 403 for one who may no longer manage the site.
func CurrentGiver(ctx context.Context, tx *db.Tx, all All) (Giver, error) {
	p, err := people.ByID(ctx, tx, tx.Who.UserID)
	if row.UnlessRefused(err) != nil {
		return Giver{}, err
	}
	if err != nil {
		return Giver{}, fault.Unauthorized("This user no longer exists.")
	}
	g := newGiver(tx.Who, p, all)
	if !g.Can(auth.ManageCRM) {
		return g, fault.Forbidden(auth.ManageCRM)
	}
	return g, nil
}

func newGiver(who db.Actor, p people.Person, all All) Giver {
	return Giver{p, auth.GiverOf(who, named(all, p.Roles)...), all}
}

// MayGiveRole refuses a role with rights that the giver does not hold.
func (g Giver) MayGiveRole(name string) error {
	i := slices.IndexFunc(g.all, func(r stored) bool { return r.Name == name })
	if i < 0 {
		return g.MayGive(auth.Role{Name: name})
	}
	return g.MayGive(g.all[i].of())
}

// MayChangeUser refuses to change a user who holds more than the giver.
func (g Giver) MayChangeUser(p people.Person) error { return g.MayChange(named(g.all, p.Roles)...) }

// mayShape refuses to give or take rights that the giver does not hold, to touch a role that sees more than the giver, and to lower the giver's own role.
func (g Giver) mayShape(before, next stored) error {
	for _, c := range auth.Permissions {
		if slices.Contains(before.Capabilities, c) != slices.Contains(next.Capabilities, c) && !g.Can(c) {
			return fault.Forbidden(c)
		}
	}
	// A role that holds nothing shows nothing, whatever its visibility says: that counts again once it is given a permission.
	shows := auth.Sum(before.of()).All || auth.Sum(next.of()).All
	if (shows || next.Visibility != before.Visibility) && !g.All {
		return fault.Refused("rights", "You cannot change what those may do who see more than you see.")
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
	if !RightsOf(changed, g.Roles).Covers(RightsOf(g.all, g.Roles)) {
		return fault.Conflict("own_role", "You cannot lower your own role.")
	}
	return nil
}

// Gives are the roles of the team that the giver may give; none for one who may not manage the site.
func (g Giver) Gives() []string {
	names := []string{}
	for _, r := range OfTeam {
		if g.Can(auth.ManageCRM) && g.MayGiveRole(r) == nil {
			names = append(names, r)
		}
	}
	return names
}

// KeepsAdministrator refuses roles for p that would leave the site without an administrator who can sign in: 409. The
// caller holds Lock.
func KeepsAdministrator(ctx context.Context, tx *db.Tx, p people.Person, next []string) error {
	if !slices.Contains(p.Roles, SiteAdmin) || slices.Contains(next, SiteAdmin) {
		return nil
	}
	others, err := people.HaveAdministrator(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	if !others {
		return fault.Conflict("last_administrator", "This is the last site administrator.")
	}
	return nil
}

// ReadGiver is the caller, with the rights that their credential leaves.
func ReadGiver(ctx context.Context, tx *db.Tx) (Giver, error) {
	p, all, err := ofUser(ctx, tx, tx.Who.UserID)
	return newGiver(tx.Who, p, all), err
}

// ofUser reads a user and all roles.
func ofUser(ctx context.Context, tx *db.Tx, userID int64) (people.Person, All, error) {
	p, err := people.ByID(ctx, tx, userID)
	if err != nil {
		return p, nil, err
	}
	all, err := Read(ctx, tx)
	return p, all, err
}
