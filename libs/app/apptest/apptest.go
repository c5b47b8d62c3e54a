// Package apptest runs one whole service in a test: real Postgres, a broker in the process, HTTP. The
// neighbours are the events that the test sends in their name. Every answer is checked against the
// service's own OpenAPI description by a validator that is not the one which checks requests.
package apptest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Service is a running service.
type Service struct {
	URL   string // http://host:port
	Admin string // http://host:port of the admin port
	Kit   *app.Kit
	Parts *app.Parts

	t       testing.TB
	router  routers.Router
	broker  *kafka.Client
	stopped chan struct{} // closed when the service has returned err
	err     error
	mu      sync.Mutex
	users   int64
	offset  time.Duration
}

// Start runs s with its own database and broker until the test ends. configure may change the knobs.
func Start(t testing.TB, s app.Service, configure ...func(*app.Config)) *Service {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	brokers := strings.Join(cluster.ListenAddrs(), ",")
	transport := &kafka.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	out := &Service{t: t, broker: &kafka.Client{Addr: kafka.TCP(brokers), Transport: transport}, stopped: make(chan struct{}), users: 100}
	cfg := app.Config{Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", PublicURL: "http://localhost:8080", DatabaseURL: dbtest.URL(t, s.Name, s.Migrations),
		Brokers: brokers, MasterKey: "a master key that only tests know of", Timezone: "Europe/Brussels", Now: out.Now,
		AdminLogin: "admin", AdminPassword: "correct horse battery", AdminEmail: "admin@example.com", MailFrom: "frontdesk@example.com"}
	cfg.Zone, err = time.LoadLocation(cfg.Timezone)
	require.NoError(t, err)
	for _, f := range configure {
		f(&cfg)
	}
	built := make(chan struct{})
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
	out.router = contract(t, out.Parts.Ops)
	out.Eventually(func() bool { return out.get(out.Admin+"/readyz") == 200 })
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
	s.mu.Lock()
	s.users++
	id := s.users
	s.mu.Unlock()
	return s.user(id, false, roles...)
}

// AsAssistant is As with a password that is marked for assistants.
func (s *Service) AsAssistant(roles ...string) *Client {
	s.t.Helper()
	s.mu.Lock()
	s.users++
	id := s.users
	s.mu.Unlock()
	return s.user(id, true, roles...)
}

func (s *Service) user(id int64, assistant bool, roles ...string) *Client {
	s.t.Helper()
	login, password := fmt.Sprintf("user%d", id), fmt.Sprintf("abcd efgh ijkl mnop %04d", id)
	s.identity(auth.UserKey(fmt.Sprint(id)), &proto.Identity{Record: &proto.Identity_User{User: &proto.User{
		Id: id, Login: login, Name: fmt.Sprintf("User %d", id), Email: login + "@example.com", Roles: roles}}})
	hash := auth.PasswordHash(password)
	s.identity(auth.KeyKey(fmt.Sprint("k", id)), &proto.Identity{Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{
		Id: fmt.Sprint("k", id), UserId: id, Name: fmt.Sprintf("key of user %d", id), Hash: hash[:], Assistant: assistant}}})
	s.Eventually(func() bool { _, ok := s.Kit.Identity.Table.Get(auth.KeyKey(fmt.Sprint("k", id))); return ok })
	return &Client{s: s, t: s.t, UserID: id, Login: login, password: password}
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
	value, err := protobuf.Marshal(m)
	require.NoError(s.t, err)
	s.send(proto.IdentityTopic, key, value)
}

func (s *Service) send(topic, key string, value []byte) {
	s.t.Helper()
	require.NoError(s.t, s.Kit.Bus.Send(s.t.Context(), []db.Message{{Topic: topic, Key: key, Value: value}}))
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
	AppOff  bool // the neighbour's app was off
	Data    any  // a protobuf message, or anything that becomes JSON
	Extra   any
}

// Send sends an event in a neighbour's name.
func (s *Service) Send(e Event) {
	s.t.Helper()
	env := &proto.Envelope{Id: e.ID, Kind: e.Kind, RecordId: e.Key, Version: e.Version, Changed: e.Changed, Actor: e.Actor, AppOff: e.AppOff,
		OccurredAt: timestamppb.New(s.Now())}
	if env.Id == "" {
		env.Id = db.NewID().String()
	}
	if env.Actor == nil {
		env.Actor = &proto.Actor{Channel: db.ChannelSystem}
	}
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
	value, err := protobuf.Marshal(env)
	require.NoError(s.t, err)
	s.send(e.Topic, e.Key, value)
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

// Eventually waits until ok holds, for at most 15 seconds. It fails at once if the service has stopped, with the
// service's error.
func (s *Service) Eventually(ok func() bool) {
	s.t.Helper()
	for until := time.Now().Add(15 * time.Second); !ok(); {
		select {
		case <-s.stopped:
			require.Fail(s.t, "the service has stopped", "%v", s.err)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(until) {
			require.Fail(s.t, "the condition does not hold after 15 s")
		}
	}
}

// contracts keeps the router of each description, since reading one takes some 15 ms of every start.
var contracts sync.Map

// contract is the router that finds the description of an answer.
func contract(t testing.TB, set *op.Set) routers.Router {
	t.Helper()
	part := set.OpenAPI()
	part.Components["schemas"].(map[string]any)["Error"] = op.ErrorSchema
	doc, err := json.Marshal(map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "service", "version": "1.0.0"},
		"servers": []any{map[string]any{"url": "/v1"}}, "paths": part.Paths, "components": part.Components})
	require.NoError(t, err)
	if known, ok := contracts.Load(string(doc)); ok {
		return known.(routers.Router)
	}
	loader := openapi3.NewLoader()
	parsed, err := loader.LoadFromData(doc)
	require.NoError(t, err)
	router, err := gorillamux.NewRouter(parsed)
	require.NoError(t, err)
	contracts.Store(string(doc), router)
	return router
}
