package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/pgserver"
	"frontdesk/proto"
)

// world is the service as a process, what it needs, and a business with a full calendar.
type world struct {
	dir     string
	closers []func()
	db      *pgxpool.Pool // as the service's role
	url     string
	api     string
	client  *http.Client
	service string
	first   time.Time // midnight of the first day with appointments
}

// words open the API to the one key of the run.
const words = "bench bench bench bench 1"

const (
	people       = 20
	days         = 31
	appointments = 10_000
)

func newWorld(ctx context.Context) (w *world, err error) {
	w = &world{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}}
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
	urls, err := pgserver.Provision(ctx, pg.URL(), map[string]string{"booking": secret()})
	if err != nil {
		return w, err
	}
	w.url = urls["booking"]
	broker, err := w.startBroker()
	if err != nil {
		return w, err
	}
	b := bus.New(broker)
	defer func() { _ = b.Close() }()
	if err := b.Ensure(ctx, proto.Topics); err != nil {
		return w, err
	}
	if err := identity(ctx, b); err != nil {
		return w, err
	}
	if err := w.startService(broker); err != nil {
		return w, err
	}
	cfg, err := pgxpool.ParseConfig(w.url)
	if err != nil {
		return w, err
	}
	cfg.ConnConfig.RuntimeParams["search_path"] = "booking, ext"
	if w.db, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return w, err
	}
	w.later(w.db.Close)
	return w, w.fill(ctx)
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

// identity makes an administrator with an application password and the rest of the team, as settings would.
func identity(ctx context.Context, b *bus.Bus) error {
	hash := auth.PasswordHash(words)
	records := map[string]*proto.Identity{
		auth.KeyKey("1"): {Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{Id: "1", UserId: 1, Name: "bench", Hash: hash[:]}}},
		auth.AccessKey:   {Record: &proto.Identity_Access{Access: &proto.Access{Roles: []string{auth.SiteAdmin}}}},
	}
	for id := range people {
		n := int64(id + 1)
		records[auth.UserKey(fmt.Sprint(n))] = &proto.Identity{Record: &proto.Identity_User{User: &proto.User{Id: n, Login: fmt.Sprint("bench", n),
			Name: fmt.Sprint("Person ", n), Email: fmt.Sprintf("bench%d@example.com", n), Roles: []string{auth.SiteAdmin}}}}
	}
	var batch []db.Message
	for key, m := range records {
		value, err := protobuf.Marshal(m)
		if err != nil {
			return err
		}
		batch = append(batch, db.Message{Topic: proto.IdentityTopic, Key: key, Value: value})
	}
	return b.Send(ctx, batch)
}

func (w *world) startService(broker string) error {
	binary := filepath.Join(w.dir, "booking")
	build := exec.Command("go", "build", "-o", binary, "frontdesk/services/booking")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	listen, admin := free(), free()
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "SVC_LISTEN="+listen, "SVC_ADMIN_LISTEN="+admin, "DATABASE_URL="+w.url, "KAFKA_BROKERS="+broker,
		"SVC_MASTER_KEY=a key for measuring and nothing else", "SVC_RATE_FACTOR=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	w.later(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
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

// call uses the API as the administrator and answers with the status.
func (w *world) call(method, path string, body, into any) (int, error) {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, w.api+path, reader)
	if err != nil {
		return 0, err
	}
	req.SetBasicAuth("bench1", words)
	req.Header.Set("Content-Type", "application/json")
	res, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if res.StatusCode >= 300 && res.StatusCode != http.StatusConflict {
		return res.StatusCode, fmt.Errorf("%s %s: %s: %s", method, path, res.Status, raw)
	}
	if into == nil {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.Unmarshal(raw, into)
}

// fill makes a service that everybody does, with hours around the clock, and a month of appointments.
func (w *world) fill(ctx context.Context) error {
	staff := make([]int64, people)
	for i := range staff {
		staff[i] = int64(i + 1)
	}
	var made struct{ ID string }
	_, err := w.call("POST", "/services", map[string]any{"name": "Bench", "duration_min": 15, "staff": staff, "buffer_after": 5}, &made)
	if err != nil {
		return err
	}
	w.service = made.ID
	hours := map[string]any{}
	for day := 1; day <= 7; day++ {
		hours[strconv.Itoa(day)] = [][]string{{"08:00", "12:00"}, {"13:00", "20:00"}}
	}
	for _, user := range staff {
		if _, err := w.call("PUT", fmt.Sprintf("/staff/%d/hours", user), map[string]any{"hours": hours}, nil); err != nil {
			return err
		}
	}
	if _, err := w.call("PATCH", "/settings/booking", map[string]any{"max_advance_days": 730}, nil); err != nil {
		return err
	}
	w.first = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	_, err = w.db.Exec(ctx, `
		with n as (select i, 1 + i % $2 as user_id, (i / $2) % $3 as day, i / $2 / $3 as turn from generate_series(0, $1 - 1) i)
		insert into appointment (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type,
			location, meeting_url, notes, source, timed_at, created_at, updated_at)
		select gen_random_uuid(), 'confirmed', $4, '{"name": "Bench", "duration_min": 15}', user_id, gen_random_uuid(),
			$5::timestamptz + make_interval(days => day, mins => 8 * 60 + turn * 40), $5::timestamptz + make_interval(days => day, mins => 8 * 60 + turn * 40 + 15),
			0, 5, 'in_person', '', '', '', 'api', now(), now(), now() from n`, appointments, people, days, w.service, w.first)
	if err != nil {
		return err
	}
	_, err = w.db.Exec(ctx, `analyze appointment`)
	return err
}
