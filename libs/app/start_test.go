package app_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/freeport"
	"frontdesk/libs/op"
	"frontdesk/libs/trust"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// started is a service that notes which of its parts have begun.
type started struct {
	url       string
	job, work atomic.Int64
	entered   chan struct{} // one for each request that waits
	leave     chan struct{} // closed to answer them
	stop      func() error
}

const masterOfTests = "a master key that only tests know of"

func startService(t *testing.T, database, brokers string) *started {
	t.Helper()
	s := &started{entered: make(chan struct{}, 1), leave: make(chan struct{})}
	service := app.Service{Name: "desk", Migrations: desk.Migrations, Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
		set := k.NewSet()
		op.Add(set, op.Op{ID: "wait", Route: "GET /wait", Perm: op.Public, Doc: "Wait."}, func(context.Context, *db.Tx, op.None) (op.None, error) {
			s.entered <- struct{}{}
			<-s.leave
			return op.None{}, nil
		})
		return &app.Parts{Ops: set, Personal: app.Personal{Holds: map[string]app.Holds{"note": app.Nobody, "seen": app.Nobody}},
			Follows: []bus.Follow{{Topic: proto.AppointmentTopic, Handle: followAppointments}},
			Jobs:    []app.Job{{Name: "job", Every: time.Minute, Run: func(context.Context) error { s.job.Add(1); return nil }}},
			Workers: []app.Worker{{Name: "worker", Pause: time.Second, Slice: func(context.Context) (bool, error) { s.work.Add(1); return false, nil }}}}, nil
	}}
	cfg := app.Config{Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", DatabaseURL: database, Brokers: brokers, PublicURL: "http://localhost:8080",
		MasterKey: masterOfTests, Zone: time.UTC}
	cfg.Listen = freeport.Address()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, cfg, service) }()
	s.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { require.NoError(t, s.stop()) })
	s.url = "http://" + cfg.Listen
	until.Holds(t, func() bool {
		c, err := net.Dial("tcp", cfg.Listen)
		return err == nil && c.Close() == nil
	}, 5*time.Second, time.Millisecond)
	return s
}

func (s *started) get(t *testing.T, path string) *http.Response {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second}
	res, err := client.Get(s.url + path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func (s *started) refuses(t *testing.T) {
	t.Helper()
	res := s.get(t, "/v1/notes")
	require.Equal(t, 503, res.StatusCode)
	require.Equal(t, "2", res.Header.Get("Retry-After"))
	var body struct{ Code string }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&body))
	require.Equal(t, "svc_unavailable", body.Code)
}

// condition is one that does not hold, and the reason.
type condition struct{ For, Why string }

// waitsFor is what the service says it needs before it is ready.
func (s *started) waitsFor(t *testing.T) []condition {
	t.Helper()
	require.Equal(t, 200, s.get(t, "/livez").StatusCode, "it serves")
	res := s.get(t, "/readyz")
	var body struct {
		Ready    bool
		WaitsFor []condition `json:"waits_for"`
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&body))
	require.Equal(t, body.Ready, res.StatusCode == 200)
	require.Equal(t, body.Ready, len(body.WaitsFor) == 0)
	for _, c := range body.WaitsFor {
		require.NotEmpty(t, c.Why, c.For)
	}
	return body.WaitsFor
}

func cluster(t *testing.T) (*kfake.Cluster, string) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c, c.ListenAddrs()[0]
}

func TestAServiceRefusesAtOnceWhileItsDatabaseOrBrokersAreDown(t *testing.T) {
	t.Parallel()
	_, brokers := cluster(t)
	for name, where := range map[string][2]string{"database": {"postgres://nobody@127.0.0.1:1/x", brokers}, "brokers": {dbtest.URL(t, "desk", desk.Migrations), "127.0.0.1:1"}} {
		t.Run(name, func(t *testing.T) {
			s := startService(t, where[0], where[1])
			s.refuses(t)
			until.Holds(t, func() bool {
				return slices.ContainsFunc(s.waitsFor(t), func(c condition) bool { return c.For == name && strings.Contains(c.Why, "refused") })
			}, 5*time.Second, 5*time.Millisecond)
			begun := time.Now()
			require.NoError(t, s.stop())
			require.Less(t, time.Since(begun), 5*time.Second)
		})
	}
}

