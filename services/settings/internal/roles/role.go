package roles

import (
	"context"
	"fmt"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/typed"
)

// The roles of the team. Those of the platform hold no permission here until they are given one.
const (
	SiteAdmin = auth.SiteAdmin
	Admin     = "svc_admin"
	Staff     = "staff"
)

// OfTeam are the roles of the team, the strongest first.
var OfTeam = auth.TeamRoles

// Visibilities of a role: every record, or those that the user owns.
const (
	visibilityAll = "all"
	visibilityOwn = "own"
)

// stored is a row of the table role.
type stored struct {
	Name         string
	Label        string
	Capabilities []string
	Visibility   string
	Fixed        bool
	Version      int64
}

const columns = `name, label, capabilities, visibility, fixed, version`

// firstRoles are the roles of a new site.
var firstRoles = []stored{
	{Name: SiteAdmin, Label: "Administrator", Capabilities: auth.Permissions, Visibility: visibilityAll, Fixed: true},
	{Name: Admin, Label: "Manager", Capabilities: auth.Permissions, Visibility: visibilityAll},
	{Name: Staff, Label: "Staff", Capabilities: []string{auth.ViewContacts, auth.EditContacts, auth.ManageBookings}, Visibility: visibilityOwn},
	{Name: "editor", Label: "Editor", Capabilities: []string{}, Visibility: visibilityOwn},
	{Name: "author", Label: "Author", Capabilities: []string{}, Visibility: visibilityOwn},
	{Name: "subscriber", Label: "Subscriber", Capabilities: []string{}, Visibility: visibilityOwn},
}

// All are all roles, the strongest first.
type All []stored

// Read reads all roles.
func Read(ctx context.Context, tx *db.Tx) (All, error) {
	return query(ctx, tx, `select `+columns+` from role order by position`)
}

// Lock is Read for a change: who holds which permission stays as it is until the transaction ends. Everything
// that gives or takes a role begins with it, so that two administrators cannot take each other's away at once.
func Lock(ctx context.Context, tx *db.Tx) (All, error) {
	return query(ctx, tx, `select `+columns+` from role order by position for update`)
}

func query(ctx context.Context, tx *db.Tx, sql string) (All, error) {
	all, err := db.Rows[stored](ctx, tx, sql)
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	return all, nil
}

func publish(tx *db.Tx, r stored) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.RoleKey(r.Name), &proto.Identity{Version: r.Version,
		Record: &proto.Identity_Role{Role: &proto.Role{Name: r.Name, Label: r.Label, Capabilities: r.Capabilities, Visibility: r.Visibility, Fixed: r.Fixed}}})
}

// role is a role and what it may do here.
type role struct {
	Role         string   `json:"role" doc:"The name of the role."`
	Label        string   `json:"label" doc:"The name for people."`
	Capabilities []string `json:"capabilities" doc:"The permissions that it holds."`
	Visibility   string   `json:"visibility" enum:"all,own" doc:"all for the records of everybody, own for those of the person."`
	Fixed        bool     `json:"fixed" doc:"It cannot be changed."`
}

// roles are the roles that hold a permission, and what can be given.
type roles struct {
	Roles     []role         `json:"roles" doc:"All roles."`
	Available availableRoles `json:"available"`
	document.Stamp
}

// availableRoles are the roles that can be changed, and the capabilities that the caller holds and so can give.
type availableRoles struct {
	Roles        []string `json:"roles" doc:"All names of roles."`
	Capabilities []string `json:"capabilities" doc:"All permissions that a role can hold."`
}

// version is that of all roles together: it grows with each change of one.
func (all All) version() (sum int64) {
	for _, r := range all {
		sum += r.Version
	}
	return sum
}

func shown(all All, held auth.Rights) roles {
	out := roles{Stamp: document.At(all.version()), Roles: []role{}, Available: availableRoles{Roles: []string{}, Capabilities: held.Capabilities}}
	for _, r := range all {
		if len(r.Capabilities) > 0 {
			out.Roles = append(out.Roles, role{r.Name, r.Label, r.Capabilities, r.Visibility, r.Fixed})
		}
		if !r.Fixed {
			out.Available.Roles = append(out.Available.Roles, r.Name)
		}
	}
	return out
}

