// Package apptest runs one whole service in a test: real Postgres, a broker in the process, HTTP. The
// neighbours are the events that the test sends in their name. Every answer is checked against the
// service's own OpenAPI description by a validator that is not the one which checks requests.
package apptest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/trust"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// Service is a running service.
type Service struct {
	URL   string // http://host:port
	Admin string // http://host:port of the admin port
	Kit   *app.Kit
	Parts *app.Parts
	// Neighbours publishes in the name of all other processes.
	Neighbours *bus.Bus

	t testing.TB
	*state
}

// state is what a service and those that For returns have in common.
type state struct {
	contract *contract
	stopped  chan struct{} // closed when the service has returned err
	err      error
	mu       sync.Mutex
	users    int64
	offset   time.Duration
	senders  map[string]*bus.Bus // by the service in whose name they send
	// rehearsed are the routes of which Rehearsing clients have rehearsed a change.
	rehearsed map[string]bool
	// takenBack are the operations of which TakeBack has taken back a call.
	takenBack map[string]bool
}

// For is the same running service with failures reported to another test: one that is a case of the test that started it.
func (s *Service) For(t testing.TB) *Service {
	of := *s
	of.t = t
	return &of
}

// MasterKey is the key of all services in tests.
const MasterKey = "a master key that only tests know of"

// ring is made once: to derive the keys of all services took a twentieth of the time of a test.
var ring = sync.OnceValue(func() trust.Ring {
	return trust.RingOf(proto.Services, func(string) []string { return []string{MasterKey} })
})

// Trust returns the keys with which a service signs and opens its messages in tests.
func Trust(service string) *trust.Keys { return trust.New(service, []string{MasterKey}, ring()) }

// connections is the size of a service's pool. Each connection is a process of the server that plans every statement anew, so there
// are few. With TEST_NARROW there is one: whatever holds it while it needs another one, or while it waits, then fails. `make narrow`
// runs all tests of the services so.
func connections() int {
	if os.Getenv("TEST_NARROW") != "" {
		return 1
	}
	return 4
}

// Connections gives a service n connections, with TEST_NARROW too: to a test in which several of its transactions are open at once on
// purpose, or which counts connections.
func Connections(n int) func(*app.Config) {
	return func(c *app.Config) { c.DatabaseURL = dbtest.PoolOf(c.DatabaseURL, n) }
}

// tester is the test's own user at the broker, who may do everything.
const tester = "tester"

// brokerFor are the options of a broker at which a service of the product may do what proto.Rights says and nothing more. A service
// that a test has made up may do everything.
func brokerFor(service string) []kfake.Opt {
	const mechanism = "SCRAM-SHA-512"
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser(mechanism, tester, tester+"'s password")}
	if !slices.Contains(proto.Services, service) {
		return append(options, kfake.Superuser(mechanism, service, service+"'s password"))
	}
	var rights []kfake.ACL
	for _, r := range proto.Rights(service) {
		a := kfake.ACL{Name: r.Name, Allow: true, Pattern: kmsg.ACLResourcePatternTypeLiteral}
		_ = a.Resource.UnmarshalText([]byte(r.Resource))
		_ = a.Operation.UnmarshalText([]byte(r.Operation))
		rights = append(rights, a)
	}
	return append(options, kfake.User(mechanism, service, service+"'s password", rights...))
}

// Connect returns a connection to the broker of a service under test, in the name of all other processes.
func Connect(brokers string) *bus.Bus { return bus.New(brokers, loginOf(tester)) }

// logins keeps the login of each user, since a login derives its key once for each broker: 2 ms, which every connection took.
var logins sync.Map

func loginOf(user string) bus.Login {
	if l, ok := logins.Load(user); ok {
		return l.(bus.Login)
	}
	l, err := bus.NewLogin(bus.LoginOptions{User: user, Password: user + "'s password"})
	if err != nil {
		panic(err) // names and passwords are our own
	}
	kept, _ := logins.LoadOrStore(user, l)
	return kept.(bus.Login)
}

// Start runs s with its own database and broker until the test ends. configure may change the knobs.
func Start(t testing.TB, s app.Service, configure ...func(*app.Config)) *Service {
	t.Helper()
	return start(t, s, true, configure...)
}

// Beside runs other at the broker of s, as the neighbour that it is or as a replica. Whoever may call s may call it, see Client.At.
func (s *Service) Beside(other app.Service, configure ...func(*app.Config)) *Service {
	s.t.Helper()
	return start(s.t, other, false, append([]func(*app.Config){func(c *app.Config) { c.Brokers, c.Kafka, c.Alone = s.Kit.Config.Brokers, loginOf(tester), false }}, configure...)...)
}

