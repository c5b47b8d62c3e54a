package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/pgserver"
	"frontdesk/proto"
)

// world is the service as a process, what it needs, and receivers.
type world struct {
	dir     string
	closers []func()
	bus     *bus.Bus
	admin   *pgx.Conn // superuser
	events  *db.DB    // where the events are committed
	api     string
	proc    *exec.Cmd
}

const phrase = "bench bench bench bench 1"

func newWorld(ctx context.Context) (w *world, err error) {
	w = &world{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "frontdesk-bench-"); err != nil {
		return w, err
	}
	w.later(func() { _ = os.RemoveAll(w.dir) })
	if err := os.Chmod(w.dir, 0o755); err != nil {
		return w, err
	}
	pg, err := pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(w.dir, "pg"), Durable: true})
	if err != nil {
		return w, err
	}
	w.later(pg.Stop)
	urls, err := pgserver.Provision(ctx, pg.URL(), map[string]string{"webhooks": secret(), "producer": secret()})
	if err != nil {
		return w, err
	}
	broker, err := w.startBroker()
	if err != nil {
		return w, err
	}
	w.bus = bus.New(broker)
	w.later(func() { _ = w.bus.Close() })
	if err := w.bus.Ensure(ctx, proto.Topics); err != nil {
		return w, err
	}
	if w.events, err = db.Open(ctx, urls["producer"], "producer"); err != nil {
		return w, err
	}
	w.later(w.events.Close)
	if err := w.events.Migrate(ctx, nil); err != nil {
		return w, err
	}
	relay, stop := context.WithCancel(context.Background())
	w.later(stop)
	go w.events.Relay(relay, w.bus.Send, func(err error) { fmt.Fprintln(os.Stderr, "relay:", err) })
	if w.admin, err = pgx.Connect(ctx, strings.Replace(pg.URL(), "/postgres?", "/"+pgserver.Database+"?", 1)); err != nil {
		return w, err
	}
	w.later(func() { _ = w.admin.Close(context.Background()) })
	if err := w.identity(ctx); err != nil {
		return w, err
	}
	return w, w.startService(urls["webhooks"], broker)
}

func (w *world) later(f func()) { w.closers = append(w.closers, f) }

func (w *world) close() {
	for len(w.closers) > 0 {
		last := len(w.closers) - 1
		w.closers[last]()
		w.closers = w.closers[:last]
	}
}

func secret() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

func (w *world) startBroker() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self, "-broker", filepath.Join(w.dir, "broker"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	w.later(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), err
}

// identity makes an administrator with an application password, as settings would.
func (w *world) identity(ctx context.Context) error {
	hash := auth.PasswordHash(phrase)
	var batch []db.Message
	for key, m := range map[string]*proto.Identity{
		auth.UserKey("1"): {Record: &proto.Identity_User{User: &proto.User{Id: 1, Login: "bench", Name: "Bench", Email: "bench@example.com", Roles: []string{auth.SiteAdmin}}}},
		auth.KeyKey("1"):  {Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{Id: "1", UserId: 1, Name: "bench", Hash: hash[:]}}},
		auth.AccessKey:    {Record: &proto.Identity_Access{Access: &proto.Access{Roles: []string{auth.SiteAdmin}}}},
	} {
		value, err := protobuf.Marshal(m)
		if err != nil {
			return err
		}
		batch = append(batch, db.Message{Topic: proto.IdentityTopic, Key: key, Value: value})
	}
	return w.bus.Send(ctx, batch)
}

func (w *world) startService(database, broker string) error {
	binary := filepath.Join(w.dir, "webhooks")
	build := exec.Command("go", "build", "-o", binary, "frontdesk/services/webhooks")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	listen, admin := free(), free()
	// All receivers show the same certificate; the service is told to trust it.
	trust := filepath.Join(w.dir, "trust.pem")
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	srv.Close()
	if err := os.WriteFile(trust, certificate, 0o600); err != nil {
		return err
	}
	w.proc = exec.Command(binary)
	w.proc.Env = append(os.Environ(), "SVC_LISTEN="+listen, "SVC_ADMIN_LISTEN="+admin, "DATABASE_URL="+database, "KAFKA_BROKERS="+broker,
		"SVC_MASTER_KEY=a key for measuring and nothing else", "SVC_WEBHOOK_LOCAL=1", "SVC_RATE_FACTOR=0", "SSL_CERT_FILE="+trust)
	var said bytes.Buffer
	w.proc.Stderr = &said
	if err := w.proc.Start(); err != nil {
		return err
	}
	w.later(func() { _ = w.proc.Process.Kill(); _ = w.proc.Wait() })
	w.api = "http://" + listen + "/v1"
	for range 400 {
		if res, err := http.Get("http://" + admin + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("the service does not get ready: " + said.String())
}

func free() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer l.Close()
	return l.Addr().String()
}

// call uses the API as the administrator.
func (w *world) call(method, path string, body, into any) error {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, w.api+path, reader)
	if err != nil {
		return err
	}
	req.SetBasicAuth("bench", phrase)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, raw)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// subscribe adds a webhook for contact.created.
func (w *world) subscribe(url string) (id, secret string, err error) {
	var out struct {
		Webhook struct{ ID string }
		Secret  string
	}
	err = w.call("POST", "/webhooks", map[string]any{"name": "bench", "url": url, "events": []string{"contact.created"}}, &out)
	return out.Webhook.ID, out.Secret, err
}

func (w *world) unsubscribe(ids []string) error {
	for _, id := range ids {
		if err := w.call("DELETE", "/webhooks/"+id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// receiver notes when each event arrived.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]time.Time
	hang bool
}

func (w *world) receiver(hang bool) *receiver {
	r := &receiver{seen: map[string]time.Time{}, hang: hang}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		now := time.Now()
		_, _ = io.Copy(io.Discard, req.Body)
		if hang {
			<-req.Context().Done()
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if id := req.Header.Get("webhook-id"); r.seen[id].IsZero() {
			r.seen[id] = now
		}
	}))
	return r
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

// body is a contact as contacts sends it, more or less.
func body(id string) map[string]any {
	return map[string]any{"id": id, "first_name": "Ann", "last_name": "Peeters", "email": "ann@example.com", "phone": "+32470123456",
		"status": "lead", "marketing": "none", "source": "form", "owner_user_id": nil, "tags": []string{"new"}, "fields": map[string]any{},
		"organization": nil, "created_at": "2026-11-20T10:00:00Z", "updated_at": "2026-11-20T10:00:00Z", "deleted_at": nil}
}

// commit makes n events in one transaction and answers with their ids and when it was over.
func (w *world) commit(ctx context.Context, n int) (ids []string, at time.Time, err error) {
	err = w.events.Do(ctx, func(tx *db.Tx) error {
		ids = ids[:0]
		for range n {
			key := uuid.NewString()
			if err := tx.Emit(ctx, db.Event{Topic: proto.ContactTopic, Kind: "contact.created", Key: key, Version: 1, Data: body(key)}); err != nil {
				return err
			}
			ids = append(ids, key)
		}
		return nil
	})
	return ids, time.Now(), err
}