func get(ctx context.Context, tx *db.Tx, _ op.None) (roles, error) {
	all, err := Read(ctx, tx)
	return shown(all, auth.Left(tx.Who, named(all, tx.Who.Roles)...)), err
}

// update changes what a role may do and see. Errors: 404 for an unknown role, 409 for the fixed one and for lowering
// the caller's own, 403 for permissions that the caller does not hold.
func update(ctx context.Context, tx *db.Tx, in struct {
	Role         string              `json:"role" maxLength:"60"`
	Capabilities opt.Value[[]string] `json:"capabilities,omitzero" maxItems:"20" doc:"The whole list is replaced; an empty one removes the role from the service."`
	Visibility   opt.Value[string]   `json:"visibility,omitzero" enum:"all,own" doc:"all for the records of everybody, own for those of the person."`
}) (roles, error) {
	var chosen []string
	if in.Capabilities.Set {
		var err error
		if chosen, err = capabilities(in.Capabilities.V); err != nil {
			return roles{}, err
		}
	}
	all, err := Lock(ctx, tx)
	if err != nil {
		return roles{}, err
	}
	i := slices.IndexFunc(all, func(r stored) bool { return r.Name == in.Role })
	if i < 0 {
		return roles{}, fault.NotFound("role")
	}
	giver, err := CurrentGiver(ctx, tx, all)
	if err != nil {
		return roles{}, err
	}
	if err := tx.Match(all.version()); err != nil {
		return roles{}, err
	}
	before := all[i]
	if before.Fixed {
		return roles{}, fault.Conflict("fixed", "This role cannot be changed.")
	}
	next := before
	if in.Capabilities.Set {
		next.Capabilities = chosen
	}
	in.Visibility.Apply(&next.Visibility)
	if err := giver.mayShape(before, next); err != nil {
		return roles{}, err
	}
	if slices.Equal(next.Capabilities, before.Capabilities) && next.Visibility == before.Visibility {
		return shown(all, giver.Rights), nil
	}
	err = tx.QueryRow(ctx, `update role set capabilities = $2, visibility = $3, version = version + 1 where name = $1 returning version`,
		next.Name, next.Capabilities, next.Visibility).Scan(&next.Version)
	if err != nil {
		return roles{}, fmt.Errorf("change role %s: %w", next.Name, err)
	}
	all[i] = next
	diff := change.Set{}
	diff.Note("capabilities", before.Capabilities, next.Capabilities)
	diff.Note("visibility", before.Visibility, next.Visibility)
	tx.Changed(diff)
	return shown(all, newGiver(tx.Who, giver.Person, all).Rights), publish(tx, next)
}

// capabilities puts a list in the order of auth.Permissions. It refuses unknown ones, and any without ViewContacts.
func capabilities(list []string) ([]string, error) {
	out := []string{}
	for _, c := range auth.Permissions {
		if slices.Contains(list, c) {
			out = append(out, c)
		}
	}
	for _, c := range list {
		if !slices.Contains(auth.Permissions, c) {
			return nil, fault.Invalid("capabilities", typed.Unknown("capability", c))
		}
	}
	if len(out) > 0 && !slices.Contains(out, auth.ViewContacts) {
		return nil, fault.Invalid("capabilities", fault.NewProblem("incomplete", "must include "+auth.ViewContacts, "name", auth.ViewContacts))
	}
	return out, nil
}

func publishAll(ctx context.Context, tx *db.Tx, names []string) error {
	return row.Each(ctx, tx, func(r stored) error { return publish(tx, r) }, `select `+columns+` from role where name = any($1) order by name`, names)
}

// Add adds those of firstRoles that are not there yet.
func Add(ctx context.Context, tx *db.Tx) error {
	for i, r := range firstRoles {
		_, err := tx.Exec(ctx, `insert into role (name, label, capabilities, visibility, fixed, position) values ($1, $2, $3, $4, $5, $6)
			on conflict (name) do nothing`, r.Name, r.Label, r.Capabilities, r.Visibility, r.Fixed, i+1)
		if err != nil {
			return err
		}
	}
	return nil
}
