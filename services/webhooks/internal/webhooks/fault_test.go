package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/delivery"
	"frontdesk/services/webhooks/internal/signature"
	"frontdesk/services/webhooks/webhookstest"
)

// requestsAtATime is how many requests a process makes to one webhook at a time.
const requestsAtATime = 16

// childVariable makes the test binary the service itself; its value is how long a lease holds.
const childVariable = "WEBHOOKS_TEST_LEASE"

func TestMain(m *testing.M) {
	if lease := os.Getenv(childVariable); lease != "" {
		var err error
		if delivery.LeaseFor, err = time.ParseDuration(lease); err != nil {
			panic(err)
		}
		app.Main(Service)
		return
	}
	os.Exit(m.Run())
}

// site is a database, a broker and receivers that outlive the processes of the service.
type site struct {
	t       *testing.T
	url     string // of the database
	pool    *db.DB
	dir     string
	port    int
	cluster *kfake.Cluster
	bus     *bus.Bus
	master  string
	lease   time.Duration
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, url: dbtest.URL(t, "webhooks", migrations), dir: t.TempDir(), port: freeport.Port(), master: "a master key that only tests know of", lease: delivery.LeaseFor}
	s.startBroker()
	t.Cleanup(func() { s.cluster.Close() })
	s.bus = bus.New(s.cluster.ListenAddrs()[0], bus.Login{})
	t.Cleanup(func() { _ = s.bus.Close() })
	require.NoError(t, s.bus.Ensure(t.Context(), proto.Topics))
	var err error
	s.pool, err = db.Open(t.Context(), s.url, "webhooks")
	require.NoError(t, err)
	t.Cleanup(s.pool.Close)
	return s
}

func (s *site) startBroker() {
	s.t.Helper()
	var err error
	s.cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(s.port), kfake.DataDir(s.dir), kfake.SyncWrites())
	require.NoError(s.t, err)
}

// process starts the service as a process of its own and waits until it lives.
func (s *site) process() *exec.Cmd {
	s.t.Helper()
	admin := freeport.Address()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+s.lease.String(), "DATABASE_URL="+s.url, "KAFKA_BROKERS="+s.cluster.ListenAddrs()[0],
		"SVC_MASTER_KEY="+s.master, "SVC_WEBHOOK_LOCAL=1", "SVC_LISTEN="+freeport.Address(), "SVC_ADMIN_LISTEN="+admin)
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s.t.Failed() {
			s.t.Logf("a process said:\n%s", log)
		}
	})
	until.Holds(s.t, func() bool {
		res, err := http.Get("http://" + admin + "/livez")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == 200
	}, 20*time.Second, 10*time.Millisecond)
	return cmd
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// subscribe adds a webhook as the operation would.
func (s *site) subscribe(url string, events ...string) (id uuid.UUID, secret string) {
	s.t.Helper()
	id, secret = db.NewID(), signature.NewSecret()
	_, err := s.pool.Pool.Exec(s.t.Context(), `insert into webhook (id, name, url, events, active, secret, secret_hint, created_at, updated_at)
		values ($1, 'receiver', $2, $3, true, $4, 'xxxx', now(), now())`, id, url, events, app.NewKeys(app.Config{MasterKey: s.master}).Seal("webhook secret "+id.String(), []byte(secret)))
	require.NoError(s.t, err)
	return id, secret
}

// publish sends n contact.created events and answers with their ids.
func (s *site) publish(n int) (ids []string) {
	s.t.Helper()
	for len(ids) < n {
		var batch []db.Message
		for range min(500, n-len(ids)) {
			id, key := db.NewID().String(), uuid.NewString()
			data, err := json.Marshal(map[string]any{"id": key, "first_name": "Ann", "email": "ann@example.com"})
			require.NoError(s.t, err)
			value, err := protobuf.Marshal(&proto.Envelope{Id: id, Kind: proto.KindContactCreated, RecordId: key, Version: 1, OccurredAt: timestamppb.Now(),
				Actor: &proto.Actor{Channel: db.ChannelSystem}, Data: data})
			require.NoError(s.t, err)
			batch = append(batch, db.Message{Topic: proto.ContactTopic, Key: key, Value: value})
			ids = append(ids, id)
		}
		require.NoError(s.t, s.bus.Send(s.t.Context(), batch))
	}
	return ids
}

// unsettled is how many deliveries are not delivered yet, or all that are expected while fewer exist.
func (s *site) unsettled(expected int) int {
	var delivered int
	if s.pool.Pool.QueryRow(context.Background(), `select count(*) from delivery where status = 'delivered'`).Scan(&delivered) != nil {
		return expected
	}
	return expected - delivered
}

// times counts the requests of each event at a receiver, and holds that those of one event are alike.
func timesOf(t *testing.T, r *webhookstest.Receiver) map[string]int {
	t.Helper()
	n, same := map[string]int{}, map[string]string{}
	for _, got := range r.All() {
		id := got.Header.Get("webhook-id")
		alike := got.Header.Get("X-Svc-Delivery") + got.Body
		if same[id] == "" {
			same[id] = alike
		}
		require.Equal(t, same[id], alike)
		n[id]++
	}
	return n
}

