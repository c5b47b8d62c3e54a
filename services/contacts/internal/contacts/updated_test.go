package contacts

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/until"
	"frontdesk/services/contacts/contactstest"
)

// since is the path of what changed since a record did.
func since(list string, newest string) string {
	return list + "?updated_since=" + url.QueryEscape(newest)
}

func TestWhoAsksForWhatChanged(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("a poller misses nothing that is committed late", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		for _, list := range []string{"contacts", "organizations"} {
			t.Run(list, func(t *testing.T) {
				field := map[string]string{"contacts": "first_name", "organizations": "name"}[list]
				slowID := admin.Post("/"+list, object{field: "Before"}).Is(201).Text("id")
				slow := s.Begin()
				var stamped time.Time
				require.NoError(t, slow.QueryRow(t.Context(), `update `+list[:len(list)-1]+` set `+field+` = 'Slow', updated_at = $2 where id = $1 returning updated_at`,
					slowID, s.Now()).Scan(&stamped))
				var newest string
				until.Holds(t, func() bool {
					id := admin.Post("/"+list, object{field: "Quick"}).Is(201).Text("id")
					newest = admin.Get("/" + list + "/" + id).Is(200).Text("updated_at")
					return newest > stamped.UTC().Format(time.RFC3339)
				}, 5*1e9, 2e8)
				for _, x := range admin.Get(since("/"+list, "2020-01-01T00:00:00Z")).Is(200).Items() {
					require.Less(t, x["updated_at"].(string), newest, "somebody who saw this would ask on behind the slow one")
				}
				require.NoError(t, slow.Commit(t.Context()))
				found := admin.Get(since("/"+list, admin.Get("/"+list+"/"+slowID).Is(200).Text("updated_at"))).Is(200).Items()
				names := map[any]bool{}
				for _, x := range found {
					names[x[field]] = true
				}
				require.Equal(t, map[any]bool{"Quick": true, "Slow": true}, names)
			})
		}
	})
	t.Run("the answer of a change has the time that lists go by", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		// The database has another clock than the service.
		s.Travel(time.Hour)
		for list, body := range map[string]object{"/contacts": {"first_name": "A"}, "/organizations": {"name": "A"}} {
			made := admin.Post(list, body).Is(201)
			one := list + "/" + made.Text("id")
			require.Equal(t, made.Text("updated_at"), admin.Get(one).Is(200).Text("updated_at"), list)
			changed := admin.Patch(one, object{"phone": "+32470123456"}).Is(200)
			require.Equal(t, changed.Text("updated_at"), admin.Get(one).Is(200).Text("updated_at"), list)
		}
	})
}