// start runs s. Only a whole service publishes by itself what a test must wait for.
func start(t testing.TB, s app.Service, whole bool, configure ...func(*app.Config)) *Service {
	t.Helper()
	cluster, err := kfake.NewCluster(brokerFor(s.Name)...)
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	brokers := strings.Join(cluster.ListenAddrs(), ",")
	out := &Service{t: t, Neighbours: Connect(brokers), state: &state{stopped: make(chan struct{}), users: 100, senders: map[string]*bus.Bus{}, rehearsed: map[string]bool{}, takenBack: map[string]bool{}}}
	t.Cleanup(func() {
		_ = out.Neighbours.Close()
		out.mu.Lock()
		defer out.mu.Unlock()
		for _, b := range out.senders {
			_ = b.Close()
		}
	})
	cfg := app.Config{Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", PublicURL: "http://localhost:8080", DatabaseURL: dbtest.URL(t, s.Name, s.Migrations),
		Brokers: brokers, Kafka: loginOf(s.Name), Alone: true, Partitions: 2, MasterKey: MasterKey, Timezone: "Europe/Brussels", Now: out.Now,
		AdminLogin: "admin", AdminPassword: "correct horse battery", AdminEmail: "admin@example.com", MailFrom: "frontdesk@example.com"}
	cfg.Zone, err = time.LoadLocation(cfg.Timezone)
	require.NoError(t, err)
	out.Travel(dbtest.Ahead(t))
	for _, f := range append([]func(*app.Config){Connections(connections())}, configure...) {
		f(&cfg)
	}
	// Those of the neighbours too, which the service may not make.
	require.NoError(t, out.Neighbours.Ensure(context.Background(), proto.TopicsOf(cfg.Partitions)))
	built := make(chan struct{})
	usual := whole && len(configure) == 0 && slices.Contains(proto.Services, s.Name)
	if usual {
		s.Describe = manifestOf
	}
	build := s.Build
	s.Build = func(ctx context.Context, k *app.Kit) (*app.Parts, error) {
		p, err := build(ctx, k)
		if err != nil {
			return nil, err
		}
		out.Kit, out.Parts = k, p
		out.URL, out.Admin = "http://"+k.Config.Listen, "http://"+k.Config.AdminListen
		close(built)
		return p, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		out.err = app.Run(ctx, cfg, s)
		close(out.stopped)
	}()
	t.Cleanup(func() {
		// The service waits for connections on which no request came, and clients keep such.
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		cancel()
		select {
		case <-out.stopped:
			if out.err != nil {
				t.Errorf("the service stopped with %v", out.err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the service does not stop")
		}
	})
	select {
	case <-built:
	case <-out.stopped:
		require.FailNow(t, "the service does not start", "%v", out.err)
	case <-time.After(30 * time.Second):
		require.Fail(t, "the service does not start")
	}
	out.contract = contractOf(t, out.Parts.Ops, usual)
	for _, p := range out.Parts.PagePaths {
		require.NoError(t, proto.MayShow(s.Name, p.GetPath()), "the gateway takes it")
	}
	out.Eventually(func() bool { return out.get(out.Admin+"/readyz") == 200 })
	out.gaugesByIndex()
	if whole && s.Name == "settings" {
		// It publishes roles and access itself, and these would replace the test's.
		out.Eventually(func() bool {
			_, role := out.Kit.Identity.Table.Get(auth.RoleKey("staff"))
			_, access := out.Kit.Identity.Table.Get(auth.AccessKey)
			return role && access
		})
		// Its own manifest comes back to it over Kafka.
		out.Eventually(func() bool { return strings.Contains(out.Visitor().Get("/openapi.json").Body, `"/apps"`) })
	}
	out.roles()
	out.Eventually(func() bool { return len(out.Kit.Identity.Access().GetRoles()) > 0 })
	return out
}

// Now is the service's clock: the real time plus what Travel added.
func (s *Service) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.offset)
}

// Travel moves the service's clock.
func (s *Service) Travel(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset += d
}

// roles publishes the roles as they are on a fresh site, all with API access.
func (s *Service) roles() {
	s.Role(auth.SiteAdmin, "all", auth.Permissions...)
	s.Role("svc_admin", "all", auth.Permissions...)
	s.Role("staff", "own", auth.ViewContacts, auth.EditContacts, auth.ManageBookings)
	s.Role("nobody", "own")
	s.identity(auth.AccessKey, &proto.Identity{Record: &proto.Identity_Access{Access: &proto.Access{
		Roles: []string{auth.SiteAdmin, "svc_admin", "staff", "nobody", "viewer", "custom"}, IdleHours: 8}}})
}

