package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/view"
)

type object = map[string]any

// start starts the room alone. The callers of the tests are users.
func start(t *testing.T, callers ...string) (*apptest.Service, []*apptest.Client) {
	t.Helper()
	s := apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		r := view.New(k)
		r.Operations(set)
		return []app.Room{{Name: "view", Parts: r.Parts()}}
	})
	var all []*apptest.Client
	for _, role := range callers {
		c := s.As(role)
		_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into person (id, login, name, email, roles, created_at, updated_at) overriding system value
			values ($1, $2, $2, $2 || '@example.com', '{}', now(), now())`, c.UserID, fmt.Sprint("user", c.UserID))
		require.NoError(t, err)
		all = append(all, c)
	}
	return s, all
}

func names(a *apptest.Answer) []any {
	all := []any{}
	for _, v := range a.Is(200).Items() {
		all = append(all, v["name"])
	}
	return all
}

func TestViewsAreOnesOwnAndThoseThatAreShared(t *testing.T) {
	t.Parallel()
	_, c := start(t, "svc_admin", "staff", "staff")
	admin, ann, bob := c[0], c[1], c[2]
	made := ann.Post("/views", object{"entity": "contacts", "name": " Customers of mine ", "query": object{"status": "customer", "sort": "name", "deleted": true}, "columns": []string{"email", "owner"}}).Is(201)
	id := made.Text("id")
	require.Equal(t, []any{"contacts", "Customers of mine", false, 0.0, float64(ann.UserID), object{"status": "customer", "sort": "name", "deleted": true}, []any{"email", "owner"}},
		[]any{made.Field("entity"), made.Field("name"), made.Field("shared"), made.Field("position"), made.Field("user_id"), made.Field("query"), made.Field("columns")})

	ann.Post("/views", object{"entity": "contacts", "name": "x", "shared": true}).Fails(403, "svc_forbidden")
	shared := admin.Post("/views", object{"entity": "contacts", "name": "All", "shared": true, "position": 1}).Is(201).Text("id")
	ann.Post("/views", object{"entity": "submissions", "name": "Spam", "query": object{"status": "spam"}}).Is(201)
	require.Equal(t, []any{"Customers of mine", "Spam", "All"}, names(ann.Get("/views")))
	require.Equal(t, []any{"Customers of mine", "All"}, names(ann.Get("/views?entity=contacts")))
	require.Equal(t, []any{"All"}, names(bob.Get("/views")))
	ann.Get("/views?entity=tasks").Fails(400, "svc_invalid_param")

	for _, other := range []*apptest.Client{bob, admin} {
		other.Get("/views/"+id).Fails(404, "svc_not_found")
		other.Patch("/views/"+id, object{"name": "Mine"}).Fails(404, "svc_not_found")
		other.Delete("/views/"+id, nil).Fails(404, "svc_not_found")
	}
	require.Equal(t, "All", bob.Get("/views/"+shared).Is(200).Text("name"))
	bob.Patch("/views/"+shared, object{"name": "Mine"}).Fails(403, "svc_forbidden")
	bob.Delete("/views/"+shared, nil).Fails(403, "svc_forbidden")
	ann.Patch("/views/"+id, object{"shared": true}).Fails(403, "svc_forbidden")

	require.Equal(t, "Customers", ann.Patch("/views/"+id, object{"name": "Customers", "query": object{}}).Is(200).Text("name"))
	require.Equal(t, object{}, ann.Get("/views/"+id).Is(200).Field("query"))
	ann.With("If-Match", `"1"`).Patch("/views/"+id, object{"name": "Late"}).Fails(412, "svc_version_mismatch")
	ann.Delete("/views/"+id, nil).Is(204)
	ann.Get("/views/"+id).Fails(404, "svc_not_found")
}

func TestASharedViewIsChangedByItsOwnerAndByManagers(t *testing.T) {
	t.Parallel()
	_, c := start(t, "svc_admin", "site_admin", "staff")
	owner, manager, staff := c[0], c[1], c[2]
	id := owner.Post("/views", object{"entity": "appointments", "name": "Requests", "query": object{"status": []string{"pending"}, "staff": 7}, "shared": true}).Is(201).Text("id")
	require.Equal(t, "To answer", manager.Patch("/views/"+id, object{"name": "To answer"}).Is(200).Text("name"))
	require.EqualValues(t, owner.UserID, staff.Get("/views/"+id).Is(200).Field("user_id"))
	require.Equal(t, false, manager.Patch("/views/"+id, object{"shared": false}).Is(200).Field("shared"))
	manager.Get("/views/"+id).Fails(404, "svc_not_found")
	owner.Patch("/views/"+id, object{"shared": true}).Is(200)
	manager.Delete("/views/"+id, nil).Is(204)
}

func TestAViewKeepsOnlyParametersOfItsList(t *testing.T) {
	t.Parallel()
	_, c := start(t, "svc_admin")
	for _, bad := range []struct {
		view object
		at   string
	}{
		{object{"entity": "contacts", "query": object{"colour": "red"}}, "query.colour"},
		{object{"entity": "contacts", "query": object{"cursor": "x"}}, "query.cursor"},
		{object{"entity": "organizations", "query": object{"tag": "VIP"}}, "query.tag"},
		{object{"entity": "contacts", "query": object{"tag": object{"a": "b"}}}, "query.tag"},
		{object{"entity": "contacts", "query": object{"tag": nil}}, "query.tag"},
		{object{"entity": "contacts", "query": object{"tag": strings.Repeat("x", 201)}}, "query.tag"},
		{object{"entity": "appointments", "query": object{"status": []any{1}}}, "query.status"},
		{object{"entity": "contacts", "name": "  "}, "name"},
		{object{"entity": "contacts", "name": strings.Repeat("x", 61)}, "name"},
		{object{"entity": "contacts", "columns": []string{""}}, "columns.0"},
		{object{"entity": "tasks"}, "entity"},
		{object{"entity": "contacts", "position": -1}, "position"},
	} {
		if bad.view["name"] == nil {
			bad.view["name"] = "A view"
		}
		refused := c[0].Post("/views", bad.view).Fails(400, "svc_invalid_param")
		require.Contains(t, refused.Field("data.details"), bad.at)
	}
	id := c[0].Post("/views", object{"entity": "organizations", "name": "One"}).Is(201).Text("id")
	c[0].Patch("/views/"+id, object{"query": object{"tag": "VIP"}}).Fails(400, "svc_invalid_param")
	c[0].Patch("/views/"+id, object{"entity": "contacts"}).Fails(400, "svc_invalid_param")
}

func TestAPersonHasFiftyViewsAtMost(t *testing.T) {
	t.Parallel()
	s, c := start(t, "staff", "staff")
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into saved_view (id, entity, name, query, columns, shared, position, user_id, created_at, updated_at)
		select gen_random_uuid(), 'contacts', 'n', '{}', '{}', false, 0, $1, now(), now() from generate_series(1, 49)`, c[0].UserID)
	require.NoError(t, err)
	c[0].Post("/views", object{"entity": "contacts", "name": "The last"}).Is(201)
	require.Equal(t, "too_many", c[0].Post("/views", object{"entity": "contacts", "name": "One more"}).Fails(409, "svc_conflict").Text("data.reason"))
	c[1].Post("/views", object{"entity": "contacts", "name": "Of somebody else"}).Is(201)
}

