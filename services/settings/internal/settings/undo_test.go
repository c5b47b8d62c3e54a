package settings

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/app"
)

// The gateway of the test leads to the service itself; the other services know none of the calls.
func TestWorkIsListedByTheHourAndTakenBack(t *testing.T) {
	t.Parallel()
	var to *httputil.ReverseProxy
	down := false
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service, asked := strings.CutPrefix(r.URL.Path, "/v1/undo/")
		switch {
		case down:
			w.WriteHeader(http.StatusServiceUnavailable)
		case asked && service != "settings":
			_, _ = w.Write([]byte(`{"items": []}`))
		default:
			to.ServeHTTP(w, r)
		}
	}))
	defer gateway.Close()
	s := start(t, func(c *app.Config) { c.GatewayURL = gateway.URL })
	at, err := url.Parse(s.URL)
	require.NoError(t, err)
	to = httputil.NewSingleHostReverseProxy(at)
	person := admin(t, s).With("X-Forwarded-For", "203.0.113.77")
	made := person.Post("/me/application-passwords", map[string]any{"name": "Robot", "assistant": false}).Is(201)
	work := basic(s, "admin", made.Text("password"))

	begin := s.Now().Add(-time.Second)
	view := work.Post("/views", map[string]any{"entity": "contacts", "name": "Fair", "query": map[string]any{}, "columns": []string{}}).Is(201).Text("id")
	asked := map[string]any{"credential_id": made.Text("id"), "from": begin.Format(time.RFC3339), "to": s.Now().Add(time.Hour).Format(time.RFC3339)}
	s.Eventually(func() bool {
		for _, w := range person.Get("/sessions-of-work").Is(200).Items() {
			if actor := w["actor"].(map[string]any); actor["id"] == made.Text("id") {
				require.Equal(t, []any{"key", "Robot", nil, 1.0}, []any{actor["kind"], actor["name"], w["connection"], w["calls"]})
				return true
			}
		}
		return false
	})

	down = true
	person.Post("/undo", asked).Fails(503, "svc_unavailable")
	down = false
	require.Equal(t, "dry_run", person.With("Prefer", "dry-run").Post("/undo", asked).Fails(400, "svc_no_rehearsal").Text("data.reason"), "it has a rehearsal of its own")
	asked["dry_run"] = true
	require.Equal(t, 1.0, person.Post("/undo", asked).Is(200).Field("undone"))
	person.Get("/views/" + view).Is(200)
	delete(asked, "dry_run")
	require.Equal(t, 1.0, person.Post("/undo", asked).Is(200).Field("undone"))
	person.Get("/views/"+view).Fails(404, "svc_not_found")
	require.Equal(t, 0.0, person.Post("/undo", asked).Is(200).Field("undone"))
	var gone []map[string]any
	s.Eventually(func() bool {
		gone = person.Get("/audit-log?action=delete-view").Is(200).Items()
		return len(gone) > 0
	})
	for _, e := range gone {
		require.Equal(t, "203.0.113.77", e["address"], "the address of the person, and not that of this service")
	}

	person.Post("/undo", map[string]any{"from": asked["from"], "to": asked["to"]}).Fails(400, "svc_invalid_param")
	work.Get("/sessions-of-work").Fails(403, "svc_forbidden")
	work.Post("/undo", asked).Fails(403, "svc_forbidden")
	undos := func(outcome string) any {
		return person.Get("/audit-log?action=undo-work&outcome=" + outcome).Is(200).Field("total")
	}
	// A rehearsal is no entry.
	s.Eventually(func() bool { return undos("refused") == 1.0 && undos("done") == 2.0 })
}

func TestEveryKindOfWorkIsTakenBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	work := withKey(t, s, person, "admin", false)
	work.UserID, person.UserID = userID(person), userID(person)
	view := "/views/" + person.Post("/views", `{"entity":"contacts","name":"Customers","query":{"status":"customer"}}`).Is(201).Text("id")
	page := fmt.Sprint("/pages/", person.Post("/pages", `{"title":"About","content":"Who we are"}`).Is(201).Field("id"))
	person.Put("/mail-templates/appointment.booked/nl", `{"subject":"Tot dan","body":"Dag\n\n{manage}"}`).Is(200)
	records := []string{view, page, "/settings/form-style", "/settings/general", "/settings/privacy", "/settings/portal"}
	seen := func() (all []any) {
		for _, path := range records {
			record := person.Get(path).Is(200).Map()
			delete(record, "updated_at")
			all = append(all, record)
		}
		for _, m := range person.Get("/mail-templates").Is(200).Items() {
			all = append(all, m["subject"], m["body"], m["standard"])
		}
		return all
	}
	before := seen()
	for path, body := range map[string]string{view: `{"name":"Leads","query":{"status":"lead"}}`, page: `{"title":"About us","content":"Others"}`, "/settings/form-style": `{"size":17}`,
		"/settings/general": `{"currency":"CHF","business":{"phone":"+32 9 123 45 67"}}`, "/settings/privacy": `{"delete_on_uninstall":true}`,
		"/settings/portal": `{"path":"salon","staff_out":true,"powered_by":false,"booking_page":true}`} {
		work.Patch(path, body).Is(200)
	}
	work.Post("/pages", `{"title":"New"}`).Is(201)
	work.Post("/views", `{"entity":"contacts","name":"New","query":{}}`).Is(201)
	work.Put("/mail-templates/appointment.booked/nl", `{"subject":"Anders","body":"Dag\n\n{manage}"}`).Is(200)
	work.Delete("/mail-templates/appointment.booked/nl", nil).Is(204)
	work.Put("/mail-templates/appointment.cancelled/de", `{"subject":"Abgesagt","body":"Guten Tag"}`).Is(200)
	require.Empty(t, person.TakeBack(work))
	require.Equal(t, before, seen())
	require.Empty(t, person.TakeBack(work), "a second time nothing is left")
	s.CheckUndo()
}

// Work of an assistant beside that of a colleague, in any order, on documents of the site, a page and a view.
func TestTakingBackLeavesWhatOthersDid(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := admin(t, s)
	an := join(t, s, person, "an@example.com", "site_admin")
	colleague := withKey(t, s, an, "an@example.com", false)
	page := fmt.Sprint("/pages/", person.Post("/pages", `{"title":"About","content":"Who we are"}`).Is(201).Field("id"))
	view := "/views/" + person.Post("/views", `{"entity":"contacts","name":"Customers","query":{},"shared":true}`).Is(201).Text("id")
	bodies := map[string]func(n int) string{
		page:                   func(n int) string { return fmt.Sprintf(`{"title":"About %d"}`, n) },
		view:                   func(n int) string { return fmt.Sprintf(`{"name":"Customers %d"}`, n) },
		"/settings/form-style": func(n int) string { return fmt.Sprintf(`{"size":1%d}`, n) },
		"/settings/general":    func(n int) string { return fmt.Sprintf(`{"business":{"phone":"+32 9 123 45 6%d"}}`, n) },
		"/settings/privacy":    func(n int) string { return fmt.Sprintf(`{"delete_on_uninstall":%t}`, n > 4) },
		"/settings/portal":     func(n int) string { return fmt.Sprintf(`{"path":"salon-%d","staff_out":%t}`, n, n > 4) },
	}
	records := slices.Sorted(maps.Keys(bodies))
	seen := func() map[string]any {
		all := map[string]any{}
		for _, path := range records {
			record := person.Get(path).Is(200).Map()
			delete(record, "updated_at")
			delete(record, "edit_url") // it goes with the portal's path
			all[path] = record
		}
		return all
	}
	type act struct {
		On, Value   int
		ByColleague bool
	}
	draw := rapid.Custom(func(t *rapid.T) []act {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
			return act{rapid.IntRange(0, len(records)-1).Draw(t, "on"), rapid.IntRange(2, 8).Draw(t, "value"), rapid.IntRange(0, 5).Draw(t, "who") == 0}
		}), 3, 12).Draw(t, "acts")
	})
	for seed := range 6 {
		email := fmt.Sprintf("work%d@example.com", seed)
		worker := join(t, s, person, email, "site_admin")
		acts, work := draw.Example(seed), withKey(t, s, worker, email, false)
		work.UserID = userID(worker)
		before := seen()
		last, shared := map[string]bool{}, map[string]bool{} // whether the colleague was the last one to change it, or has changed it at all
		for _, a := range acts {
			who, path := work, records[a.On]
			if a.ByColleague {
				who = colleague
			}
			was := seen()[path]
			who.Patch(path, bodies[path](a.Value)).Is(200)
			if !assert.ObjectsAreEqual(was, seen()[path]) {
				last[path], shared[path] = a.ByColleague, shared[path] || a.ByColleague
			}
		}
		done := seen()
		left := person.TakeBack(work)
		after := seen()
		for _, path := range records {
			if !shared[path] {
				require.Equal(t, before[path], after[path], "%s, %v: %v", path, acts, left)
			}
			if last[path] {
				require.Equal(t, done[path], after[path], "%s, %v: %v", path, acts, left)
			}
		}
	}
}
