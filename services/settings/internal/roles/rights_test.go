package roles

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/settings/internal/people"
)

// lead may manage the site but not forms, and sees everything; clerk manages the site and sees its own only.
var shaped = append(slices.Clone(firstRoles),
	stored{Name: "lead", Capabilities: []string{auth.ManageCRM, auth.ViewContacts}, Visibility: visibilityAll},
	stored{Name: "clerk", Capabilities: []string{auth.ManageCRM, auth.ViewContacts}, Visibility: visibilityOwn},
	stored{Name: "forms", Capabilities: []string{auth.ViewContacts, auth.ManageForms}, Visibility: visibilityOwn})

func giverWith(roles ...string) Giver {
	return newGiver(db.Actor{}, people.Person{ID: 1, Roles: roles}, shaped)
}

// reason is why an error refuses: its reason or the permission that is missing; empty for none.
func reason(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	for _, key := range []string{"reason", "permission"} {
		if why, ok := fault.From(err).Data[key].(string); ok {
			return why
		}
	}
	require.Fail(t, "no refusal", err)
	return ""
}

func TestNobodyGivesARoleWithMoreThanTheirs(t *testing.T) {
	for _, c := range []struct{ giver, role, refused string }{
		{SiteAdmin, SiteAdmin, ""},
		{SiteAdmin, "forms", ""},
		{Admin, SiteAdmin, SiteAdmin},
		{Admin, Admin, ""},
		{Admin, Staff, ""},
		{"lead", Staff, "rights"},
		{"lead", "clerk", ""},
		{"lead", "forms", "rights"},
		{"clerk", "lead", "rights"},
	} {
		t.Run(c.giver+" gives "+c.role, func(t *testing.T) {
			require.Equal(t, c.refused, reason(t, giverWith(c.giver).MayGiveRole(c.role)))
		})
	}
}

func TestNobodyChangesAUserWhoHoldsMore(t *testing.T) {
	for _, c := range []struct {
		giver   string
		roles   []string
		refused string
	}{
		{SiteAdmin, []string{SiteAdmin}, ""},
		{Admin, []string{SiteAdmin}, SiteAdmin},
		{Admin, []string{Admin, "forms"}, ""},
		{"lead", []string{"clerk"}, ""},
		{"lead", []string{"clerk", "forms"}, "rights"},
		{"clerk", []string{"lead"}, "rights"},
		{"clerk", []string{"author"}, ""},
	} {
		t.Run(c.giver+" changes "+c.roles[0], func(t *testing.T) {
			require.Equal(t, c.refused, reason(t, giverWith(c.giver).MayChangeUser(people.Person{ID: 2, Roles: c.roles})))
		})
	}
}

func TestARoleIsShapedByWhoHoldsItsRights(t *testing.T) {
	for name, c := range map[string]struct {
		giver   []string
		role    string
		holds   []string
		sees    string
		refused string
	}{
		"giving what is held":             {[]string{"lead"}, "editor", []string{auth.ViewContacts}, visibilityOwn, ""},
		"giving what is not held":         {[]string{"lead"}, "editor", []string{auth.ViewContacts, auth.ManageForms}, visibilityOwn, auth.ManageForms},
		"taking what is not held":         {[]string{"lead"}, "forms", []string{auth.ViewContacts}, visibilityOwn, auth.ManageForms},
		"giving sight of everything":      {[]string{"lead"}, "forms", []string{auth.ViewContacts, auth.ManageForms}, visibilityAll, ""},
		"giving more sight than one has":  {[]string{"clerk"}, "editor", []string{}, visibilityAll, "rights"},
		"taking from those who see more":  {[]string{"clerk"}, "lead", []string{auth.ViewContacts}, visibilityAll, "rights"},
		"lowering one's own role":         {[]string{"lead"}, "lead", []string{auth.ViewContacts}, visibilityAll, "own_role"},
		"lowering one of two of the same": {[]string{"lead", "clerk"}, "clerk", []string{auth.ViewContacts}, visibilityOwn, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := shaped[slices.IndexFunc(shaped, func(r stored) bool { return r.Name == c.role })]
			next := before
			next.Capabilities, next.Visibility = c.holds, c.sees
			require.Equal(t, c.refused, reason(t, giverWith(c.giver...).mayShape(before, next)))
		})
	}
}
