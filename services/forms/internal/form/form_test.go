package form

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// addPage publishes a page as settings would.
func (d *desk) addPage(kind string, id int64, status string, shows ...m) {
	d.t.Helper()
	d.page++
	d.Send(apptest.Event{Topic: proto.PageTopic, Kind: kind, Key: fmt.Sprint(id), Version: d.page, Data: m{"id": id, "title": "Page", "slug": "page",
		"status": status, "content": "", "shows": shows, "url": fmt.Sprintf("http://localhost:8080/page-%d", id), "edit_url": "http://localhost:8080/team/pages/1"}})
}

func TestWhatAFormIs(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("a form is made changed and trashed", func(t *testing.T) {
		d := d.again(t)
		f := d.admin.Post("/forms", m{"name": " Ask us ", "definition": m{"elements": []any{m{"type": "field", "target": "contact.email"}}}}).Is(201)
		id := fmt.Sprint(f.Field("id"))
		require.Equal(t, []any{"Ask us", "draft", false, "e1"}, []any{f.Field("name"), f.Field("status"), f.Field("booking"), f.Field("definition.elements.0.id")})
		d.Visitor().Get("/forms/"+id+"/token").Fails(404, "svc_not_found")

		d.admin.Patch("/forms/"+id, m{"name": "Ask", "status": "publish", "definition": m{"elements": []any{field("email", "contact.email", "required", true)}}}).Is(200)
		f = d.admin.Get("/forms/" + id).Is(200)
		require.Equal(t, []any{"Ask", "publish", true}, []any{f.Field("name"), f.Field("status"), f.Field("booking")})
		before := f.Body
		require.Equal(t, before, d.admin.Patch("/forms/"+id, m{"name": "Ask"}).Is(200).Body)
		d.Visitor().Get("/forms/" + id + "/token").Is(200)

		d.admin.Delete("/forms/"+id, nil).Is(204)
		for _, route := range []string{"DELETE /forms/" + id, "POST /forms/" + id + "/duplicate", "GET /forms/" + id + "/embed"} {
			d.admin.Call(route, nil).Fails(409, "svc_invalid_status")
		}
		d.admin.Patch("/forms/"+id, m{"name": "x"}).Fails(409, "svc_invalid_status")
		d.admin.Post("/forms/"+id+"/embed-in-page", m{"new_page_title": "x"}).Fails(409, "svc_invalid_status")
		d.Visitor().Get("/forms/"+id+"/token").Fails(404, "svc_not_found")
		require.Len(t, d.admin.Get("/forms").Is(200).Items(), 1)
		trashed := d.admin.Get("/forms?deleted=true").Is(200).Items()
		require.Len(t, trashed, 1)
		require.Equal(t, f.Field("id"), trashed[0]["id"])
		require.NotNil(t, trashed[0]["deleted_at"])
		shown := d.admin.Get("/forms/" + id).Is(200)
		require.Equal(t, []any{"Ask", "publish", false, trashed[0]["deleted_at"]}, []any{shown.Field("name"), shown.Field("status"), shown.Field("booking"), shown.Field("deleted_at")})

		f = d.admin.Post("/forms/"+id+"/restore", nil).Is(200)
		require.Equal(t, []any{"Ask", "publish", true, nil}, []any{f.Field("name"), f.Field("status"), f.Field("booking"), f.Field("deleted_at")})
		require.Equal(t, f.Body, d.admin.Get("/forms/"+id).Is(200).Body)
		require.Empty(t, d.admin.Get("/forms?deleted=true").Is(200).Items())
		require.Len(t, d.admin.Get("/forms").Is(200).Items(), 2)
		d.Visitor().Get("/forms/" + id + "/token").Is(200)
		d.admin.Post("/forms/"+id+"/restore", nil).Fails(409, "svc_invalid_status")
		d.admin.Post("/forms/999/restore", nil).Fails(404, "svc_not_found")
		require.Equal(t, []string{proto.KindFormCreated, proto.KindFormUpdated, proto.KindFormDeleted, proto.KindFormRestored}, d.Kinds(proto.FormTopic, id))
	})
	t.Run("what a form cannot be is refused with its place", func(t *testing.T) {
		d := d.again(t)
		ok := m{"elements": []any{}}
		for _, c := range []struct {
			body  m
			param string
		}{
			{m{"definition": ok}, "name"},
			{m{"name": "  ", "definition": ok}, "name"},
			{m{"name": strings.Repeat("x", 191), "definition": ok}, "name"},
			{m{"name": "x"}, "definition"},
			{m{"name": "x", "definition": ok, "template": "contact"}, "definition"},
			{m{"name": "x", "template": "nothing"}, "template"},
			{m{"name": "x", "definition": "text"}, "definition"},
			{m{"name": "x", "definition": nil}, "definition"},
			{m{"name": "x", "definition": m{"elements": []any{m{"type": "field"}}}}, "definition.elements[0].target"},
			{m{"name": "x", "definition": m{"elements": []any{}, "notify": m{"emails": []string{"a@example.com"}}}}, "definition.notify.emails[0]"},
			{m{"name": "x", "definition": m{"elements": []any{}, "new_contacts": m{"owner_user_id": 99999}}}, "definition.new_contacts.owner_user_id"},
			{m{"name": "x", "definition": ok, "status": "open"}, "status"},
		} {
			params, _ := d.admin.Post("/forms", c.body).Fails(400, "svc_invalid_param").Field("data.params").(m)
			require.Contains(t, params, c.param, c.body)
		}
		for _, body := range []m{{"name": nil}, {"status": nil}, {"definition": nil}, {"name": " "}, {"definition": m{}}} {
			d.admin.Patch("/forms/"+d.form, body).Fails(400, "svc_invalid_param")
		}
		d.admin.Post("/forms", m{"name": "x", "definition": m{"elements": []any{field("a", "contact.fields.size")}}}).Fails(400, "svc_invalid_param")
	})
	t.Run("null is refused by name", func(t *testing.T) {
		d := d.again(t)
		for _, name := range []string{"name", "status", "definition"} {
			t.Run(name, func(t *testing.T) {
				refused := d.admin.Patch("/forms/"+d.form, m{name: nil}).Fails(400, "svc_invalid_param")
				require.Equal(t, m{name: m{"code": "null"}}, refused.Field("data.details"))
			})
		}
	})
	t.Run("a name is one line", func(t *testing.T) {
		d := d.again(t)
		for name, wrong := range map[string]string{"a line end": "a\nb", "a tab": "a\tb", "a byte of a terminal": "a\u009bb", "zero": "a\u0000b"} {
			t.Run(name, func(t *testing.T) {
				for _, refused := range []*apptest.Answer{d.admin.Post("/forms", m{"name": wrong, "template": "contact"}), d.admin.Patch("/forms/"+d.form, m{"name": wrong})} {
					require.Equal(t, "control_characters", refused.Fails(400, "svc_invalid_param").Text("data.details.name.code"))
				}
				d.admin.Post("/forms/"+d.form+"/embed-in-page", m{"new_page_title": wrong}).Fails(400, "svc_invalid_param")
			})
		}
	})
	t.Run("a form without a field cannot be published", func(t *testing.T) {
		d := d.again(t)
		bare := m{"elements": []any{m{"type": "heading", "text": "Hello"}, m{"type": "consent", "text": "I agree."}}}
		code := func(a *apptest.Answer, place string) {
			t.Helper()
			details := a.Fails(400, "svc_invalid_param").Field("data.details").(m)
			require.Equal(t, m{place: m{"code": "no_field"}}, details)
		}
		code(d.admin.Post("/forms", m{"name": "x", "status": "publish", "definition": bare}), "definition.elements")
		code(d.admin.Patch("/forms/"+d.form, m{"definition": bare}), "definition.elements")
		draft := fmt.Sprint(d.admin.Post("/forms", m{"name": "x", "definition": bare}).Is(201).Field("id"))
		code(d.admin.Patch("/forms/"+draft, m{"status": "publish"}), "status")
		d.admin.Patch("/forms/"+draft, m{"status": "publish", "definition": m{"elements": []any{field("a", "contact.email")}}}).Is(200)
	})
	t.Run("a person in the app adds notifications that others keep or remove", func(t *testing.T) {
		d := d.again(t)
		person := d.AsSession("site_admin")
		with := func(emails ...string) m {
			return m{"definition": m{"elements": []any{field("email", "contact.email")}, "notify": m{"emails": emails}}}
		}
		person.Patch("/forms/"+d.form, with("team@example.com", "sales@example.com")).Is(200)
		d.admin.Patch("/forms/"+d.form, with("team@example.com", "other@example.com")).Fails(400, "svc_invalid_param")
		f := d.admin.Patch("/forms/"+d.form, with("Team@example.com")).Is(200)
		require.Len(t, f.Field("definition.notify.emails"), 1)
		d.admin.Patch("/forms/"+d.form, with("sales@example.com")).Fails(400, "svc_invalid_param")
	})
	t.Run("a template becomes a form and asks for its fields", func(t *testing.T) {
		d := d.again(t)
		templates := d.admin.Get("/forms/templates").Is(200).Items()
		require.Len(t, templates, 4)
		for _, template := range templates {
			f := d.admin.Post("/forms", m{"name": "From a template", "template": template["key"]}).Is(201)
			require.NotEmpty(t, f.Field("definition.elements"))
			require.Equal(t, "draft", f.Text("status"))
			d.admin.Patch("/forms/"+fmt.Sprint(f.Field("id")), m{"definition": f.Field("definition"), "status": "publish"}).Is(200)
		}
		var keys []string
		for _, e := range d.Events(proto.ContactsCommandTopic) {
			require.Equal(t, []string{proto.KindEnsureFields, "fields"}, []string{e.GetKind(), e.GetRecordId()})
			c := &proto.EnsureFields{}
			require.NoError(t, protobuf.Unmarshal(e.GetData(), c))
			for _, f := range c.GetFields() {
				require.Equal(t, "submission", f.GetEntity())
				keys = append(keys, f.GetKey())
			}
		}
		require.Equal(t, []string{"message", "message", "wanted_by", "budget", "call_time", "subject"}, keys)
	})
	t.Run("a copy is a draft of its own", func(t *testing.T) {
		d := d.again(t)
		c := d.admin.Post("/forms/"+d.form+"/duplicate", nil).Is(201)
		require.Equal(t, []string{"Contact form (copy)", "draft"}, []string{c.Text("name"), c.Text("status")})
		require.NotEqual(t, d.form, fmt.Sprint(c.Field("id")))
		require.Equal(t, d.admin.Get("/forms/"+d.form).Field("definition"), c.Field("definition"))
		d.admin.Patch("/forms/"+d.form, m{"name": strings.Repeat("é", 190)}).Is(200)
		require.Equal(t, strings.Repeat("é", 183)+" (copy)", d.admin.Post("/forms/"+d.form+"/duplicate", nil).Is(201).Text("name"))
	})
}

