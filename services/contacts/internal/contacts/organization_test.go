package contacts

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func TestWhatAnOrganizationIs(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("it changes when one of its people goes or comes back", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		contact := func(email string) string { return admin.Post("/contacts", object{"email": email}).Is(201).Text("id") }
		one, two, three := contact("one@example.com"), contact("two@example.com"), contact("three@example.com")
		o := admin.Post("/organizations", object{"name": "O"}).Is(201).Text("id")
		for _, id := range []string{one, two, three} {
			admin.Put("/organizations/"+o+"/contacts/"+id, nil).Is(204)
		}
		tag := func() string { return admin.Get("/organizations/" + o).Is(200).Header.Get("ETag") }
		for _, c := range []struct {
			name   string
			change func()
			count  int
		}{
			{"the trash", func() { admin.Delete("/contacts/"+one, nil).Is(204) }, 2},
			{"restoring", func() { admin.Post("/contacts/"+one+"/restore", nil).Is(200) }, 3},
			{"a merge", func() { admin.Post("/contacts/"+one+"/merge", object{"other_id": two}).Is(200) }, 2},
			{"an erasure", func() { admin.Post("/privacy/erase", object{"email": "three@example.com"}).Is(200) }, 1},
		} {
			before, events := tag(), len(s.Kinds(proto.OrganizationTopic, o))
			c.change()
			s.Settle()
			require.NotEqual(t, before, tag(), c.name)
			require.Len(t, s.Kinds(proto.OrganizationTopic, o), events+1, c.name)
			e := s.Events(proto.OrganizationTopic)
			require.Contains(t, string(e[len(e)-1].GetData()), fmt.Sprintf(`"contacts_count":%d`, c.count), c.name)
			require.Equal(t, []string{"contacts_count"}, e[len(e)-1].GetChanged(), c.name)
		}
		// A merge with somebody in the trash brings one more.
		trashed := contact("trashed@example.com")
		other := admin.Post("/organizations", object{"name": "Other"}).Is(201).Text("id")
		admin.Put("/organizations/"+other+"/contacts/"+trashed, nil).Is(204)
		admin.Delete("/contacts/"+trashed, nil).Is(204)
		before := len(s.Kinds(proto.OrganizationTopic, other))
		admin.Post("/contacts/"+one+"/merge", object{"other_id": trashed}).Is(200)
		s.Settle()
		require.Len(t, s.Kinds(proto.OrganizationTopic, other), before+1)
		require.EqualValues(t, 1, admin.Get("/organizations/"+other).Is(200).Field("contacts_count"))
	})
	t.Run("an organization is stored in its form", func(t *testing.T) {
		contactstest.Afresh(t, s)
		s.SetSite("general", object{"country": "BE"})
		admin := s.As("svc_admin")
		o := admin.Post("/organizations", object{"name": " Bakkerij  Peeters BV", "vat_number": "be 0123.456.789", "phone": "02 555 12 12",
			"website": "peeters.be", "country": "be", "city": "Liège"}).Is(201)
		require.Equal(t, "Bakkerij Peeters BV", o.Text("name"))
		require.Equal(t, "BE0123456789", o.Text("vat_number"))
		require.Equal(t, "+3225551212", o.Text("phone"))
		require.Equal(t, "https://peeters.be", o.Text("website"))
		require.Equal(t, "BE", o.Text("country"))
		id := o.Text("id")
		require.Equal(t, o.Map(), admin.Get("/organizations/"+id).Is(200).Map())
		for _, q := range []string{"peeters", "liege", "0123456", "BAKK peet"} {
			require.Len(t, admin.Get("/organizations?search="+url.QueryEscape(q)).Is(200).Items(), 1, q)
		}
		require.Empty(t, admin.Get("/organizations?search=nobody").Is(200).Items())
		require.Empty(t, admin.Get("/organizations?owner=5").Is(200).Items())

		admin.Post("/organizations", object{"name": " "}).Fails(400, "svc_invalid_param")
		admin.Post("/organizations", object{"name": "A", "country": "ZZ"}).Fails(400, "svc_invalid_param")
		admin.Post("/organizations", object{"name": "A", "website": "javascript:alert(1)"}).Fails(400, "svc_invalid_param")
		admin.Patch("/organizations/"+id, object{"name": "Other", "city": "Gent", "address_line": "Markt 1"}).Is(200)
		o = admin.Get("/organizations/" + id).Is(200)
		require.Equal(t, "Bakkerij Peeters BV", o.Text("name"))
		require.Equal(t, "Liège", o.Text("city"))
		require.Equal(t, "Markt 1", o.Text("address_line"))
		o = admin.Patch("/organizations/"+id, object{"mode": "overwrite", "city": "Gent", "address_line": nil}).Is(200)
		require.Equal(t, "Gent", o.Text("city"))
		require.Equal(t, "", o.Text("address_line"))

		admin.Delete("/organizations/"+id, nil).Is(204)
		require.Empty(t, admin.Get("/organizations").Is(200).Items())
		require.Equal(t, id, admin.Get("/organizations?deleted=true&search=peeters").Is(200).Text("items.0.id"))
		admin.Patch("/organizations/"+id, object{"city": "X"}).Fails(409, "svc_invalid_status")
		admin.Post("/organizations/"+id+"/restore", nil).Is(200)
		admin.Post("/organizations/"+id+"/restore", nil).Fails(409, "svc_invalid_status")
		require.EqualValues(t, 0, admin.Get("/organizations?deleted=true").Is(200).Field("total"))
		require.Equal(t, []string{proto.KindOrganizationCreated, proto.KindOrganizationUpdated, proto.KindOrganizationUpdated, proto.KindOrganizationDeleted, proto.KindOrganizationRestored},
			s.Kinds(proto.OrganizationTopic, id))
	})
	t.Run("people are linked with organizations", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, own := s.As("svc_admin"), s.As("staff")
		ann := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
		bob := own.Post("/contacts", object{"first_name": "Bob"}).Is(201).Text("id")
		one := admin.Post("/organizations", object{"name": "One"}).Is(201).Text("id")
		two := admin.Post("/organizations", object{"name": "Two"}).Is(201).Text("id")
		admin.Put("/organizations/"+one+"/contacts/"+ann, object{"role": "Owner", "is_primary": true}).Is(204)
		admin.Put("/organizations/"+one+"/contacts/"+bob, nil).Is(204)
		require.Equal(t, object{"id": one, "name": "One", "role": "Owner"}, admin.Get("/contacts/"+ann).Is(200).Field("organization"))
		admin.Put("/organizations/"+two+"/contacts/"+ann, object{"is_primary": true}).Is(204)
		require.Equal(t, object{"id": two, "name": "Two", "role": ""}, admin.Get("/contacts/"+ann).Is(200).Field("organization"))
		require.Equal(t, []any{object{"id": two, "name": "Two", "role": "", "is_primary": true, "version": 3.0}, object{"id": one, "name": "One", "role": "Owner", "is_primary": false, "version": 3.0}},
			admin.Get("/contacts/"+ann+"/organizations").Is(200).Field("items"))
		require.Len(t, admin.Get("/contacts?organization="+one).Is(200).Items(), 2)

		require.Len(t, admin.Get("/organizations/"+one+"/contacts").Is(200).Items(), 2)
		require.EqualValues(t, 2, admin.Get("/organizations/"+one).Is(200).Field("contacts_count"))
		require.Equal(t, []any{object{"id": bob, "name": "Bob", "role": "", "is_primary": false, "version": 2.0}}, own.Get("/organizations/"+one+"/contacts").Is(200).Field("items"))
		require.EqualValues(t, 1, own.Get("/organizations/"+one).Is(200).Field("contacts_count"))
		require.EqualValues(t, 1, own.Get("/organizations").Is(200).Field("items.1.contacts_count"))
		own.Put("/organizations/"+one+"/contacts/"+ann, object{"role": "x"}).Fails(404, "svc_not_found")

		// The timeline has entries about both, and about the people that the caller may see.
		admin.Post("/contacts/"+bob+"/notes", object{"body": "hello"}).Is(201)
		timeline := admin.Get("/organizations/" + one + "/activities").Is(200)
		require.Equal(t, object{"id": bob, "name": "Bob"}, timeline.Field("items.0.contact"))
		types := []any{}
		for _, e := range timeline.Items() {
			types = append(types, e["type"])
		}
		require.ElementsMatch(t, []any{"note", "linked", "linked", "linked", "created", "created", "created"}, types, "one of the links is Ann's with Two")
		require.EqualValues(t, len(types), timeline.Field("total"))
		for _, e := range own.Get("/organizations/" + one + "/activities").Is(200).Items() {
			if e["contact"] != nil {
				require.Equal(t, bob, e["contact"].(object)["id"])
			}
		}
		seen := 0
		for next := "/organizations/" + one + "/activities?per_page=2"; ; {
			a := admin.Get(next).Is(200)
			seen += len(a.Items())
			if a.Field("next_cursor") == nil {
				break
			}
			next = "/organizations/" + one + "/activities?per_page=2&cursor=" + a.Text("next_cursor")
		}
		require.Equal(t, len(types), seen)

		admin.Delete("/organizations/"+one+"/contacts/"+ann, nil).Is(204)
		admin.Delete("/organizations/"+one+"/contacts/"+ann, nil).Fails(404, "svc_not_found")
		require.Equal(t, "unlinked", admin.Get("/contacts/"+ann+"/activities").Is(200).Text("items.0.type"))
		require.Equal(t, "unlinked", admin.Get("/organizations/"+one+"/activities").Is(200).Text("items.0.type"))
		admin.Delete("/organizations/"+two, nil).Is(204)
		require.Nil(t, admin.Get("/contacts/"+ann).Is(200).Field("organization"))
	})
	t.Run("similar organizations are found", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		one := admin.Post("/organizations", object{"name": "Café Noir BV", "vat_number": "BE 0123.456.789", "email": "x@noir.be"}).Is(201).Text("id")
		two := admin.Post("/organizations", object{"name": "CAFE NOIR, nv"}).Is(201).Text("id")
		three := admin.Post("/organizations", object{"name": "Black", "vat_number": "be0123456789"}).Is(201).Text("id")
		found := admin.Post("/organizations/duplicates", object{"name": "cafe noir gmbh", "email": "X@noir.be"}).Is(200)
		require.Equal(t, []any{object{"id": one, "name": "Café Noir BV", "reasons": []any{"name", "email"}},
			object{"id": two, "name": "CAFE NOIR, nv", "reasons": []any{"name"}}}, found.Field("items"))
		require.Empty(t, admin.Post("/organizations/duplicates", object{}).Is(200).Items())
		pairs := admin.Get("/organizations/possible-duplicates").Is(200)
		require.EqualValues(t, 2, pairs.Field("total"))
		require.Equal(t, []any{"name"}, pairs.Field("items.0.reasons"))
		require.Equal(t, one, pairs.Text("items.0.organizations.0.id"))
		require.Equal(t, three, pairs.Text("items.1.organizations.1.id"))
		admin.Post("/organizations/"+two+"/not-duplicate", object{"other_id": one}).Is(204)
		admin.Post("/organizations/"+one+"/not-duplicate", object{"other_id": two}).Is(204)
		admin.Post("/organizations/"+one+"/not-duplicate", object{"other_id": one}).Fails(400, "svc_invalid_param")
		admin.Post("/organizations/"+one+"/not-duplicate", object{"other_id": uuid.NewString()}).Fails(404, "svc_not_found")
		require.EqualValues(t, 1, admin.Get("/organizations/possible-duplicates").Is(200).Field("total"))
		admin.Delete("/organizations/"+three, nil).Is(204)
		require.EqualValues(t, 0, admin.Get("/organizations/possible-duplicates").Is(200).Field("total"))
	})
	t.Run("organizations merge", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		one := admin.Post("/organizations", object{"name": "One", "city": "Gent"}).Is(201).Text("id")
		two := admin.Post("/organizations", object{"name": "Two", "city": "Aalst", "phone": "123"}).Is(201).Text("id")
		ann := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
		bob := admin.Post("/contacts", object{"first_name": "Bob"}).Is(201).Text("id")
		admin.Put("/organizations/"+one+"/contacts/"+ann, nil).Is(204)
		admin.Put("/organizations/"+two+"/contacts/"+ann, object{"role": "CEO", "is_primary": true}).Is(204)
		admin.Put("/organizations/"+two+"/contacts/"+bob, object{"is_primary": true}).Is(204)
		admin.Post("/organizations/"+one+"/merge", object{"other_id": one}).Fails(400, "svc_invalid_param")
		admin.Post("/organizations/"+one+"/merge", object{"other_id": uuid.NewString()}).Fails(404, "svc_not_found")
		o := admin.Post("/organizations/"+one+"/merge", object{"other_id": two}).Is(200)
		require.Equal(t, "Gent", o.Text("city"))
		require.Equal(t, "123", o.Text("phone"))
		require.EqualValues(t, 2, o.Field("contacts_count"))
		admin.Get("/organizations/"+two).Fails(404, "svc_not_found")
		require.Equal(t, object{"id": one, "name": "One", "role": "CEO"}, admin.Get("/contacts/"+ann).Is(200).Field("organization"))
		require.Equal(t, object{"id": one, "name": "One", "role": ""}, admin.Get("/contacts/"+bob).Is(200).Field("organization"))
		entry := admin.Get("/organizations/" + one + "/activities").Is(200).Items()[0]
		require.Equal(t, "merged", entry["type"])
		require.Equal(t, object{"name": "Two", "city": "Aalst"}, entry["data"].(object)["values"])
		kinds := s.Kinds(proto.OrganizationTopic, one)
		require.Equal(t, proto.KindOrganizationMerged, kinds[len(kinds)-1])
		kinds = s.Kinds(proto.OrganizationTopic, two)
		require.Equal(t, "tombstone", kinds[len(kinds)-1])
	})
	t.Run("a visitor names an organization", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		m := &proto.EnsureContact{Email: "ann@example.com", Create: true, OrganizationName: "Noir bv", Organization: []byte(`{"city": "Gent", "country": "be", "website": "no website at all"}`)}
		ensure(s, m)
		c := admin.Get("/contacts/" + m.ContactId).Is(200)
		require.Equal(t, "Noir bv", c.Text("organization.name"))
		id := c.Text("organization.id")
		ensure(s, &proto.EnsureContact{Email: "bob@example.com", Create: true, OrganizationName: "NOIR", Organization: []byte(`{"city": "Aalst", "postal_code": "9000"}`)})
		o := admin.Get("/organizations/" + id).Is(200)
		require.Equal(t, "Gent", o.Text("city"))
		require.Equal(t, "9000", o.Text("postal_code"))
		require.EqualValues(t, 2, o.Field("contacts_count"))
		require.Len(t, admin.Get("/organizations").Is(200).Items(), 1)
	})
	t.Run("the total of a list of organizations follows each change", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, staff := s.As("svc_admin"), s.As("staff")
		var ids []string
		for _, name := range []string{"Anchor", "Bakery", "Cellar", "Dairy"} {
			ids = append(ids, admin.Post("/organizations", object{"name": name, "owner_user_id": staff.UserID}).Is(201).Text("id"))
		}
		totals := func() (all []any) {
			for _, query := range []string{"", "&owner=" + fmt.Sprint(staff.UserID), "&deleted=true", "&deleted=true&owner=" + fmt.Sprint(staff.UserID), "&search=a", "&updated_since=2020-01-01T00:00:00Z"} {
				list := admin.Get("/organizations?per_page=100" + query).Is(200)
				require.EqualValues(t, len(list.Items()), list.Field("total"), query)
				all = append(all, list.Field("total"))
			}
			return all
		}
		require.EqualValues(t, []any{4., 4., 0., 0., 4., 4.}, totals())
		admin.Patch("/organizations/"+ids[0], object{"mode": "overwrite", "owner_user_id": nil}).Is(200)
		require.EqualValues(t, []any{4., 3., 0., 0., 4., 4.}, totals())
		admin.Delete("/organizations/"+ids[1], nil).Is(204)
		require.EqualValues(t, []any{3., 2., 1., 1., 3., 3.}, totals())
		require.NoError(t, s.Kit.DB.AddUpCounts(t.Context()))
		admin.Post("/organizations/"+ids[1]+"/restore", nil).Is(200)
		require.EqualValues(t, []any{4., 3., 0., 0., 4., 4.}, totals())
		admin.Post("/organizations/"+ids[2]+"/merge", object{"other_id": ids[3]}).Is(200)
		require.EqualValues(t, []any{3., 2., 0., 0., 3., 3.}, totals())
	})
}