func TestKilledInTheMiddleNothingIsLostAndOnlyWhatWasInFlightIsRepeated(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.lease = 3 * time.Second // deliveries in flight at a kill wait for its end
	const hooks, events, kills = 5, 1000, 3
	var receivers []*webhookstest.Receiver
	for range hooks {
		r := webhookstest.Listen(t)
		_, _ = s.subscribe(r.URL, proto.KindContactCreated)
		receivers = append(receivers, r)
	}
	got := func() (n int) {
		for _, r := range receivers {
			n += len(r.All())
		}
		return n
	}
	ids := s.publish(events)
	for k := range kills {
		p := s.process()
		until.Holds(t, func() bool { return got() > (k+1)*hooks*events/(kills+1) }, 2*time.Minute, 10*time.Millisecond)
		kill(t, p)
	}
	last := s.process()
	until.Holds(t, func() bool { return s.unsettled(hooks*events) == 0 }, 3*time.Minute, 50*time.Millisecond)
	repeats := 0
	for _, r := range receivers {
		n := timesOf(t, r)
		require.Len(t, n, events)
		for _, id := range ids {
			require.GreaterOrEqual(t, n["evt_"+id], 1)
			repeats += n["evt_"+id] - 1
		}
	}
	require.LessOrEqual(t, repeats, kills*hooks*requestsAtATime)
	t.Logf("%d deliveries, %d kills, %d repeated", hooks*events, kills, repeats)
	var rows int
	require.NoError(t, s.pool.Pool.QueryRow(t.Context(), `select count(*) from delivery`).Scan(&rows))
	require.Equal(t, hooks*events, rows)

	require.NoError(t, last.Process.Signal(os.Interrupt))
	require.NoError(t, last.Wait(), "it stops by itself, and cleanly")
}

func TestTwoReplicasShareTheWorkAndSendNothingTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := webhookstest.Listen(t)
	s.subscribe(r.URL, proto.KindContactCreated)
	s.process()
	s.process()
	ids := s.publish(1000)
	until.Holds(t, func() bool { return s.unsettled(len(ids)) == 0 }, 60*time.Second, 20*time.Millisecond)
	n := timesOf(t, r)
	require.Len(t, n, len(ids))
	require.Equal(t, len(ids), len(r.All()))
}

func TestTwoReplicasStillPauseAfterExactlyTwenty(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := webhookstest.Listen(t)
	r.Says(500)
	id, _ := s.subscribe(r.URL, proto.KindContactCreated)
	s.process()
	s.process()
	s.publish(300)
	until.Holds(t, func() bool {
		var paused *string
		return s.pool.Pool.QueryRow(t.Context(), `select paused from webhook where id = $1`, id).Scan(&paused) == nil && paused != nil
	}, 30*time.Second, 5*time.Millisecond)
	until.Holds(t, func() bool {
		var leases int
		return s.pool.Pool.QueryRow(t.Context(), `select count(*) from lease`).Scan(&leases) == nil && leases == 0
	}, 30*time.Second, 5*time.Millisecond, "nothing is in flight any more")
	require.Equal(t, 20, len(r.All()))
}

func TestABrokerAndADatabaseThatGoAndComeBackLoseNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := webhookstest.Listen(t)
	s.subscribe(r.URL, proto.KindContactCreated)
	s.process()
	ids := s.publish(600)
	until.Holds(t, func() bool { return len(r.All()) > 100 }, 30*time.Second, time.Millisecond)
	cuts := 0
	for range 3 {
		// Every connection of the service dies, as in a restart of the server.
		conn, err := pgx.Connect(t.Context(), s.url)
		require.NoError(t, err)
		tag, err := conn.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
		cuts += int(tag.RowsAffected())
		s.cluster.Close()
		time.Sleep(200 * time.Millisecond)
		s.startBroker()
		ids = append(ids, s.publish(200)...)
	}
	require.Positive(t, cuts)
	until.Holds(t, func() bool { return s.unsettled(len(ids)) == 0 }, 90*time.Second, 20*time.Millisecond)
	n := timesOf(t, r)
	require.Len(t, n, len(ids))
	require.LessOrEqual(t, len(r.All())-len(ids), 3*requestsAtATime)
}

func TestKilledInTheMiddleOfAReplayNothingIsLost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.lease = 3 * time.Second
	r := webhookstest.Listen(t)
	id, _ := s.subscribe(r.URL, proto.KindContactCreated)
	const events = 400
	ids := s.publish(events)
	first := s.process()
	until.Holds(t, func() bool { return s.unsettled(events) == 0 }, time.Minute, 20*time.Millisecond)
	// As the operation does.
	_, err := s.pool.Pool.Exec(t.Context(), `
		with again as (
			update delivery set status = 'queued', failed_attempts = 0, next_attempt_at = now(), replayed_at = now() where webhook = $1 returning status
		), counted as (
			insert into tally select $1::uuid, 'delivered', -count(*) from again union all select $1, 'queued', count(*) from again
		)
		select pg_notify('webhooks_due', $1::uuid::text)`, id)
	require.NoError(t, err)
	until.Holds(t, func() bool { return len(r.All()) > events+events/4 }, time.Minute, time.Millisecond)
	kill(t, first)
	s.process()
	until.Holds(t, func() bool { return s.unsettled(events) == 0 }, time.Minute, 20*time.Millisecond)
	repeats, n := 0, timesOf(t, r)
	for _, event := range ids {
		require.GreaterOrEqual(t, n["evt_"+event], 2)
		repeats += n["evt_"+event] - 2
	}
	require.LessOrEqual(t, repeats, requestsAtATime)
	var sum int
	require.NoError(t, s.pool.Pool.QueryRow(t.Context(), `select sum(n) from tally where status = 'delivered'`).Scan(&sum))
	require.Equal(t, events, sum)
}