func TestAFieldThatIsNotThereHoldsUpNobody(t *testing.T) {
	t.Parallel()
	d := open(t)
	unknown := m{"definition": m{"elements": []any{field("a", "contact.fields.nope")}}}
	waits := true
	for try := 0; try < 5 && waits; try++ { // a busy machine may take that long for any change
		var over atomic.Bool
		refused := apptest.Aside(t, func() *apptest.Answer {
			defer over.Store(true)
			return d.admin.Patch("/forms/"+d.form, unknown)
		})
		time.Sleep(fieldArrives / 8)
		d.admin.Patch("/forms/"+d.form, m{"name": fmt.Sprint("Renamed meanwhile ", try)}).Is(200)
		waits = over.Load()
		refused().Fails(400, "svc_invalid_param")
	}
	require.False(t, waits, "the other change waits for no lock")
}

func TestAFormStandsOnPages(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("a form names the published pages that show it", func(t *testing.T) {
		d := d.again(t)
		id, err := strconv.ParseInt(d.form, 10, 64)
		require.NoError(t, err)
		shows := m{"app": "forms", "form": id}
		d.addPage(proto.KindPageCreated, 2, "publish", shows, m{"app": "forms", "form": 77})
		d.addPage(proto.KindPageCreated, 1, "publish", shows, shows)
		d.addPage(proto.KindPageCreated, 3, "draft", shows)
		d.addPage(proto.KindPageCreated, 4, "publish", m{"app": "booking"})
		used := func() any { return d.admin.Get("/forms/" + d.form).Is(200).Field("used_on") }
		page := func(id int) m {
			return m{"id": float64(id), "title": "Page", "url": fmt.Sprintf("http://localhost:8080/page-%d", id)}
		}
		until.Holds(t, func() bool { p, _ := used().([]any); return len(p) == 2 }, waiting, tick)
		require.Equal(t, []any{page(1), page(2)}, used())
		d.addPage(proto.KindPageDeleted, 2, "publish", shows)
		until.Holds(t, func() bool { p, _ := used().([]any); return len(p) == 1 }, waiting, tick)
		require.Equal(t, []any{page(1)}, d.admin.Get("/forms").Is(200).Items()[0]["used_on"])
	})
	t.Run("a form is embedded by shortcode and block", func(t *testing.T) {
		d := d.again(t)
		e := d.admin.Get("/forms/" + d.form + "/embed").Is(200)
		require.Equal(t, `[svc-form id="`+d.form+`"]`, e.Text("shortcode"))
		require.Contains(t, e.Text("block"), `<svc-form form="`+d.form+`">`)
		require.Contains(t, e.Text("block"), `src="http://localhost:8080/_ui/`)
	})
	t.Run("a form is added to a page by settings", func(t *testing.T) {
		d := d.again(t)
		d.addPage(proto.KindPageCreated, 7, "publish")
		// Settings, as far as this goes: it answers each command with the page.
		answer := func(created bool, id int64) {
			c, status := d.asked(), "publish"
			if created {
				status = "draft"
			}
			d.Send(apptest.Event{Topic: proto.PageTopic, Kind: proto.KindPageUpdated, Key: fmt.Sprint(id), Version: 50, Extra: m{"request_id": c.GetRequestId(), "created": created},
				Data: m{"id": id, "title": "Page", "slug": "page", "status": status, "content": c.GetShortcode(), "url": "http://localhost:8080/page",
					"edit_url": "http://localhost:8080/team/pages/" + fmt.Sprint(id)}})
		}
		for _, c := range []struct {
			body    m
			status  int
			created bool
			id      int64
		}{{m{"page_id": 7}, 200, false, 7}, {m{"new_page_title": "Contact"}, 201, true, 8}} {
			embedded := apptest.Aside(t, func() *apptest.Answer { return d.admin.Post("/forms/"+d.form+"/embed-in-page", c.body) })
			answer(c.created, c.id)
			a := embedded().Is(c.status)
			require.Equal(t, []any{float64(c.id), c.created}, []any{a.Field("page_id"), a.Field("created")})
			require.Contains(t, a.Text("edit_url"), "/team/pages/")
		}
		t.Run("a page that is full or deleted meanwhile is refused at once", func(t *testing.T) {
			d.addPage(proto.KindPageCreated, 9, "publish")
			for _, c := range []struct {
				status int
				code   string
				event  apptest.Event
			}{
				{409, "svc_conflict", apptest.Event{Topic: proto.PageTopic, Kind: proto.KindPageUpdated, Key: "7", Version: 50, State: true, Data: m{"id": 7, "status": "publish"}}},
				{404, "svc_not_found", apptest.Event{Topic: proto.PageTopic, Kind: proto.KindPageDeleted, Key: "9", Version: 60, Data: m{"id": 9}}},
			} {
				id, _ := strconv.Atoi(c.event.Key)
				embedded := apptest.Aside(t, func() *apptest.Answer { return d.admin.Post("/forms/"+d.form+"/embed-in-page", m{"page_id": id}) })
				asked := d.asked()
				if c.status == 409 {
					c.event.Extra = m{"request_id": asked.GetRequestId(), "created": false, "refused": "page_full"}
				}
				d.Send(c.event)
				embedded().Fails(c.status, c.code)
			}
		})
		for _, body := range []m{{}, {"page_id": 7, "new_page_title": "x"}, {"new_page_title": " "}} {
			d.admin.Post("/forms/"+d.form+"/embed-in-page", body).Fails(400, "svc_invalid_param")
		}
		d.admin.Post("/forms/"+d.form+"/embed-in-page", m{"page_id": 99}).Fails(404, "svc_not_found")
		d.admin.Post("/forms/999/embed-in-page", m{"new_page_title": "x"}).Fails(404, "svc_not_found")
		d.Role("custom", "all", auth.ViewContacts, auth.ManageForms)
		d.As("custom").Post("/forms/"+d.form+"/embed-in-page", m{"page_id": 7}).Fails(403, "svc_forbidden")
	})
}