func TestNothingBeginsBeforePeopleAppsAndSettingsAreRead(t *testing.T) {
	t.Parallel()
	for _, topic := range []string{proto.IdentityTopic, proto.AppsTopic, proto.SiteTopic} {
		t.Run(topic, func(t *testing.T) {
			t.Parallel()
			c, brokers := cluster(t)
			unread := kfake.Fault{Topic: topic, Count: -1}
			const fetch, listOffsets = 1, 2
			unread.Keys = append(unread.Keys, fetch, listOffsets)
			held := c.Fault(unread)
			s := startService(t, dbtest.URL(t, "desk", desk.Migrations), brokers)
			waited, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			require.NoError(t, held.Wait(waited, 2))
			s.refuses(t)
			until.Holds(t, func() bool {
				waits := s.waitsFor(t)
				return len(waits) == 1 && waits[0].For == "topic "+topic && waits[0].Why != ""
			}, 10*time.Second, 5*time.Millisecond)
			require.Zero(t, s.job.Load()+s.work.Load())
			held.Remove()
			until.Holds(t, func() bool { return s.job.Load() > 0 && s.work.Load() > 0 }, 10*time.Second, 5*time.Millisecond)
			until.Holds(t, func() bool { return s.get(t, "/v1/notes").StatusCode == 404 }, 10*time.Second, 5*time.Millisecond)
		})
	}
}

func TestAnInstanceSignsTheAddressOfItsAdminPort(t *testing.T) {
	t.Parallel()
	_, brokers := cluster(t)
	startService(t, dbtest.URL(t, "desk", desk.Migrations), brokers)
	b := bus.New(brokers, bus.Login{})
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	instances := bus.NewTable(b, proto.PresenceTopic, func(_ string, value []byte) (*proto.Presence, int64, error) {
		p := &proto.Presence{}
		return p, 0, protobuf.Unmarshal(value, p)
	})
	var following sync.WaitGroup
	following.Go(func() { instances.Run(t.Context()) })
	t.Cleanup(following.Wait)
	until.Holds(t, func() bool { return len(instances.All()) == 1 }, 20*time.Second, 5*time.Millisecond)
	for key, p := range instances.All() {
		m := trust.Message{Topic: proto.PresenceTopic, Key: key, Value: []byte(p.GetAdminUrl())}
		ring := trust.RingOf([]string{"desk", "booking"}, func(string) []string { return []string{masterOfTests} })
		_, err := trust.New("gateway", nil, ring).Verify("desk", m, p.GetAdminSignature())
		require.NoError(t, err)
		_, err = trust.New("gateway", nil, ring).Verify("booking", m, p.GetAdminSignature())
		require.ErrorIs(t, err, trust.ErrForged)
		res, err := http.Get(p.GetAdminUrl() + "/livez")
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 200, res.StatusCode)
	}
}

func TestAStopAnswersTheRequestsUnderWayAndSendsTheOutbox(t *testing.T) {
	t.Parallel()
	_, brokers := cluster(t)
	s := startService(t, dbtest.URL(t, "desk", desk.Migrations), brokers)
	until.Holds(t, func() bool { return s.get(t, "/v1/notes").StatusCode == 404 }, 10*time.Second, 5*time.Millisecond)
	answered := make(chan string, 1)
	go func() {
		res, err := http.Get(s.url + "/v1/wait")
		if err != nil {
			answered <- err.Error()
			return
		}
		answered <- res.Status
		_ = res.Body.Close()
	}()
	<-s.entered
	ended := make(chan error, 1)
	go func() { ended <- s.stop() }()
	until.Holds(t, func() bool { _, err := http.Get(s.url); return err != nil }, 5*time.Second, 5*time.Millisecond, "takes no more")
	close(s.leave)
	require.Equal(t, "204 No Content", <-answered)
	begun := time.Now()
	require.NoError(t, <-ended)
	require.Less(t, time.Since(begun), 4*time.Second, "it waits for nothing else")
}