// Role publishes a role.
func (s *Service) Role(name, visibility string, capabilities ...string) {
	s.identity(auth.RoleKey(name), &proto.Identity{Record: &proto.Identity_Role{Role: &proto.Role{
		Name: name, Label: name, Visibility: visibility, Capabilities: capabilities}}})
}

// As is a client of a new user with these roles, over an application password, once the service knows it.
func (s *Service) As(roles ...string) *Client {
	s.t.Helper()
	return s.user(&proto.ApplicationPassword{}, roles...)
}

// AsAssistant is As with a password that is marked for assistants.
func (s *Service) AsAssistant(roles ...string) *Client {
	s.t.Helper()
	return s.user(&proto.ApplicationPassword{Assistant: true}, roles...)
}

// Asking is As with a password whose calls wait for a person as approval says, see op.Approvals.
func (s *Service) Asking(approval string, roles ...string) *Client {
	s.t.Helper()
	return s.user(&proto.ApplicationPassword{Approval: approval}, roles...)
}

// user is a client of a new user over an application password of this kind.
func (s *Service) user(key *proto.ApplicationPassword, roles ...string) *Client {
	s.t.Helper()
	s.mu.Lock()
	s.users++
	id := s.users
	s.mu.Unlock()
	login, password := fmt.Sprintf("user%d", id), fmt.Sprintf("abcd efgh ijkl mnop %04d", id)
	s.publishUser(id, roles...)
	hash := auth.PasswordHash(password)
	key.Id, key.UserId, key.Name, key.Hash = KeyOf(id), id, fmt.Sprintf("key of user %d", id), hash[:]
	s.identity(auth.KeyKey(key.GetId()), &proto.Identity{Record: &proto.Identity_Key{Key: key}})
	s.Eventually(func() bool { _, ok := s.Kit.Identity.Table.Get(auth.KeyKey(key.GetId())); return ok })
	return &Client{s: s, t: s.t, UserID: id, Login: login, password: password}
}

// KeyOf is the id of the application password of a user.
func KeyOf(user int64) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", user) }

// SetRoles gives the user of a client other roles.
func (s *Service) SetRoles(c *Client, roles ...string) { s.publishUser(c.UserID, roles...) }

func (s *Service) publishUser(id int64, roles ...string) {
	login := fmt.Sprintf("user%d", id)
	s.identity(auth.UserKey(fmt.Sprint(id)), &proto.Identity{Record: &proto.Identity_User{User: &proto.User{
		Id: id, Login: login, Name: fmt.Sprintf("User %d", id), Email: login + "@example.com", Roles: roles}}})
}

// AsSession is a client of a new user who signed in with a browser.
func (s *Service) AsSession(roles ...string) *Client {
	s.t.Helper()
	c := s.As(roles...)
	c.cookie, c.password = fmt.Sprintf("session-of-%d", c.UserID), ""
	hash := sha256.Sum256([]byte(c.cookie))
	s.identity(auth.SessionKey(hash[:]), &proto.Identity{Record: &proto.Identity_Session{Session: &proto.Session{
		Hash: hash[:], UserId: c.UserID, Channel: db.ChannelApp, SeenAt: timestamppb.New(s.Now()), ExpiresAt: timestamppb.New(s.Now().Add(24 * time.Hour))}}})
	s.Eventually(func() bool { _, ok := s.Kit.Identity.Table.Get(auth.SessionKey(hash[:])); return ok })
	return c
}

// Visitor is a client who is nobody.
func (s *Service) Visitor() *Client { return &Client{s: s, t: s.t} }

func (s *Service) identity(key string, m *proto.Identity) {
	s.t.Helper()
	// An older version would not replace what the service itself has published. A newer one stays when the relay of settings, whose
	// topic this is, finds a stranger's message behind its own and sends its own again.
	before, _ := s.Kit.Identity.Table.Get(key)
	m.Version = before.GetVersion() + 1
	s.SendMessage(proto.IdentityTopic, key, m)
}

// SendMessage sends a bare message in the name of the service that signs there. Messages of the service itself go through its
// outbox, in order with its own.
func (s *Service) SendMessage(topic, key string, m protobuf.Message) {
	s.t.Helper()
	by := proto.TopicNamed(topic)
	if by.Signed && by.SignerOf(key) == s.Kit.Service {
		require.NoError(s.t, s.Kit.DB.Do(s.t.Context(), func(tx *db.Tx) error { return tx.EmitMessage(topic, key, m) }))
		return
	}
	value, err := protobuf.Marshal(m)
	require.NoError(s.t, err)
	require.NoError(s.t, s.sender(by.SignerOf(key)).Send(s.t.Context(), []db.Message{{Topic: topic, Key: key, Value: value}}))
}

