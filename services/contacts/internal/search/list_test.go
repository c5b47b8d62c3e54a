package search_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

type object = map[string]any

func TestWhichContactsAreFound(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	t.Run("search finds parts of names addresses and numbers", func(t *testing.T) {
		contactstest.Afresh(t, s)
		s.SetSite("general", object{"country": "BE"})
		admin := s.As("svc_admin")
		id := admin.Post("/contacts", object{"first_name": "Zoë", "last_name": "Müller", "email": "zm_1@example.com", "phone": "0470 12 34 56"}).Is(201).Text("id")
		admin.Post("/contacts", object{"first_name": "Somebody", "last_name": "Else", "email": "zm11@example.org", "phone": "+31 20 555"}).Is(201)
		for _, q := range []string{"zoe", "ZOË", "muller zoë", "ülle", "zm_1", "example.com", "0470 12", "0470/12.34.56", "+32 470", "470123456", "123456"} {
			found := admin.Get("/contacts?search=" + url.QueryEscape(q)).Is(200)
			require.Len(t, found.Items(), 1, q)
			require.Equal(t, id, found.Text("items.0.id"), q)
			require.EqualValues(t, 1, found.Field("total"), q)
		}
		require.Empty(t, admin.Get("/contacts?search=zoe+else").Is(200).Items())
		require.Len(t, admin.Get("/contacts?search=+").Is(200).Items(), 2)
	})
	t.Run("a name is found with and without its joiners", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		for _, name := range []string{"علی\u200cرضا", "ශ්\u200dරී"} {
			admin.Post("/contacts", object{"first_name": name}).Is(201)
			plain := strings.NewReplacer("\u200c", "", "\u200d", "").Replace(name)
			for _, q := range []string{name, plain} {
				for _, more := range []string{"", "&no_appointment_since=2020-01-01T00:00:00Z"} {
					require.EqualValues(t, 1, admin.Get("/contacts?search="+url.QueryEscape(q)+more).Is(200).Field("total"), "%q%s", q, more)
				}
			}
		}
	})

	t.Run("filters of contacts hold together", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		one := admin.Post("/contacts", object{"first_name": "One", "status": "customer", "source": "fair", "tags": []string{"Été"}, "owner_user_id": admin.UserID}).Is(201).Text("id")
		two := admin.Post("/contacts", object{"first_name": "Two", "source": "web"}).Is(201).Text("id")
		at := s.Now().UTC().Truncate(time.Second)
		contactstest.Appointment(s, proto.KindAppointmentBooked, 1, two, "confirmed", at.Add(24*time.Hour))
		contactstest.Appointment(s, proto.KindAppointmentCancelled, 1, one, "cancelled", at.Add(24*time.Hour))
		s.Settle()
		stamp := func(d time.Duration) string { return url.QueryEscape(at.Add(d).Format(time.RFC3339)) }
		later, earlier := url.QueryEscape(s.Now().UTC().Add(time.Hour).Format(time.RFC3339)), url.QueryEscape(s.Now().UTC().Add(-time.Hour).Format(time.RFC3339))
		for query, want := range map[string][]string{
			"status=customer":                    {one},
			"status=inactive":                    {},
			"marketing=none":                     {two, one},
			"tag=ete":                            {one},
			"tag=" + url.QueryEscape("ÉTÉ"):      {one},
			"tag=unknown":                        {},
			fmt.Sprint("owner=", admin.UserID):   {one},
			"source=web":                         {two},
			"source=web&status=customer":         {},
			"source=fair&status=customer":        {one},
			"created_since=" + stamp(-time.Hour): {two, one},
			"created_since=" + stamp(time.Hour):  {},
			"updated_since=" + later:             {},
			"updated_since=" + earlier:           {two, one},
			"appointment_from=" + stamp(0):       {two},
			"appointment_to=" + stamp(time.Hour): {},
			"appointment_from=" + stamp(0) + "&appointment_to=" + stamp(48*time.Hour): {two},
			"no_appointment_since=" + stamp(0):                                        {one},
			"no_appointment_since=" + stamp(48*time.Hour):                             {two, one},
			"organization=" + uuid.NewString():                                        {},
		} {
			a := admin.Get("/contacts?" + query).Is(200)
			got := []string{}
			for _, c := range a.Items() {
				got = append(got, c["id"].(string))
			}
			require.Equal(t, want, got, query)
			require.EqualValues(t, len(want), a.Field("total"), query)
		}
		require.Equal(t, []any{"fair", "web"}, admin.Get("/contacts/sources").Is(200).Field("items"))
	})
	t.Run("pages follow on each other with one total", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		for i := range 7 {
			admin.Post("/contacts", object{"first_name": fmt.Sprint("N", i)}).Is(201)
		}
		seen := map[any]bool{}
		next := "/contacts?per_page=3"
		for pages := 1; ; pages++ {
			a := admin.Get(next).Is(200)
			require.EqualValues(t, 7, a.Field("total"))
			for _, c := range a.Items() {
				require.False(t, seen[c["id"]])
				seen[c["id"]] = true
			}
			if a.Field("next_cursor") == nil {
				require.Equal(t, 3, pages)
				break
			}
			next = "/contacts?per_page=3&cursor=" + a.Text("next_cursor")
			if pages == 1 {
				admin.Post("/contacts", object{"first_name": "late"}).Is(201)
			}
		}
		require.Len(t, seen, 7)
		admin.Get(next+"&status=lead").Fails(400, "svc_invalid_cursor")
	})
	t.Run("own visibility holds everywhere", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, own := s.As("svc_admin"), s.As("staff")
		theirs := admin.Post("/contacts", object{"first_name": "Theirs", "source": "secret"}).Is(201).Text("id")
		mine := own.Post("/contacts", object{"first_name": "Mine"}).Is(201)
		require.EqualValues(t, own.UserID, mine.Field("owner_user_id"))
		a := own.Get("/contacts").Is(200)
		require.EqualValues(t, 1, a.Field("total"))
		require.Equal(t, mine.Text("id"), a.Text("items.0.id"))
		require.EqualValues(t, 0, own.Get("/contacts?search=Theirs").Is(200).Field("total"))
		require.Empty(t, own.Get("/contacts/sources").Is(200).Items())
		own.Get("/contacts/"+theirs).Fails(404, "svc_not_found")
		own.Get("/contacts/"+theirs+"/activities").Fails(404, "svc_not_found")
		own.Get("/contacts/"+theirs+"/consents").Fails(404, "svc_not_found")
		own.Patch("/contacts/"+theirs, object{"last_name": "x"}).Fails(404, "svc_not_found")
		own.Post("/contacts/"+theirs+"/notes", object{"body": "x"}).Fails(404, "svc_not_found")
		own.Delete("/contacts/"+theirs, nil).Fails(403, "svc_forbidden")
	})
}
