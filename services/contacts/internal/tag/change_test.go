package tag_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

type object = map[string]any

// tagsSettle waits until no change of a tag is under way.
func tagsSettle(t *testing.T, s *apptest.Service) {
	t.Helper()
	s.Eventually(func() bool { return count(t, s, `select count(*) from tag_change`) == 0 })
}

func count(t *testing.T, s *apptest.Service, query string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

func tagNamesOf(a *apptest.Answer) []string {
	names := []string{}
	for _, tag := range a.Is(200).Items() {
		names = append(names, tag["name"].(string))
	}
	return names
}

func TestHowATagChanges(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	t.Run("a tag is renamed on every contact", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		one := admin.Post("/contacts", object{"first_name": "One", "tags": []string{"new", "VIP"}}).Is(201).Text("id")
		gone := admin.Post("/contacts", object{"first_name": "Gone", "tags": []string{"VIP"}}).Is(201).Text("id")
		admin.Delete("/contacts/"+gone, nil).Is(204)
		other := admin.Post("/contacts", object{"first_name": "Other", "tags": []string{"new"}}).Is(201).Text("id")

		renamed := admin.Patch("/tags/vip", object{"name": " Gold  client "}).Is(200)
		require.Equal(t, []any{"Gold client", "vip"}, []any{renamed.Field("name"), renamed.Field("slug")})
		require.EqualValues(t, 2, renamed.Field("changing.contacts_left"))
		tagsSettle(t, s)
		require.Nil(t, admin.Get("/tags").Is(200).Field("items.0.changing"))

		require.Equal(t, []any{"new", "Gold client"}, admin.Get("/contacts/"+one).Is(200).Field("tags"))
		require.Equal(t, []any{"Gold client"}, admin.Get("/contacts/"+gone).Is(200).Field("tags"))
		entry := admin.Get("/contacts/" + one + "/activities").Is(200).Items()[0]
		require.Equal(t, "updated", entry["type"])
		require.Equal(t, object{"old": []any{"new", "VIP"}, "new": []any{"new", "Gold client"}}, entry["data"].(object)["tags"])
		require.EqualValues(t, admin.UserID, entry["user_id"])
		s.Settle()
		require.Equal(t, []string{proto.KindContactCreated, proto.KindContactUpdated}, s.Kinds(proto.ContactTopic, one))
		require.Equal(t, []string{proto.KindContactCreated}, s.Kinds(proto.ContactTopic, other))
		for _, e := range s.Events(proto.ContactTopic) {
			if e.GetKind() == proto.KindContactUpdated {
				require.Equal(t, []string{"tags"}, e.GetChanged())
			}
		}

		t.Run("the former name still means it", func(t *testing.T) {
			late := admin.Post("/contacts", object{"first_name": "Late", "tags": []string{"vip"}}).Is(201)
			require.Equal(t, []any{"Gold client"}, late.Field("tags"))
			require.EqualValues(t, 2, admin.Get("/contacts?tag=VIP").Is(200).Field("total"))
		})
		t.Run("the same name changes nothing", func(t *testing.T) {
			require.Nil(t, admin.Patch("/tags/vip", object{"name": "Gold client"}).Is(200).Field("changing"))
		})
		t.Run("its case changes", func(t *testing.T) {
			admin.Patch("/tags/vip", object{"name": "GOLD client"}).Is(200)
			tagsSettle(t, s)
			require.Equal(t, []any{"new", "GOLD client"}, admin.Get("/contacts/"+one).Is(200).Field("tags"))
		})
		t.Run("made anew, the name before is a tag of its own", func(t *testing.T) {
			made := admin.Post("/tags", object{"name": "VIP"}).Is(201)
			require.Equal(t, "vip-2", made.Text("slug"))
			require.Equal(t, []any{"VIP"}, admin.Post("/contacts", object{"first_name": "B", "tags": []string{"vip"}}).Is(201).Field("tags"))
			require.Equal(t, "vip-2", admin.Patch("/tags/vip", object{"name": "vip"}).Fails(409, "svc_duplicate").Text("data.id"))
		})
		admin.Patch("/tags/vip", object{"name": " "}).Fails(400, "svc_invalid_param")
		admin.Patch("/tags/nothing", object{"name": "x"}).Fails(404, "svc_not_found")
	})
	t.Run("two renames in a row and one back leave the last name", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		for _, names := range [][]string{{"B", "C"}, {"D", "C"}, {"A", "C", "A"}} {
			id := admin.Post("/contacts", object{"first_name": "N", "tags": []string{"A"}}).Is(201).Text("id")
			slug := admin.Get("/tags").Is(200).Text("items.0.slug")
			for _, name := range names {
				admin.Patch("/tags/"+slug, object{"name": name}).Is(200)
			}
			tagsSettle(t, s)
			require.Equal(t, []any{names[len(names)-1]}, admin.Get("/contacts/"+id).Is(200).Field("tags"))
		}
		require.Equal(t, []string{"A"}, tagNamesOf(admin.Get("/tags")))
	})
	t.Run("two tags become one", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		both := admin.Post("/contacts", object{"first_name": "Both", "tags": []string{"Client", "x", "Customer"}}).Is(201).Text("id")
		one := admin.Post("/contacts", object{"first_name": "One", "tags": []string{"Client"}}).Is(201).Text("id")
		require.Equal(t, "Customer", admin.Post("/tags/customer/merge", object{"other_slug": "client"}).Is(200).Text("name"))
		require.Equal(t, []string{"Customer", "x"}, tagNamesOf(admin.Get("/tags")))
		tagsSettle(t, s)
		require.Equal(t, []any{"Customer", "x"}, admin.Get("/contacts/"+both).Is(200).Field("tags"))
		require.Equal(t, []any{"Customer"}, admin.Get("/contacts/"+one).Is(200).Field("tags"))
		require.Equal(t, []any{"Customer"}, admin.Patch("/contacts/"+one, object{"tags": []string{"CLIENT"}}).Is(200).Field("tags"), "its name means the other")
		admin.Post("/tags/customer/merge", object{"other_slug": "client"}).Fails(404, "svc_not_found")
		admin.Post("/tags/customer/merge", object{"other_slug": "customer"}).Fails(400, "svc_invalid_param")
	})
	t.Run("a deleted tag is taken off every contact", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		id := admin.Post("/contacts", object{"first_name": "A", "tags": []string{"a", "Old"}}).Is(201).Text("id")
		// While somebody edits the contact the deletion is under way.
		held := s.Begin()
		_, err := held.Exec(t.Context(), `select from contact where id = $1 for update`, id)
		require.NoError(t, err)
		admin.Delete("/tags/old", nil).Is(204)
		admin.Delete("/tags/old", nil).Is(204)
		require.Equal(t, object{"deleting": true, "contacts_left": float64(1)}, admin.Get("/tags").Is(200).Field("items.1.changing"))
		require.Equal(t, []any{"b"}, admin.Post("/contacts", object{"first_name": "B", "tags": []string{"old", "b"}}).Is(201).Field("tags"))
		require.Equal(t, "deleting", admin.Post("/tags", object{"name": "old"}).Fails(409, "svc_conflict").Text("data.reason"))
		admin.Patch("/tags/old", object{"name": "New"}).Fails(409, "svc_conflict")
		admin.Post("/tags/a/merge", object{"other_slug": "old"}).Fails(409, "svc_conflict")
		require.NoError(t, held.Rollback(t.Context()))
		s.Eventually(func() bool { return slices.Equal(tagNamesOf(admin.Get("/tags")), []string{"a", "b"}) })
		require.Equal(t, []any{"a"}, admin.Get("/contacts/"+id).Is(200).Field("tags"))
		// The name is free again.
		admin.Post("/tags", object{"name": "Old"}).Is(201)
		require.Equal(t, []any{"Old"}, admin.Post("/contacts", object{"first_name": "C", "tags": []string{"old"}}).Is(201).Field("tags"))
	})
	t.Run("a tag that has to be unused is deleted while no contact has it", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		slug := admin.Post("/tags", object{"name": "Old"}).Is(201).Text("slug")
		id := admin.Post("/contacts", object{"first_name": "A", "tags": []string{"old"}}).Is(201).Text("id")
		refused := func() {
			t.Helper()
			require.Equal(t, "in_use", admin.Delete("/tags/"+slug+"?unused=true", nil).Fails(409, "svc_conflict").Text("data.reason"))
			require.Len(t, admin.Get("/tags").Is(200).Items(), 1)
		}
		refused()
		// While somebody edits the contact it has the former name.
		held := s.Begin()
		_, err := held.Exec(t.Context(), `select from contact where id = $1 for update`, id)
		require.NoError(t, err)
		admin.Patch("/tags/"+slug, object{"name": "New"}).Is(200)
		refused()
		require.NoError(t, held.Rollback(t.Context()))
		tagsSettle(t, s)
		admin.Delete("/contacts/"+id, nil).Is(204)
		refused()
		admin.Post("/contacts/"+id+"/restore", nil).Is(200)
		admin.Patch("/contacts/"+id, object{"mode": "overwrite", "tags": []string{}}).Is(200)
		admin.Delete("/tags/"+slug+"?unused=true", nil).Is(204)
		require.Empty(t, admin.Get("/tags").Is(200).Items())
		admin.Delete("/tags/"+slug+"?unused=true", nil).Fails(404, "svc_not_found")
	})
	t.Run("a contact that gets a tag keeps it, whoever deletes the tag as unused meanwhile", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		for round := range 12 {
			name := fmt.Sprint("tag ", round)
			slug := admin.Post("/tags", object{"name": name}).Is(201).Text("slug")
			var calls []func()
			for range 3 {
				calls = append(calls, func() { admin.Post("/contacts", object{"first_name": "A", "tags": []string{name}}).Is(201) })
			}
			contactstest.Together(t, append(calls, func() { admin.Delete("/tags/"+slug+"?unused=true", nil) })...)
			require.Equal(t, 3, count(t, s, `select count(*) from contact where tags = array[$1]`, name))
			require.Equal(t, 1, count(t, s, `select count(*) from tag where name = $1 and not deleting`, name))
		}
	})
	t.Run("a contact that is tagged while the tag changes gets its new name", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		for round := range 8 {
			name, next := fmt.Sprint("tag ", round), fmt.Sprint("name ", round)
			slug := admin.Post("/tags", object{"name": name}).Is(201).Text("slug")
			var calls []func()
			for range 6 {
				calls = append(calls, func() {
					admin.Post("/contacts", object{"first_name": "A", "tags": []string{name}}).Is(201)
				})
			}
			change := func() { admin.Patch("/tags/"+slug, object{"name": next}).Is(200) }
			if round%2 == 1 {
				other := admin.Post("/tags", object{"name": next}).Is(201).Text("slug")
				change = func() { admin.Post("/tags/"+other+"/merge", object{"other_slug": slug}).Is(200) }
			}
			contactstest.Together(t, append(calls, change)...)
			tagsSettle(t, s)
			require.Zero(t, count(t, s, `select count(*) from contact where tags @> array[$1]`, name))
			require.Equal(t, 6, count(t, s, `select count(*) from contact where tags = array[$1]`, next))
			require.Zero(t, count(t, s, `select count(*) from tag where name = $1`, name))
		}
	})
	t.Run("a contact whose tags cannot be changed does not keep the others from it", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		var ids []string
		for range 5 {
			ids = append(ids, admin.Post("/contacts", object{"first_name": "A", "tags": []string{"Old"}}).Is(201).Text("id"))
		}
		heal := contactstest.Refusing(t, s, "contact", "update", ids[1])
		admin.Delete("/tags/old", nil).Is(204)
		tagged := func() int { return count(t, s, `select count(*) from contact where tags <> '{}'`) }
		s.Eventually(func() bool { return tagged() == 1 })
		heal()
		s.Eventually(func() bool { return tagged() == 0 && len(tagNamesOf(admin.Get("/tags"))) == 0 })
	})
}

