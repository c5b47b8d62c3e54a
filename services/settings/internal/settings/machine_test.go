package settings

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// persons are the fields of the settings that guard accounts and data, each with a value that differs from the first one: a machine never
// changes them, whatever it holds. machines are the other fields.
var (
	persons = map[string]map[string]any{
		"/settings/general":   {"ip_header": "CF-Connecting-IP"},
		"/settings/portal":    {"require_2fa": true, "idle_hours": 24, "host": "team.example.com"},
		"/settings/telemetry": {"stats": true, "profile": false, "profile_data": map[string]any{"company": "Lux"}},
		"/integrations/ai":    {"abilities": map[string]bool{"svc/update-role": true}, "approval": map[string]string{"svc/delete-view": "destructive"}},
	}
	machines = map[string]map[string]any{
		"/settings/general":      {"business": map[string]any{"city": "Gent"}, "currency": "CHF", "country": "NL"},
		"/settings/portal":       {"path": "crew", "staff_out": true, "logo_id": nil, "powered_by": true, "booking_page": true},
		"/settings/privacy":      {"delete_on_uninstall": true},
		"/settings/api-access":   {"roles": []string{"site_admin", "staff"}},
		"/settings/roles/{role}": {"capabilities": []string{auth.ViewContacts}, "visibility": "all"},
		"/apps/{app}":            {"enabled": false},
		"/setup":                 {"done": true, "dismissed": true},
	}
)

var examplePath = strings.NewReplacer("{role}", "staff", "{app}", "forms")

func TestWhatGuardsAccountsIsChangedByPeopleAlone(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	withSecondFactor(t, s, person)
	key, assistant := withKey(t, s, person, "admin", false), withKey(t, s, person, "admin", true)
	guarded := map[string]string{"/settings/general": "svc/update-general-settings", "/settings/portal": "svc/update-portal-settings"}
	expose := map[string]bool{}
	for _, ability := range guarded {
		expose[ability] = true
	}
	person.Patch("/integrations/ai", map[string]any{"abilities": expose}).Is(200)
	s.Eventually(func() bool {
		return strings.Contains(assistant.Get("/abilities").Body, "svc/update-portal-settings") && key.Get("/me").Status == 200
	})

	for path, fields := range persons {
		for field, value := range fields {
			body := map[string]any{field: value}
			before := person.Get(path).Is(200)
			refuses := func(a *apptest.Answer) {
				require.Equal(t, "person_only", a.Fails(403, "svc_forbidden").Text("data.reason"), "%s %s", path, field)
			}
			refuses(key.Patch(path, body))
			if ability, there := guarded[path]; there {
				refuses(assistant.Post("/abilities/"+ability+"/run", map[string]any{"input": body}))
				require.NotContains(t, assistant.Get("/abilities/"+ability).Is(200).Text("input_schema.properties"), field)
			}
			require.Equal(t, before.Body, person.Get(path).Is(200).Body, "%s %s", path, field)
			person.Patch(path, body).Is(200)
		}
	}
	for path, fields := range machines {
		for field, value := range fields {
			key.Patch(examplePath.Replace(path), map[string]any{field: value}).Is(200)
		}
	}
	refused := 0
	for _, a := range s.Audited("update-portal-settings") {
		if a.GetOutcome() == "refused" {
			refused++
		}
	}
	require.Equal(t, 2*len(persons["/settings/portal"]), refused, "each refusal is in the log")

	t.Run("a setting that comes later is decided about", func(t *testing.T) {
		documents := 0
		for route, o := range s.Parts.Ops.Operations() {
			method, path, _ := strings.Cut(route, " ")
			if method != http.MethodPatch || o.Record != "settings" && o.Record != "role" && o.Record != "app" {
				continue
			}
			documents++
			if path == "/settings/form-style" {
				require.False(t, slices.ContainsFunc(o.In, func(f *op.Field) bool { return f.PersonOnly }), "looks guard nothing")
				continue
			}
			for _, f := range o.In {
				_, byPerson := persons[path][f.Name]
				_, byMachine := machines[path][f.Name]
				require.True(t, f.InPath || byPerson != byMachine, "%s %s", route, f.Name)
				require.Equal(t, byPerson, f.PersonOnly || o.PersonOnly, "%s %s", route, f.Name)
			}
		}
		require.Equal(t, 10, documents)
	})
}

func TestAMachineOpensTheAPIForNobodyWhoHoldsMore(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	person.Patch("/settings/api-access", map[string]any{"roles": []string{"site_admin"}}).Is(200)
	key, _ := limitedKey(t, s, person, auth.ViewContacts, auth.ManageIntegrations)
	refused := key.Patch("/settings/api-access", map[string]any{"roles": []string{"site_admin", "staff"}}).Fails(403, "svc_forbidden")
	require.Equal(t, "rights", refused.Text("data.reason"))
	person.Patch("/settings/roles/author", map[string]any{"capabilities": []string{auth.ViewContacts}}).Is(200)
	key.Patch("/settings/api-access", map[string]any{"roles": []string{"site_admin", "author"}}).Is(200)
	key.Patch("/settings/api-access", map[string]any{"roles": []string{"site_admin"}}).Is(200)
	person.Patch("/settings/api-access", map[string]any{"roles": []string{"site_admin", "staff"}}).Is(200)
}
