package auth

import (
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Rights are what somebody may do and see: by a role, by several, or by what a credential leaves of them.
type Rights struct {
	Capabilities []string // in the order of Permissions
	All          bool     // of everybody's records, not only of those that the user owns
}

// Role is a role and what it allows.
type Role struct {
	Name string
	Rights
}

// Can reports whether the rights hold a permission.
func (r Rights) Can(permission string) bool { return slices.Contains(r.Capabilities, permission) }

// Covers reports whether somebody with these rights holds all of o's.
func (r Rights) Covers(o Rights) bool {
	return !slices.ContainsFunc(o.Capabilities, func(c string) bool { return !r.Can(c) }) && (r.All || !o.All)
}

// Visibility is "all" or "own".
func (r Rights) Visibility() string {
	if r.All {
		return "all"
	}
	return "own"
}

// Sum adds roles up. A role without any capability gives no visibility either.
func Sum(roles ...Role) Rights {
	sum := Rights{Capabilities: []string{}}
	for _, c := range Permissions {
		if slices.ContainsFunc(roles, func(r Role) bool { return r.Can(c) }) {
			sum.Capabilities = append(sum.Capabilities, c)
		}
	}
	sum.All = slices.ContainsFunc(roles, func(r Role) bool { return r.All && len(r.Capabilities) > 0 })
	return sum
}

// Left are the rights of roles that an actor's credential leaves: an application password or an assistant may be limited to some of them.
func Left(who db.Actor, roles ...Role) Rights {
	sum := Sum(roles...)
	if who.Limit != nil {
		sum.Capabilities = slices.DeleteFunc(sum.Capabilities, func(c string) bool { return !slices.Contains(who.Limit, c) })
	}
	return sum
}

// Giver is a caller who gives and takes roles, with the rights that their credential leaves.
type Giver struct {
	Rights
	// siteAdmin: what only a site administrator may do, and only by a credential that holds all rights of one.
	siteAdmin bool
}

// GiverOf is the giver who acts with a credential of somebody who holds roles at this moment.
func GiverOf(who db.Actor, roles ...Role) Giver {
	g := Giver{Rights: Left(who, roles...)}
	g.siteAdmin = slices.ContainsFunc(roles, isSiteAdmin) && g.Covers(Sum(roles...))
	return g
}

func isSiteAdmin(r Role) bool { return r.Name == SiteAdmin }

// MayGive refuses a role with rights that the giver does not hold: 403.
func (g Giver) MayGive(r Role) error {
	return g.covers("You cannot give rights that you do not hold.", r)
}

// MayChange refuses to change or remove somebody whose roles hold more than the giver: 403.
func (g Giver) MayChange(roles ...Role) error {
	return g.covers("This user holds rights that you do not hold.", roles...)
}

func (g Giver) covers(otherwise string, roles ...Role) error {
	switch {
	case g.siteAdmin:
		return nil
	case slices.ContainsFunc(roles, isSiteAdmin):
		return fault.Refused(SiteAdmin, "Only a site administrator may do this.")
	case !g.Covers(Sum(roles...)):
		return fault.Refused("rights", otherwise)
	}
	return nil
}