func TestWhoSeesOnlyTheirOwnContactsChangesNoTag(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	s.As("svc_admin").Post("/tags", object{"name": "a"}).Is(201)
	s.Role("staff", "own", "svc_view_contacts", "svc_edit_contacts", "svc_manage_crm")
	own := s.As("staff")
	for _, refused := range []*apptest.Answer{own.Patch("/tags/a", object{"name": "b"}), own.Post("/tags/a/merge", object{"other_slug": "b"}), own.Delete("/tags/a", nil)} {
		require.Equal(t, "visibility", refused.Fails(403, "svc_forbidden").Text("data.reason"))
	}
}

func TestATagOfManyContactsIsRenamedOnceEachByTwoReplicasWhoseConnectionsBreak(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin := s.As("svc_admin")
	admin.Post("/tags", object{"name": "Old"}).Is(201)
	const many = 12*50 + 1
	contactstest.Execute(t, s.Kit.DB.Pool, `insert into contact (id, first_name, tags, created_at, updated_at)
		select gen_random_uuid(), 'c' || n, '{Old}', now(), now() from generate_series(1, $1::int) n`, many)
	ctx, stop := context.WithCancel(t.Context())
	var replicas sync.WaitGroup
	defer replicas.Wait()
	defer stop()
	for _, w := range s.Parts.Workers {
		if w.Name == "changed tags" {
			replicas.Go(func() {
				for ctx.Err() == nil {
					_, _ = w.Slice(ctx) // a connection that breaks fails it
				}
			})
		}
	}
	admin.Patch("/tags/old", object{"name": "New"}).Is(200)
	// The test's own connections break as well.
	counts := func(query string) int {
		n := -1
		_ = s.Kit.DB.Pool.QueryRow(t.Context(), query).Scan(&n)
		return n
	}
	for broken := range 3 {
		s.Eventually(func() bool {
			return counts(`select count(*) from contact where tags = '{New}'`) > broken*3*50
		})
		_, _ = s.Kit.DB.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
			and (query ilike '%contact%' or query ilike '%tag_change%')`)
	}
	s.Eventually(func() bool { return counts(`select count(*) from tag_change`) == 0 })
	require.Equal(t, []int{many, many}, []int{count(t, s, `select count(*) from contact where tags = '{New}' and version = 2`), count(t, s, `select count(*) from activity where type = 'updated'`)})
	s.Settle()
	events := map[string]int{}
	for _, e := range s.Events(proto.ContactTopic) {
		if e.GetKind() == proto.KindContactUpdated {
			events[e.GetRecordId()]++
		}
	}
	require.Len(t, events, many)
}