// sender is the connection on which messages are sent that this service signs. It is kept, so that not each message makes one.
func (s *Service) sender(service string) *bus.Bus {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.senders[service]
	if !ok {
		b = Connect(s.Kit.Config.Brokers)
		b.Trust = Trust(service)
		s.senders[service] = b
	}
	return b
}

// Event is a change as a neighbour would send it.
type Event struct {
	ID      string // made when empty
	Topic   string
	Kind    string
	Key     string
	Version int64
	Changed []string
	Actor   *proto.Actor
	AppOff  bool      // the neighbour's app was off
	State   bool      // the neighbour publishes the record again, as it is
	At      time.Time // when it happened; now when it is zero
	Data    any       // a protobuf message, or anything that becomes JSON
	Extra   any
	// Traceparent is the trace that the change belongs to.
	Traceparent string
}

// Send sends an event in a neighbour's name.
func (s *Service) Send(e Event) {
	s.t.Helper()
	env := &proto.Envelope{Id: cmp.Or(e.ID, db.NewID().String()), Kind: e.Kind, RecordId: e.Key, Version: e.Version, Changed: e.Changed, AppOff: e.AppOff, State: e.State,
		Actor: cmp.Or(e.Actor, &proto.Actor{Channel: db.ChannelSystem}), Traceparent: e.Traceparent, OccurredAt: timestamppb.New(cmp.Or(e.At, s.Now()))}
	var err error
	if m, ok := e.Data.(protobuf.Message); ok {
		env.Data, err = protobuf.Marshal(m)
	} else {
		env.Data, err = json.Marshal(e.Data)
	}
	require.NoError(s.t, err)
	if e.Extra != nil {
		env.Extra, err = json.Marshal(e.Extra)
		require.NoError(s.t, err)
	}
	s.SendMessage(e.Topic, e.Key, env)
}

// SetSite publishes a document of the site settings and waits until it is in force.
func (s *Service) SetSite(key string, doc any) {
	s.t.Helper()
	s.Send(Event{Topic: proto.SiteTopic, Kind: proto.KindSiteUpdated, Key: key, Version: 1, Data: doc})
	want, err := json.Marshal(doc)
	require.NoError(s.t, err)
	s.Eventually(func() bool { got, ok := s.Kit.Site.Table.Get(key); return ok && string(got) == string(want) })
}

// SetApp switches an app.
func (s *Service) SetApp(id string, on bool) {
	s.Kit.Apps.Set(app.AppsState{Version: s.Kit.Apps.State().Version + 1, Apps: []app.AppState{{ID: id, Name: id, Enabled: on}}})
}

// Kinds are the kinds of Events about one key.
func (s *Service) Kinds(topic, key string) []string {
	s.t.Helper()
	var kinds []string
	for _, e := range s.Events(topic) {
		if e.GetRecordId() == key {
			kinds = append(kinds, e.GetKind())
		}
	}
	return kinds
}

// Eventually waits until ok holds, for at most a minute. It fails at once if the service has stopped, with the
// service's error.
func (s *Service) Eventually(ok func() bool) {
	s.t.Helper()
	for began := time.Now(); !ok(); {
		select {
		case <-s.stopped:
			require.Fail(s.t, "the service has stopped", "%v", s.err)
		case <-time.After(until.Pause(began, 5*time.Millisecond)):
		}
		if time.Since(began) > time.Minute {
			require.Fail(s.t, "the condition does not hold after a minute")
		}
	}
}

// Begin opens a transaction beside the service, on a connection that is not of its pool. It is rolled back at the test's end.
func (s *Service) Begin() pgx.Tx {
	s.t.Helper()
	conn, err := pgx.ConnectConfig(s.t.Context(), s.Kit.DB.Pool.Config().ConnConfig)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(s.t.Context())) })
	tx, err := conn.Begin(s.t.Context())
	require.NoError(s.t, err)
	return tx
}

// Waiting waits until at least n transactions of the service wait for a lock, or until one of instead holds. It takes no connection of the
// service, since those who wait may have all of them.
func (s *Service) Waiting(n int, instead ...func() bool) {
	s.t.Helper()
	s.Eventually(func() bool {
		return dbtest.Waiting(s.t, s.Kit.DB) >= n || slices.ContainsFunc(instead, func(holds func() bool) bool { return holds() })
	})
}

// OnEach calls look with each connection of the service, once the service has let go of it.
func (s *Service) OnEach(look func(*pgxpool.Conn)) {
	s.t.Helper()
	for range s.Kit.DB.Pool.Config().MaxConns {
		conn, err := s.Kit.DB.Pool.Acquire(s.t.Context())
		require.NoError(s.t, err)
		defer conn.Release()
		look(conn)
	}
}
