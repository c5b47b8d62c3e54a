package settings

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
)

// limitedKey is a client with a new application password of the site administrator that was limited to permissions, and its id.
func limitedKey(t *testing.T, s *apptest.Service, c *apptest.Client, permissions ...string) (*apptest.Client, string) {
	t.Helper()
	made := c.Post("/me/application-passwords", map[string]any{"name": "Maria (owner)", "permissions": permissions}).Is(201)
	key := basic(s, "admin", made.Text("password"))
	s.Eventually(func() bool { return key.Get("/me").Status == 200 })
	return key, made.Text("id")
}

func TestALimitedKeyGivesNoMoreThanItHolds(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	key, id := limitedKey(t, s, person, auth.ManageCRM, auth.ViewContacts)
	other, otherID := limitedKey(t, s, person, auth.ViewContacts)
	lead := map[string]any{"capabilities": []string{auth.ManageCRM, auth.ViewContacts}, "visibility": "all"}
	person.Patch("/settings/roles/author", lead).Is(200)

	t.Run("it invites nobody into more", func(*testing.T) {
		for _, role := range []string{"site_admin", "svc_admin", "staff"} {
			key.Post("/staff", map[string]any{"email": "x@example.com", "role": role}).Fails(403, "svc_forbidden")
		}
	})
	t.Run("it gives nobody more", func(*testing.T) {
		bob := person.Post("/staff", map[string]any{"email": "bob@example.com", "role": "staff"}).Is(201).Field("user_id")
		key.Put("/staff/"+fmt.Sprint(int64(bob.(float64)))+"/role", map[string]any{"role": "site_admin"}).Fails(403, "svc_forbidden")
		key.Put("/staff/"+fmt.Sprint(int64(bob.(float64)))+"/role", map[string]any{"role": "svc_admin"}).Fails(403, "svc_forbidden")
	})
	t.Run("it shapes no role beyond", func(*testing.T) {
		key.Patch("/settings/roles/editor", map[string]any{"capabilities": []string{auth.ViewContacts, auth.ExportContacts}}).Fails(403, "svc_forbidden")
		key.Patch("/settings/roles/editor", map[string]any{"capabilities": []string{auth.ViewContacts}}).Is(200)
	})
	t.Run("it is told what it holds, not what its owner holds", func(t *testing.T) {
		require.ElementsMatch(t, []any{auth.ManageCRM, auth.ViewContacts}, key.Get("/me").Is(200).Field("capabilities"))
		require.ElementsMatch(t, []any{auth.ManageCRM, auth.ViewContacts}, key.Get("/settings/roles").Is(200).Field("available.capabilities"))
		require.Len(t, person.Get("/me").Is(200).Field("capabilities"), len(auth.Permissions))
	})
	t.Run("it sees and ends itself only", func(t *testing.T) {
		listed := other.Get("/me/application-passwords").Is(200)
		require.Len(t, listed.Items(), 1)
		require.Equal(t, otherID, listed.Items()[0]["id"])
		other.Delete("/me/application-passwords/"+id, nil).Fails(404, "svc_not_found")
		key.Get("/me").Is(200)
		other.Delete("/me/application-passwords/"+otherID, nil).Is(204)
	})
}

func TestTheMailAboutANewAdministratorNamesThePerson(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	made := person.Post("/me/application-passwords", map[string]any{"name": "Maria (owner)"}).Is(201)
	key := basic(s, "admin", made.Text("password"))
	s.Eventually(func() bool { return key.Get("/me").Status == 200 })
	key.Post("/staff", map[string]any{"email": "new@example.com", "role": "site_admin", "name": "New"}).Is(201)
	text := mails(t, s, "admin@example.com")[0].GetText()
	require.Contains(t, text, "admin (admin@example.com) heeft dat, met de sleutel of assistent “Maria (owner)”, zo ingesteld")
}

func TestARoleThatHeldNothingIsNotGivenSightByWhoHasNone(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	person.Patch("/settings/roles/editor", map[string]any{"capabilities": []string{auth.ManageCRM, auth.ViewContacts}, "visibility": "all"}).Is(200)
	person.Patch("/settings/roles/editor", map[string]any{"capabilities": []string{}}).Is(200)
	person.Patch("/settings/roles/staff", map[string]any{"capabilities": []string{auth.ManageCRM, auth.ViewContacts}}).Is(200)
	clerk := join(t, s, person, "clerk@example.com", "staff")
	clerk.Patch("/settings/roles/editor", map[string]any{"capabilities": []string{auth.ViewContacts}}).Fails(403, "svc_forbidden")
	clerk.Patch("/settings/roles/nothing", map[string]any{"capabilities": []string{"x"}}).Fails(400, "svc_invalid_param")
	clerk.Patch("/settings/roles/nothing", map[string]any{"capabilities": []string{}}).Fails(404, "svc_not_found")
}

func TestOnesOwnSecondFactorGoesWithItsCode(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	me := fmt.Sprint(int64(person.Get("/me").Is(200).Field("user_id").(float64)))
	person.Post("/auth/confirm", map[string]any{"password": adminPassword})
	person.Delete("/staff/"+me+"/two-factor", nil).Fails(409, "svc_conflict")
}

func TestTheLogSaysWhichRoleAnInvitationGives(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	person.Post("/staff", map[string]any{"email": "new@example.com", "role": "svc_admin", "name": "New"}).Is(201)
	person.Post("/staff", map[string]any{"email": "new@example.com", "role": "site_admin"}).Is(200)
	s.Settle()
	var changes []any
	s.Eventually(func() bool {
		changes = nil
		for _, e := range person.Get("/audit-log?action=invite-staff").Is(200).Items() {
			changes = append(changes, e["changes"])
		}
		return len(changes) == 2
	})
	require.Equal(t, map[string]any{"roles": map[string]any{"old": []any{"svc_admin"}, "new": []any{"svc_admin", "site_admin"}}}, changes[0])
	require.Equal(t, map[string]any{"roles": map[string]any{"old": []any{}, "new": []any{"svc_admin"}}}, changes[1])
}
