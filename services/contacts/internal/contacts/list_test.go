package contacts

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/services/contacts/contactstest"
)

func TestListsFindWhatPeopleAskFor(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	t.Run("contacts of a tag that is being renamed or merged are found by every name", func(t *testing.T) {
		contactstest.Afresh(t, s)
		for i := range 3 {
			admin.Post("/contacts", object{"first_name": fmt.Sprint("Ann ", i), "tags": []string{"VIP"}}).Is(201)
		}
		// The worker passes contacts that somebody works on.
		held := s.Begin()
		_, err := held.Exec(t.Context(), `select from contact where first_name <> 'Ann 0' for update`)
		require.NoError(t, err)
		admin.Patch("/tags/vip", object{"name": "Gold"}).Is(200)
		s.Eventually(func() bool {
			return admin.Get("/contacts?search=ann%200").Is(200).Field("items.0.tags").([]any)[0] == "Gold"
		})
		for _, name := range []string{"VIP", "Gold", "vip"} {
			for _, with := range []string{"", "&search=ann"} {
				require.EqualValues(t, 3, admin.Get("/contacts?tag="+name+with).Is(200).Field("total"), name+with)
			}
		}
		require.NoError(t, held.Rollback(t.Context()))
	})
	t.Run("a VAT number is found as it is written", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin.Post("/organizations", object{"name": "Acme", "vat_number": "BE 0123.456.789"}).Is(201)
		admin.Post("/organizations", object{"name": "Other", "vat_number": "BE0987654321"}).Is(201)
		for _, search := range []string{"BE%200123.456.789", "0123.456.789", "BE0123.456.789", "be0123456789", "0123%20456%20789"} {
			found := admin.Get("/organizations?search=" + search).Is(200)
			require.Equal(t, []any{1.0, "Acme"}, []any{found.Field("total"), found.Field("items.0.name")}, search)
		}
	})
	t.Run("the last place in a list keeps nothing out", func(t *testing.T) {
		contactstest.Afresh(t, s)
		id := admin.Post("/fields", object{"entity": "contact", "type": "text", "label": "A"}).Is(201).Text("id")
		admin.Patch("/fields/"+id, object{"sort_order": 2147483647}).Is(200)
		admin.Post("/fields", object{"entity": "contact", "type": "text", "label": "B"}).Is(201)
		group := admin.Post("/field-groups", object{"entity": "contact", "label": "A"}).Is(201).Text("id")
		admin.Patch("/field-groups/"+group, object{"sort_order": 2147483647}).Is(200)
		admin.Post("/field-groups", object{"entity": "contact", "label": "B"}).Is(201)
	})
	t.Run("sources are sorted as people sort", func(t *testing.T) {
		contactstest.Afresh(t, s)
		for _, source := range []string{"Zaal", "École", "beurs"} {
			admin.Post("/contacts", object{"first_name": "x", "source": source}).Is(201)
		}
		require.Equal(t, `["beurs","École","Zaal"]`, fmt.Sprintf(`["%s","%s","%s"]`, admin.Get("/contacts/sources").Is(200).Field("items").([]any)...))
	})
	t.Run("five thousand organizations of one name are listed in time", func(t *testing.T) {
		contactstest.Afresh(t, s)
		contactstest.Execute(t, s.Kit.DB.Pool, `insert into organization (id, name, name_key, created_at, updated_at)
			select gen_random_uuid(), 'Particulier', 'particulier', now() + n * interval '1 second', now() from generate_series(1, 5000) n`)
		require.Len(t, admin.Get("/organizations/possible-duplicates").Is(200).Items(), 100)
	})
}
