package world

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/deploy/client"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/db/pgserver/tether"
	"frontdesk/libs/freeport"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// World is one service as a process, with a database and a broker of its own that lose nothing in a crash.
type World struct {
	client.API
	closers
	Dir  string            // is gone after Close
	URLs map[string]string // of the database: for each schema the one of its role
	DB   *pgxpool.Pool     // as the service's role, with its search path
	Bus  *bus.Bus

	// Of the service. They change when it starts again.
	PID   int
	Admin string // http://host:port of the admin port

	options Options
	broker  string
	stores  []int // PIDs of Postgres and the broker
	stop    func()
}

// Options say what is in a world.
type Options struct {
	Service string
	// People is how many colleagues there are, with the ids from 1 on. All are administrators; the first one calls the API.
	People int
	// Schemas get a role each, beside the service's.
	Schemas []string
	// Env is for the service's process.
	Env []string
}

const password = "bench bench bench bench 1"

// New starts a world. The service is built from the checkout in the current folder, and is ready.
func New(ctx context.Context, o Options) (w *World, err error) {
	w = &World{}
	if w.API, err = client.New(""); err != nil {
		return w, err
	}
	w.Login, w.Password = "bench1", password
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	if w.Dir, err = w.folder(); err != nil {
		return w, err
	}
	pg, err := pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(w.Dir, "pg"), Durable: true})
	if err != nil {
		return w, fmt.Errorf("start Postgres: %w", err)
	}
	w.Defer(pg.Stop)
	w.stores = append(w.stores, pg.PID())
	passwords := map[string]string{o.Service: rand.Text()}
	for _, s := range o.Schemas {
		passwords[s] = rand.Text()
	}
	if w.URLs, err = pgserver.Provision(ctx, pg.URL(), passwords); err != nil {
		return w, fmt.Errorf("make the roles: %w", err)
	}
	broker, err := w.startBroker()
	if err != nil {
		return w, fmt.Errorf("start the broker: %w", err)
	}
	w.Bus = bus.New(broker, bus.Login{})
	w.Bus.Trust = trust.New("settings", []string{masterKey}, trust.RingOf(proto.Services, func(string) []string { return []string{masterKey} }))
	w.Defer(func() { _ = w.Bus.Close() })
	if err := w.Bus.Ensure(ctx, proto.Topics); err != nil {
		return w, fmt.Errorf("make the topics: %w", err)
	}
	if err := w.publishPeople(ctx, o.People); err != nil {
		return w, fmt.Errorf("publish the people: %w", err)
	}
	w.options, w.broker = o, broker
	if err := build(filepath.Join(w.Dir, o.Service), "frontdesk/services/"+o.Service); err != nil {
		return w, err
	}
	w.Defer(w.StopService)
	if err := w.StartService(30 * time.Second); err != nil {
		return w, fmt.Errorf("start %s: %w", o.Service, err)
	}
	w.DB, err = w.pool(ctx, w.URLs[o.Service], o.Service+", ext")
	return w, err
}

func (c *closers) pool(ctx context.Context, url, searchPath string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.ConnConfig.RuntimeParams["search_path"] = searchPath
	return c.open(ctx, cfg)
}

func (c *closers) open(ctx context.Context, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err == nil {
		c.Defer(pool.Close)
	}
	return pool, err
}

// startBroker runs the launcher's broker as a process of its own, on disk and synced, and answers its address.
func (w *World) startBroker() (string, error) {
	launcher := filepath.Join(w.Dir, "local")
	if err := build(launcher, "frontdesk/deploy/local"); err != nil {
		return "", err
	}
	cmd := exec.Command(launcher, "kafka", "-listen", "127.0.0.1:0", "-dir", filepath.Join(w.Dir, "broker"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := tether.Start(cmd, syscall.SIGKILL); err != nil {
		return "", err
	}
	w.Defer(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	w.stores = append(w.stores, cmd.Process.Pid)
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimPrefix(strings.TrimSpace(line), "listening on "), err
}

// Costing is f with the cost of a call to each process, which it prints behind name. A caller that serves itself costs both.
func (w *World) Costing(r *Report, name string, f func() (float64, error)) func() (float64, error) {
	return func() (float64, error) {
		rate, cost, err := Costs(map[string]func() []int{
			"caller":     func() []int { return []int{os.Getpid()} },
			"service":    func() []int { return []int{w.PID} },
			"PostgreSQL": func() []int { return Family(w.stores[0]) },
			"broker":     func() []int { return Family(w.stores[1]) },
		}, f)
		if err == nil {
			for _, part := range slices.Sorted(maps.Keys(cost)) {
				r.Note(name+", processor time of "+part, Ms(cost[part]))
			}
		}
		return rate, err
	}
}

// masterKey is that of every service.
const masterKey = "a key for measuring and nothing else"

// publishPeople publishes the administrators and the key of the first, as settings would.
func (w *World) publishPeople(ctx context.Context, people int) error {
	hash := auth.PasswordHash(password)
	records := map[string]*proto.Identity{
		auth.KeyKey("1"): {Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{Id: "1", UserId: 1, Name: "bench", Hash: hash[:]}}},
		auth.AccessKey:   {Record: &proto.Identity_Access{Access: &proto.Access{Roles: []string{auth.SiteAdmin}}}},
	}
	for n := int64(1); n <= int64(people); n++ {
		records[auth.UserKey(fmt.Sprint(n))] = &proto.Identity{Version: 1, Record: &proto.Identity_User{User: &proto.User{Id: n, Login: fmt.Sprint("bench", n),
			Name: fmt.Sprint("Person ", n), Email: fmt.Sprintf("bench%d@example.com", n), Roles: []string{auth.SiteAdmin}}}}
	}
	var batch []db.Message
	for key, m := range records {
		m.Version = 1
		value, err := protobuf.Marshal(m)
		if err != nil {
			return err
		}
		batch = append(batch, db.Message{Topic: proto.IdentityTopic, Key: key, Value: value})
	}
	return w.Bus.Send(ctx, batch)
}

// StopService kills the service.
func (w *World) StopService() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// StartService starts the service, which must not run, and returns once it is ready. It is an error if that takes longer than
// within.
func (w *World) StartService(within time.Duration) error {
	listen, admin := freeport.Address(), freeport.Address()
	cmd := exec.Command(filepath.Join(w.Dir, w.options.Service))
	cmd.Env = append(append(os.Environ(), "SVC_LISTEN="+listen, "SVC_ADMIN_LISTEN="+admin, "DATABASE_URL="+w.URLs[w.options.Service],
		"KAFKA_BROKERS="+w.broker, "SVC_MASTER_KEY="+masterKey, "SVC_RATE_FACTOR=0"), w.options.Env...)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := tether.Start(cmd, syscall.SIGKILL); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	w.stop = func() { _ = cmd.Process.Kill(); fmt.Fprintln(&log, "killed:", <-ended) }
	w.PID, w.URL, w.Admin = cmd.Process.Pid, "http://"+listen, "http://"+admin
	for until := time.Now().Add(within); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("it ended: %w: %s", err, log.String())
		default:
		}
		res, err := http.Get(w.Admin + "/readyz")
		if err != nil {
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("it is not ready after %v", within)
}

// Metric is a metric of the service, added up over its labels.
func (w *World) Metric(name string) (sum float64, err error) {
	res, err := http.Get(w.Admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	found := false
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		n, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, err
		}
		sum, found = sum+n, true
	}
	if !found {
		return 0, fmt.Errorf("%s has no metric %s", w.options.Service, name)
	}
	return sum, nil
}
