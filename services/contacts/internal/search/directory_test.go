package search_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/services/contacts/contactstest"
)

// write is a transaction beside the service, as another replica's would be.
const write = `insert into contact (id, first_name, email, email_key, created_at, updated_at) values ($1, $2, $3, $3, date_trunc('second', now()), date_trunc('second', now()))`

func TestASearchIsAsNewAsTheLastCommit(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	t.Run("a search finds what a commit wrote however long it took", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		found := func(search string) any { return admin.Get("/contacts?search=" + search).Is(200).Field("total") }
		slow, id := s.Begin(), uuid.New()
		_, err := slow.Exec(t.Context(), write, id, "Slowly", "slow@example.com")
		require.NoError(t, err)
		// Transactions that began later and end earlier.
		for i := range 3 {
			admin.Post("/contacts", object{"first_name": fmt.Sprint("Quick", i)}).Is(201)
			require.EqualValues(t, i+1, found("quick"))
			require.EqualValues(t, 0, found("slowly"))
		}
		require.NoError(t, slow.Commit(t.Context()))
		require.EqualValues(t, 1, found("slowly"))
		require.EqualValues(t, 4, admin.Get("/contacts").Is(200).Field("total"))

		_, err = s.Kit.DB.Pool.Exec(t.Context(), `update contact set created_at = created_at - interval '1 day', first_name = 'Slowest' where id = $1`, id)
		require.NoError(t, err)
		require.EqualValues(t, 1, found("slowest"))
		require.EqualValues(t, 0, found("slowly"))
		_, err = s.Kit.DB.Pool.Exec(t.Context(), `delete from contact where id = $1`, id)
		require.NoError(t, err)
		require.EqualValues(t, 0, found("slowest"))
		require.EqualValues(t, 3, admin.Get("/contacts").Is(200).Field("total"))
	})
	t.Run("everyone finds their own writes at once", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, own := s.As("svc_admin"), s.As("staff")
		var calls []func()
		for i := range 8 {
			by := []*apptest.Client{admin, own}[i%2]
			calls = append(calls, func() {
				for j := range 6 {
					name := fmt.Sprintf("Name%dx%d", i, j)
					found := func(query string) any { return by.Get("/contacts?search=" + name + query).Is(200).Field("total") }
					id := by.Post("/contacts", object{"first_name": name, "tags": []string{name}}).Is(201).Text("id")
					require.EqualValues(t, 1, found(""))
					require.EqualValues(t, 1, found("&tag="+name))
					require.EqualValues(t, 0, found("&tag=nobody"))
					admin.Delete("/contacts/"+id, nil).Is(204)
					require.EqualValues(t, 0, found(""))
					require.EqualValues(t, 1, found("&include_deleted=true"))
					admin.Post("/contacts/"+id+"/restore", nil).Is(200)
					require.EqualValues(t, 1, found("&status=lead"))
					by.Patch("/contacts/"+id, object{"status": "customer", "mode": "overwrite"}).Is(200)
					require.EqualValues(t, 0, found("&status=lead"))
				}
			})
		}
		contactstest.Together(t, calls...)
		require.EqualValues(t, 48, admin.Get("/contacts").Is(200).Field("total"))
		require.EqualValues(t, 24, own.Get("/contacts?status=customer").Is(200).Field("total"))
	})
}

// A process has one provider of metrics, so no other service starts meanwhile.
func TestTheDirectoryIsMeasured(t *testing.T) {
	s := contactstest.Start(t)
	admin := s.As("svc_admin")
	for range 3 {
		admin.Post("/contacts", object{"first_name": "Anna"}).Is(201)
	}
	require.EqualValues(t, 3, admin.Get("/contacts?search=anna").Is(200).Field("total"))
	res, err := http.Get(s.Admin + "/metrics")
	require.NoError(t, err)
	defer res.Body.Close()
	metrics, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	value := func(name string) float64 {
		found := regexp.MustCompile(`(?m)^` + name + `\{.*\} (.*)$`).FindSubmatch(metrics)
		require.NotNil(t, found, name)
		n, err := strconv.ParseFloat(string(found[1]), 64)
		require.NoError(t, err)
		return n
	}
	require.EqualValues(t, 3, value("frontdesk_directory_contacts"))
	require.EqualValues(t, 3, value("frontdesk_directory_changes_total"))
	require.Zero(t, value("frontdesk_directory_differences_total"))
	require.Greater(t, value("frontdesk_directory_bytes"), 100.)
	require.Greater(t, value("frontdesk_directory_load_seconds"), 0.)
}