func TestWhoLeavesTakesPrivateViewsAlongAndHandsOverSharedOnes(t *testing.T) {
	t.Parallel()
	s, c := start(t, "svc_admin", "site_admin")
	leaver, successor := c[0], c[1]
	private := leaver.Post("/views", object{"entity": "contacts", "name": "Private"}).Is(201).Text("id")
	shared := leaver.Post("/views", object{"entity": "contacts", "name": "Shared", "shared": true}).Is(201).Text("id")
	leave := func(who, to int64) {
		require.NoError(t, s.Kit.DB.Do(t.Context(), func(tx *db.Tx) error { return view.Leave(t.Context(), tx, who, to) }))
	}
	leave(leaver.UserID, successor.UserID)
	leaver.Get("/views/"+private).Fails(404, "svc_not_found")
	require.EqualValues(t, successor.UserID, leaver.Get("/views/"+shared).Is(200).Field("user_id"))
	leave(successor.UserID, 4711)
	require.Nil(t, leaver.Get("/views/"+shared).Is(200).Field("user_id"))
	require.Equal(t, "no_owner", leaver.Patch("/views/"+shared, object{"shared": false}).Fails(409, "svc_conflict").Text("data.reason"))
	leaver.Delete("/views/"+shared, nil).Is(204)
}

func TestAViewThatNamesAnErasedPersonGoes(t *testing.T) {
	t.Parallel()
	s, c := start(t, "svc_admin")
	person := uuid.New()
	for name, v := range map[string]object{
		"by id":           {"entity": "submissions", "query": object{"contact": person}},
		"by address":      {"entity": "contacts", "query": object{"search": "Ann.Visitor@Example.com"}},
		"by name":         {"entity": "contacts", "query": object{"search": "Ann Visitor"}},
		"ann@example.com": {"entity": "contacts", "query": object{"search": "somebody@example.com"}},
		"of nobody":       {"entity": "contacts", "query": object{"search": "visitor", "status": "lead"}},
	} {
		v["name"] = strings.Replace(name, "ann@", "ann.visitor@", 1)
		c[0].Post("/views", v).Is(201)
	}
	s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "ann", Data: &proto.ForgetPerson{Ids: []string{person.String()},
		Called: [][]byte{s.Kit.Keys.Person("ann.visitor@example.com"), s.Kit.Keys.Person("Ann Visitor")}}})
	s.Settle()
	require.Equal(t, []any{"of nobody"}, names(c[0].Get("/views")))
}
