package contacts

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/proto"
)

// reply is what a call got.
type reply struct {
	status int
	header http.Header
	total  int64
}

func TestAProcessThatJustStartedAnswersListsAndKeepsRoomForOtherCalls(t *testing.T) {
	t.Parallel()
	const many = 80_000
	url := dbtest.URL(t, "contacts", migrations)
	d, err := db.Open(t.Context(), url, "contacts")
	require.NoError(t, err)
	defer d.Close()
	// The indexes that no call of this test needs would take most of the time.
	_, err = d.Pool.Exec(t.Context(), `drop index contact_tags, contact_email, contact_email_trash, contact_owner, contact_updated, contact_source`)
	require.NoError(t, err)
	_, err = d.Pool.Exec(t.Context(), `insert into contact (id, first_name, last_name, status, created_at, updated_at)
		select gen_random_uuid(), 'Anna', 'Peeters ' || i, (array['lead', 'customer'])[1 + i % 2], now() - make_interval(secs => i), now()
		from generate_series(1, $1) i`, many)
	require.NoError(t, err)
	var one string
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select id from contact limit 1`).Scan(&one))

	// The flood begins with the first answer: nobody waits until the process is ready.
	var begun, flood sync.WaitGroup
	var lists, searches, others []reply
	var samples, full int
	starting := Service
	starting.Build = func(ctx context.Context, k *app.Kit) (*app.Parts, error) {
		p, err := Service.Build(ctx, k)
		if err != nil {
			return nil, err
		}
		if err := publishAdministrator(ctx, k); err != nil {
			return nil, err
		}
		ready := p.Ready["the directory"]
		flood.Go(func() {
			call := func(route string) reply { return callAs(k.Config.Listen, route) }
			for end := time.Now().Add(30 * time.Second); call("GET /fields?entity=contact").status != 200; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					return // the assertions below say that nothing was answered
				}
			}
			var mu sync.Mutex
			keep := func(all *[]reply, r reply) {
				mu.Lock()
				defer mu.Unlock()
				*all = append(*all, r)
			}
			for _, route := range []string{"/contacts?search=anna", "/contacts?search=anna&status=lead", "/exports/contacts.csv?search=anna"} {
				keep(&searches, call("GET "+route))
			}
			var listing sync.WaitGroup
			for n := range 16 {
				listing.Go(func() { keep(&lists, call("GET /contacts"+[]string{"", "?status=customer"}[n%2])) })
			}
			answered := make(chan struct{})
			for _, route := range []string{"GET /fields?entity=contact", "GET /contacts/" + one, "PATCH /contacts/" + one} {
				begun.Go(func() {
					for n := 0; ; n++ {
						select {
						case <-answered:
							if n > 30 && ready() == nil {
								return
							}
						default:
						}
						keep(&others, call(route))
					}
				})
			}
			begun.Go(func() {
				for ; ready() != nil; time.Sleep(time.Millisecond) {
					if samples++; k.DB.Pool.Stat().AcquiredConns() == k.DB.Pool.Config().MaxConns {
						full++
					}
				}
			})
			listing.Wait()
			close(answered)
			begun.Wait()
		})
		return p, nil
	}
	apptest.Start(t, starting, func(c *app.Config) { c.DatabaseURL = url })
	flood.Wait()

	for _, r := range searches {
		require.Equal(t, 503, r.status, "the contacts were loaded before anybody asked")
		require.NotEmpty(t, r.header.Get("Retry-After"))
	}
	require.Len(t, lists, 16)
	for _, r := range lists {
		require.Equal(t, 200, r.status)
		require.Contains(t, []int64{many, many / 2}, r.total)
	}
	for _, r := range others {
		require.Equal(t, 200, r.status)
	}
	t.Logf("%d other calls; no connection free in %d of %d ms", len(others), full, samples)
	// Lists that wait with a connection would take all of them until the contacts are loaded. Connections say so on any machine; the
	// time of a call does not.
	require.LessOrEqual(t, full, samples/2)
}

// publishAdministrator publishes an administrator with an application password, as settings would.
func publishAdministrator(ctx context.Context, k *app.Kit) error {
	hash := auth.PasswordHash("flood")
	var batch []db.Message
	for key, m := range map[string]*proto.Identity{
		auth.KeyKey("1"):  {Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{Id: "1", UserId: 1, Name: "flood", Hash: hash[:]}}},
		auth.UserKey("1"): {Record: &proto.Identity_User{User: &proto.User{Id: 1, Login: "flood", Name: "Flood", Email: "flood@example.com", Roles: []string{auth.SiteAdmin}}}},
		auth.AccessKey:    {Record: &proto.Identity_Access{Access: &proto.Access{Roles: []string{auth.SiteAdmin}, IdleHours: 8}}},
		auth.RoleKey(auth.SiteAdmin): {Record: &proto.Identity_Role{Role: &proto.Role{Name: auth.SiteAdmin, Label: "Administrator", Visibility: "all",
			Capabilities: auth.Permissions}}},
	} {
		value, err := protobuf.Marshal(m)
		if err != nil {
			return err
		}
		batch = append(batch, db.Message{Topic: proto.IdentityTopic, Key: key, Value: value})
	}
	settings := apptest.Connect(k.Config.Brokers)
	defer func() { _ = settings.Close() }()
	settings.Trust = apptest.Trust("settings")
	return settings.Send(ctx, batch)
}

// callAs is a call of the administrator; status 0 means that there was no answer.
func callAs(address, route string) reply {
	method, path, _ := strings.Cut(route, " ")
	body := strings.NewReader("")
	if method == http.MethodPatch {
		body = strings.NewReader(`{"last_name": "Maes", "mode": "overwrite"}`)
	}
	req, err := http.NewRequest(method, "http://"+address+"/v1"+path, body)
	if err != nil {
		panic(err)
	}
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/json")
	}
	req.SetBasicAuth("flood", "flood")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}
	}
	defer res.Body.Close()
	var list struct{ Total int64 }
	_ = json.NewDecoder(res.Body).Decode(&list)
	return reply{res.StatusCode, res.Header, list.Total}
}
