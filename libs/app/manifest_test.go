package app_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/op"
	"frontdesk/libs/trust"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// edition is a version of a service with some operations, which runs until the returned function stops it.
func edition(t *testing.T, database, brokers, baseURL string, routes ...string) (stop func() error) {
	t.Helper()
	service := app.Service{Name: "desk", Migrations: desk.Migrations, Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
		set := k.NewSet()
		for _, route := range routes {
			op.Add(set, op.Op{ID: route, Route: "GET /" + route, Perm: op.Public, Doc: "Do it."}, func(context.Context, *db.Tx, op.None) (op.None, error) {
				return op.None{}, nil
			})
		}
		return &app.Parts{Ops: set, PagePaths: []*proto.Page{{Path: "/pages-of-" + routes[len(routes)-1]}},
			Personal: app.Personal{Holds: map[string]app.Holds{"note": app.Nobody, "seen": app.Nobody}}}, nil
	}}
	cfg := app.Config{Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", DatabaseURL: database, Brokers: brokers, PublicURL: "http://localhost:8080",
		BaseURL: baseURL, MasterKey: masterOfTests, Zone: time.UTC}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, cfg, service) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { require.NoError(t, stop()) })
	return stop
}

func TestAReplicaOfTheVersionBeforeTakesNoRouteAway(t *testing.T) {
	t.Parallel()
	_, brokers := cluster(t)
	database := dbtest.URL(t, "desk", desk.Migrations)
	b := bus.New(brokers, bus.Login{})
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	b.Trust = trust.New("gateway", nil, trust.RingOf([]string{"desk"}, func(string) []string { return []string{masterOfTests} }))
	topic := bus.NewTable(b, proto.ManifestTopic, func(_ string, value []byte) (*proto.Manifest, int64, error) {
		m := &proto.Manifest{}
		err := protobuf.Unmarshal(value, m)
		version := m.GetVersion()
		return m, version, err
	})
	var following sync.WaitGroup
	following.Go(func() { topic.Run(t.Context()) })
	t.Cleanup(following.Wait)
	// says waits until the gateway reads these routes, at this address.
	says := func(baseURL string, routes, pages []string) {
		t.Helper()
		var have []string
		until.Holds(t, func() bool {
			m, _ := topic.Get("desk")
			have = nil
			for _, r := range m.GetRoutes() {
				have = append(have, r.GetPath())
			}
			for _, p := range m.GetPages() {
				have = append(have, p.GetPath())
			}
			return m.GetBaseUrl() == baseURL && slices.Equal(have, slices.Concat(routes, pages))
		}, 10*time.Second, 10*time.Millisecond, "%v", &have)
	}
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })

	stopOld := edition(t, database, brokers, "http://old", "shared", "dropped")
	says("http://old", []string{"/shared", "/dropped"}, []string{"/pages-of-dropped"})
	_, err = conn.Exec(t.Context(), `update desk.manifest set number = '{1,0,0}'`)
	require.NoError(t, err)
	stopNew := edition(t, database, brokers, "http://new", "shared", "added")
	both := []string{"/shared", "/added", "/dropped"}
	says("http://new", both, []string{"/pages-of-added", "/pages-of-dropped"})

	require.NoError(t, stopOld())
	stopOld = edition(t, database, brokers, "http://old again", "shared", "dropped")
	says("http://old again", both, []string{"/pages-of-added", "/pages-of-dropped"})

	require.NoError(t, stopOld())
	_, err = conn.Exec(t.Context(), `update desk.manifest set seen_at = now() - interval '11 minutes' where number = '{1,0,0}'`)
	require.NoError(t, err)
	says("http://new", []string{"/shared", "/added"}, []string{"/pages-of-added"})
	require.NoError(t, stopNew())
}
