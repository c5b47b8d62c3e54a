package settings

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// The roles there are. Those of the platform have no right here until one is given to them.
const (
	roleSiteAdmin = auth.SiteAdmin
	roleAdmin     = "svc_admin"
	roleStaff     = "staff"
)

// serviceRoles are the roles of the team, the strongest first.
var serviceRoles = []string{roleSiteAdmin, roleAdmin, roleStaff}

// role is a row of the table role.
type role struct {
	Name         string
	Label        string
	Capabilities []string
	Visibility   string
	Fixed        bool
	Version      int64
}

const roleColumns = `name, label, capabilities, visibility, fixed, version`

// firstRoles are the roles of a new site.
var firstRoles = []role{
	{Name: roleSiteAdmin, Label: "Administrator", Capabilities: auth.Permissions, Visibility: "all", Fixed: true},
	{Name: roleAdmin, Label: "Manager", Capabilities: auth.Permissions, Visibility: "all"},
	{Name: roleStaff, Label: "Staff", Capabilities: []string{auth.ViewContacts, auth.EditContacts, auth.ManageBookings}, Visibility: "own"},
	{Name: "editor", Label: "Editor", Capabilities: []string{}, Visibility: "own"},
	{Name: "author", Label: "Author", Capabilities: []string{}, Visibility: "own"},
	{Name: "subscriber", Label: "Subscriber", Capabilities: []string{}, Visibility: "own"},
}

func roles(ctx context.Context, tx *db.Tx) ([]role, error) {
	rows, err := tx.Query(ctx, `select `+roleColumns+` from role order by position`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[role])
}

// lockRoles keeps who holds which right as it is until the transaction ends. Everything that gives or
// takes a role begins with it, so that two administrators cannot take each other's away at once.
func lockRoles(ctx context.Context, tx *db.Tx) ([]role, error) {
	rows, err := tx.Query(ctx, `select `+roleColumns+` from role order by position for update`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[role])
}

func publishRole(ctx context.Context, tx *db.Tx, r role) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.RoleKey(r.Name), &proto.Identity{Version: r.Version,
		Record: &proto.Identity_Role{Role: &proto.Role{Name: r.Name, Label: r.Label, Capabilities: r.Capabilities, Visibility: r.Visibility, Fixed: r.Fixed}}})
}

// rights are what several roles add up to.
type rights struct {
	capabilities []string // in the order of auth.Permissions
	visibility   string
}

func (r rights) can(permission string) bool { return slices.Contains(r.capabilities, permission) }

// covers tells whether a user with these rights holds all of o's.
func (r rights) covers(o rights) bool {
	for _, c := range o.capabilities {
		if !r.can(c) {
			return false
		}
	}
	return r.visibility == "all" || o.visibility == "own"
}

func rightsOf(all []role, names []string) rights {
	r := rights{capabilities: []string{}, visibility: "own"}
	held := map[string]bool{}
	for _, x := range all {
		if !slices.Contains(names, x.Name) || len(x.Capabilities) == 0 {
			continue
		}
		for _, c := range x.Capabilities {
			held[c] = true
		}
		if x.Visibility == "all" {
			r.visibility = "all"
		}
	}
	for _, c := range auth.Permissions {
		if held[c] {
			r.capabilities = append(r.capabilities, c)
		}
	}
	return r
}

// mainRole is the role that a user is shown with: the strongest of the team, else the first that there is.
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
