package settings

import (
	"context"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Role is a role and what it may do here.
type Role struct {
	Role         string   `json:"role"`
	Label        string   `json:"label"`
	Capabilities []string `json:"capabilities"`
	Visibility   string   `json:"visibility" enum:"all,own"`
	Fixed        bool     `json:"fixed" doc:"It cannot be changed."`
}

// Roles are the roles that have a place in the service, and what can be given.
type Roles struct {
	Roles     []Role         `json:"roles"`
	Available AvailableRoles `json:"available"`
}

// AvailableRoles are the roles there are, and the capabilities that the caller holds and so can give.
type AvailableRoles struct {
	Roles        []string `json:"roles"`
	Capabilities []string `json:"capabilities"`
}

func shownRoles(all []role, held rights) Roles {
	out := Roles{Roles: []Role{}, Available: AvailableRoles{Roles: []string{}, Capabilities: held.capabilities}}
	for _, r := range all {
		if len(r.Capabilities) > 0 {
			out.Roles = append(out.Roles, Role{r.Name, r.Label, r.Capabilities, r.Visibility, r.Fixed})
		}
		if !r.Fixed {
			out.Available.Roles = append(out.Available.Roles, r.Name)
		}
	}
	return out
}

func getRoles(ctx context.Context, tx *db.Tx, _ struct{}) (Roles, error) {
	all, err := roles(ctx, tx)
	return shownRoles(all, rightsOf(all, tx.Who.Roles)), err
}

func updateRole(ctx context.Context, tx *db.Tx, in struct {
	Role         string    `json:"role" maxLength:"60"`
	Capabilities *[]string `json:"capabilities,omitempty" maxItems:"20" doc:"The whole list is replaced; an empty one removes the role from the service."`
	Visibility   *string   `json:"visibility,omitempty" enum:"all,own"`
}) (Roles, error) {
	all, err := lockRoles(ctx, tx)
	if err != nil {
		return Roles{}, err
	}
	i := slices.IndexFunc(all, func(r role) bool { return r.Name == in.Role })
	if i < 0 {
		return Roles{}, fault.NotFound("role")
	}
	giver, err := currentGiver(ctx, tx, all)
	if err != nil {
		return Roles{}, err
	}
	before := all[i]
	if before.Fixed {
		return Roles{}, fault.Conflict("fixed", "This role cannot be changed.")
	}
	next := before
	if in.Capabilities != nil {
		if next.Capabilities, err = capabilities(*in.Capabilities); err != nil {
			return Roles{}, err
		}
	}
	set(in.Visibility, &next.Visibility)
	if err := giver.mayShape(before, next); err != nil {
		return Roles{}, err
	}
	if slices.Equal(next.Capabilities, before.Capabilities) && next.Visibility == before.Visibility {
		return shownRoles(all, giver.rights), nil
	}
	err = tx.QueryRow(ctx, `update role set capabilities = $2, visibility = $3, version = version + 1 where name = $1 returning version`,
		next.Name, next.Capabilities, next.Visibility).Scan(&next.Version)
	if err != nil {
		return Roles{}, err
	}
	all[i] = next
	return shownRoles(all, rightsOf(all, giver.Roles)), publishRole(ctx, tx, next)
}

// capabilities puts a list in order and refuses what does not exist or lacks what it requires.
func capabilities(list []string) ([]string, error) {
	out := []string{}
	for _, c := range auth.Permissions {
		if slices.Contains(list, c) {
			out = append(out, c)
		}
	}
	for _, c := range list {
		if !slices.Contains(auth.Permissions, c) {
			return nil, fault.Param("capabilities", "names what does not exist: %s", c)
		}
	}
	if len(out) > 0 && !slices.Contains(out, auth.ViewContacts) {
		return nil, fault.Param("capabilities", "must include %s", auth.ViewContacts)
	}
	return out, nil
}

// mayShape refuses to give or take rights that the giver does not hold, and to lower the giver's own role.
func (g giver) mayShape(before, next role) error {
	for _, c := range auth.Permissions {
		if slices.Contains(before.Capabilities, c) != slices.Contains(next.Capabilities, c) && !g.rights.can(c) {
			return fault.Forbidden(c)
		}
	}
	if next.Visibility != before.Visibility && g.rights.visibility != "all" {
		return fault.Refused("rights", "You cannot give sight of more than you see.")
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
