package contacts

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/until"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func TestCornersOfContacts(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("the tag of an overwriting import joins the tags that are there", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		admin.Post("/tags", object{"name": "VIP"}).Is(201)
		for name, c := range map[string]struct {
			csv  string
			tags []any
		}{
			"without tags in the file":   {"email,first_name\na@example.com,A\n", []any{"one", "VIP"}},
			"with tags in the file":      {"email,tags\nb@example.com,\"two,three\"\n", []any{"two", "three", "VIP"}},
			"with the tag in the file":   {"email,tags\nc@example.com,vip\n", []any{"VIP"}},
			"with a control character":   {"email,tags\nd@example.com,two\x1fthree\n", []any{"two three", "VIP"}},
			"of somebody who is not yet": {"email,tags\ne@example.com,two\x1fthree\n", []any{"two three", "VIP"}},
		} {
			t.Run(name, func(t *testing.T) {
				at := strings.Split(strings.Split(c.csv, "\n")[1], ",")[0]
				if at != "e@example.com" {
					admin.Post("/contacts", object{"email": at, "tags": []string{"one"}}).Is(201)
				}
				file := admin.Post("/imports", object{"file_name": "x", "csv": c.csv}).Is(201).Text("id")
				admin.Post("/imports/"+file+"/start", object{"options": object{"duplicates": "overwrite", "tag": "vip"}}).Is(200)
				contactstest.Finished(s, admin, file)
				require.Equal(t, c.tags, admin.Get("/contacts?search="+at).Is(200).Field("items.0.tags"))
			})
		}
	})
	t.Run("a merge is refused when a third contact has the address", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		winner := admin.Post("/contacts", object{"first_name": "Winner"}).Is(201).Text("id")
		loser := admin.Post("/contacts", object{"email": "x@example.com"}).Is(201).Text("id")
		admin.Delete("/contacts/"+loser, nil).Is(204)
		third := admin.Post("/contacts", object{"email": "x@example.com"}).Is(201).Text("id")
		a := admin.Post("/contacts/"+winner+"/merge", object{"other_id": loser}).Fails(409, "svc_duplicate")
		require.Equal(t, third, a.Text("data.id"))
		require.NotNil(t, admin.Get("/contacts/"+loser).Is(200).Field("deleted_at"), "nothing was merged")
		admin.Post("/contacts/"+third+"/merge", object{"other_id": loser}).Is(200)
	})
	t.Run("people change with their organization", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		o := admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id")
		main := admin.Post("/contacts", object{"first_name": "Main"}).Is(201).Text("id")
		other := admin.Post("/contacts", object{"first_name": "Other"}).Is(201).Text("id")
		admin.Put("/organizations/"+o+"/contacts/"+main, object{"is_primary": true}).Is(204)
		admin.Put("/organizations/"+o+"/contacts/"+other, nil).Is(204)
		published := func(id string) int { return len(s.Kinds(proto.ContactTopic, id)) }
		stamp := func() string { return admin.Get("/contacts/" + main).Is(200).Text("updated_at") }
		for _, c := range []struct {
			name   string
			change func()
			shown  any
		}{
			{"renaming", func() { admin.Patch("/organizations/"+o, object{"mode": "overwrite", "name": "New"}).Is(200) }, "New"},
			{"trashing", func() { admin.Delete("/organizations/"+o, nil).Is(204) }, nil},
			{"restoring", func() { admin.Post("/organizations/"+o+"/restore", nil).Is(200) }, "New"},
		} {
			t.Run(c.name, func(t *testing.T) {
				before, events, others := stamp(), published(main), published(other)
				nextSecond(t, s)
				c.change()
				require.Greater(t, stamp(), before)
				require.Equal(t, events+1, published(main))
				require.Equal(t, others, published(other), "the link of the other is not the main one")
				require.Equal(t, c.shown, admin.Get("/contacts/"+main).Is(200).Field("organization.name"))
			})
		}
		before := published(main)
		admin.Patch("/organizations/"+o, object{"mode": "overwrite", "name": "New", "city": "Ghent"}).Is(200)
		require.Equal(t, before, published(main), "a city is not shown with people")
	})
	t.Run("a link to confirm ends with every unsubscribing", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, visitor := s.As("svc_admin"), s.Visitor()
		id := admin.Post("/contacts", object{"email": "a@example.com"}).Is(201).Text("id")
		admin.Post("/contacts/"+id+"/marketing/request", nil).Is(200)
		token := tokenIn(t, mails(t, s, "a@example.com", "marketing.confirm")[0], "/marketing/confirm")
		// The contact was unsubscribed again while the mail was on its way.
		_, err := s.Kit.DB.Pool.Exec(t.Context(), `update contact set marketing = 'unsubscribed' where id = $1`, id)
		require.NoError(t, err)
		admin.Post("/contacts/"+id+"/marketing/unsubscribe", nil).Is(200)
		visitor.Post("/marketing/confirm", object{"token": token}).Fails(410, "svc_token_expired")

		// Another contact, in the trash meanwhile, was asked at the same address.
		first := admin.Post("/contacts", object{"email": "b@example.com"}).Is(201).Text("id")
		admin.Post("/contacts/"+first+"/marketing/request", nil).Is(200)
		token = tokenIn(t, mails(t, s, "b@example.com", "marketing.confirm")[0], "/marketing/confirm")
		admin.Delete("/contacts/"+first, nil).Is(204)
		second := admin.Post("/contacts", object{"email": "b@example.com"}).Is(201).Text("id")
		admin.Post("/contacts/"+second+"/marketing/unsubscribe", nil).Is(200)
		admin.Patch("/contacts/"+second, object{"mode": "overwrite", "email": "c@example.com"}).Is(200)
		admin.Post("/contacts/"+first+"/restore", nil).Is(200)
		visitor.Post("/marketing/confirm", object{"token": token}).Fails(410, "svc_token_expired")
	})
	t.Run("a tag keeps its signs wherever it comes from", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		tags := []any{`a"b`, `back\slash`, `one, two {three}`, "null", `"`, `\`, "{}"}
		id := admin.Post("/contacts", object{"email": "a@example.com", "tags": tags}).Is(201).Text("id")
		require.Equal(t, tags, admin.Get("/contacts/"+id).Is(200).Field("tags"))
		batch := admin.Post("/contacts/batch", object{"items": []object{{"email": "b@example.com", "tags": tags}}})
		require.Equal(t, tags, batch.Field("items.0.contact.tags"))
		require.Equal(t, tags, admin.Get("/contacts?search=b@example.com").Is(200).Field("items.0.tags"))
		file := admin.Post("/imports", object{"file_name": "x", "csv": "email,tags\nc@example.com,\"a\"\"b,back\\slash,{}\"\n"}).Is(201).Text("id")
		admin.Post("/imports/"+file+"/start", nil).Is(200)
		contactstest.Finished(s, admin, file)
		require.Equal(t, []any{`a"b`, `back\slash`, "{}"}, admin.Get("/contacts?search=c@example.com").Is(200).Field("items.0.tags"))
	})
	t.Run("tags that differ in more than case and spaces are two", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		require.Equal(t, "a", admin.Post("/tags", object{"name": "A+"}).Is(201).Text("slug"))
		minus := admin.Post("/tags", object{"name": "A-"}).Is(201)
		require.Equal(t, "A-", minus.Text("name"))
		require.Equal(t, "a-2", minus.Text("slug"))
		require.Equal(t, "A+", admin.Post("/tags", object{"name": " a+ "}).Is(200).Text("name"))
		require.Equal(t, "a-2", admin.Post("/tags", object{"name": "a-"}).Is(200).Text("slug"))
		admin.Post("/tags", object{"name": "New client"}).Is(201)
		require.Equal(t, "New client", admin.Post("/tags", object{"name": "new-CLIENT"}).Is(200).Text("name"))
		id := admin.Post("/contacts", object{"first_name": "A", "tags": []string{"a-", "A+", "été"}}).Is(201).Text("id")
		require.Equal(t, []any{"A-", "A+", "été"}, admin.Get("/contacts/"+id).Is(200).Field("tags"))
		plus := admin.Post("/contacts", object{"first_name": "B", "tags": []string{"A+"}}).Is(201).Text("id")
		for query, want := range map[string][]string{
			"A-": {id}, "a-2": {id}, "a%2B": {plus, id}, "a": {plus, id}, "ETE": {id}, "a--": {}, "b": {},
			"a-&updated_since=2020-01-01T00:00:00Z": {id},
		} {
			got := []string{}
			for _, c := range admin.Get("/contacts?tag=" + query).Is(200).Items() {
				got = append(got, c["id"].(string))
			}
			require.Equal(t, want, got, query)
		}
	})
	t.Run("a merge and what is filed under the ids wait for each other in one order", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		winner := admin.Post("/contacts", object{"first_name": "W"}).Is(201).Text("id")
		loser := admin.Post("/contacts", object{"first_name": "L"}).Is(201).Text("id")
		// A consumer that has locked the id goes on to the contact while the merge runs.
		held := s.Begin()
		_, err := held.Exec(t.Context(), `select pg_advisory_xact_lock_shared($1)`, db.LockKey("contacts.alias", uuid.MustParse(loser)))
		require.NoError(t, err)
		merged := apptest.Aside(t, func() *apptest.Answer { return admin.Post("/contacts/"+winner+"/merge", object{"other_id": loser}) })
		s.Waiting(1)
		_, err = held.Exec(t.Context(), `set local lock_timeout = '500ms'; update contact set last_activity = now() where id = '`+loser+`'`)
		require.NoError(t, err, "the merge has the contact already")
		require.NoError(t, held.Commit(t.Context()))
		merged().Is(200)
	})
}

// peopleSlice is how many people of an organization one transaction publishes.
const peopleSlice = 200

func TestManyPeopleChangeWithTheirOrganizationInSlices(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	o := admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id")
	const people = 2*peopleSlice + 50
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `
		with made as (insert into contact (id, first_name, created_at, updated_at) select gen_random_uuid(), 'P', now(), now() from generate_series(1, $2) returning id)
		insert into contact_organization (contact_id, organization_id, is_primary, created_at) select id, $1, true, now() from made`, o, people)
	require.NoError(t, err)
	admin.Delete("/organizations/"+o, nil).Is(204)
	until.Holds(t, func() bool {
		var left int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from contact where version < 2`).Scan(&left))
		return left == 0
	}, 10*time.Second, 50*time.Millisecond)
	seen := map[string]int{}
	for _, e := range s.Events(proto.ContactTopic) {
		require.Equal(t, admin.UserID, e.GetActor().GetUserId(), "in the name of who changed the organization")
		seen[e.GetRecordId()]++
	}
	require.Len(t, seen, people)
}
