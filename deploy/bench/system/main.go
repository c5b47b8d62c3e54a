// Command system measures the whole system that `make run` has started, each figure as a ratio to a limit
// taken in the same run: `go run ./deploy/bench/system`.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

type run struct {
	Gateway  string `json:"gateway"`
	Kafka    string `json:"kafka"`
	Database string `json:"database_url"`
	Admin    struct{ Login, Password string }
	// Processes by name.
	Processes map[string]struct {
		PID int    `json:"pid"`
		URL string `json:"url"`
	}
}

func main() {
	dir := flag.String("data", ".run", "data folder of the run")
	seconds := flag.Int("seconds", 3, "length of each measurement of requests")
	rounds := flag.Int("rounds", 3, "how often each is taken, in turn; the median counts")
	flag.Parse()
	if err := measure(*dir, time.Duration(*seconds)*time.Second, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(dir string, length time.Duration, rounds int) error {
	var r run
	raw, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return fmt.Errorf("is the system running? %w", err)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	if r.Admin.Password == "" {
		r.Admin.Password = os.Getenv("SVC_ADMIN_PASSWORD")
	}
	time.Sleep(10 * time.Second) // a system that has just started is not at rest
	memory(r)
	key, err := signIn(r)
	if err != nil {
		return err
	}
	admin := func(req *http.Request) { req.SetBasicAuth(r.Admin.Login, key) }
	nobody := func(*http.Request) {}
	booking := r.Processes["booking"].URL
	twin, asTwin, stop, err := twins(r)
	if err != nil {
		return err
	}
	defer stop()

	cases := []struct {
		name, url string
		as        func(*http.Request)
		rates     []float64
	}{
		{"direct, public", booking + "/v1/booking/services", nobody, nil},
		{"gateway, public", r.Gateway + "/v1/booking/services", nobody, nil},
		{"one op, public", twin + "/v1/open", nobody, nil},
		{"one op, with a key", twin + "/v1/closed", asTwin, nil},
	}
	for range rounds {
		for i := range cases {
			rate, err := load(cases[i].url, cases[i].as, length)
			if err != nil {
				return err
			}
			cases[i].rates = append(cases[i].rates, rate)
		}
	}
	for _, c := range cases {
		fmt.Printf("%-22s %8.0f requests/s\n", c.name, median(c.rates))
	}
	fmt.Printf("gateway / direct             %.2f  (at least 0.25)\n", median(cases[1].rates)/median(cases[0].rates))
	fmt.Printf("with / without authentication %.2f  (at least 0.80)\n", median(cases[3].rates)/median(cases[2].rates))
	if err := events(r); err != nil {
		return err
	}
	return appSwitch(r, admin)
}

// memory is what the five services and the controller hold at rest.
func memory(r run) {
	total := 0
	for _, name := range []string{"settings", "contacts", "booking", "forms", "webhooks", "gateway"} {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.Processes[name].PID))
		if err != nil {
			fmt.Println(name, err)
			continue
		}
		for line := range strings.SplitSeq(string(status), "\n") {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.Atoi(strings.Fields(rest)[0])
				total += kb
				fmt.Printf("memory of %-10s %4d MB\n", name, kb/1024)
			}
		}
	}
	fmt.Printf("memory together      %4d MB  (under 250)\n", total/1024)
}

func signIn(r run) (key string, err error) {
	body, _ := json.Marshal(map[string]string{"login": r.Admin.Login, "password": r.Admin.Password})
	res, err := http.Post(r.Gateway+"/v1/auth/login", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("sign in: %s", res.Status)
	}
	req, _ := http.NewRequest(http.MethodPost, r.Gateway+"/v1/me/application-passwords", strings.NewReader(`{"name":"bench"}`))
	req.Header.Set("Content-Type", "application/json")
	for _, c := range res.Cookies() {
		req.AddCookie(c)
	}
	made, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer made.Body.Close()
	var out struct{ Password string }
	return out.Password, json.NewDecoder(made.Body).Decode(&out)
}

// load asks for url with 16 clients and answers how many a second it got.
func load(url string, as func(*http.Request), length time.Duration) (float64, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: 10 * time.Second}
	var done atomic.Int64
	var wrong atomic.Pointer[error]
	start := time.Now()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for time.Since(start) < length {
				req, _ := http.NewRequest(http.MethodGet, url, nil)
				as(req)
				res, err := client.Do(req)
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
					if res.StatusCode != http.StatusOK {
						err = fmt.Errorf("%s: %s (run with SVC_RATE_FACTOR=0)", url, res.Status)
					}
				}
				if err != nil {
					wrong.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if err := wrong.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}

// twins serves one operation twice, for everybody and for those with a permission, so that nothing but
// the check of who calls is between them.
func twins(r run) (url string, as func(*http.Request), stop func(), err error) {
	d, err := db.Open(context.Background(), r.Database, "settings")
	if err != nil {
		return "", nil, nil, err
	}
	i := auth.NewIdentity(bus.New(r.Kafka))
	hash := auth.PasswordHash("password of the twin")
	for key, m := range map[string]*proto.Identity{
		auth.UserKey("1"): {Record: &proto.Identity_User{User: &proto.User{Id: 1, Login: "twin", Roles: []string{auth.SiteAdmin}}}},
		auth.KeyKey("1"):  {Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{Id: "1", UserId: 1, Name: "bench", Hash: hash[:]}}},
		auth.AccessKey:    {Record: &proto.Identity_Access{Access: &proto.Access{Roles: []string{auth.SiteAdmin}}}},
	} {
		i.Table.Put(key, m)
	}
	set := op.NewSet("bench", d, auth.New(i))
	answer := func(ctx context.Context, tx *db.Tx, _ struct{}) (db.List[int], error) {
		var n int
		err := tx.QueryRow(ctx, "select 1").Scan(&n)
		return db.All([]int{n}), err
	}
	op.Add(set, op.Op{ID: "open", Route: "GET /open", Perm: op.Public, Doc: "For everybody."}, answer)
	op.Add(set, op.Op{ID: "closed", Route: "GET /closed", Perm: auth.ViewContacts, Doc: "For those who may."}, answer)
	server := httptest.NewServer(set.Handler())
	return server.URL, func(req *http.Request) { req.SetBasicAuth("twin", "password of the twin") }, func() { server.Close(); d.Close() }, nil
}

// events measures from the commit of a change to the commit of its effect in a consumer, on the run's
// own database and broker.
func events(r run) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	admin, err := pgx.Connect(ctx, r.Database)
	if err != nil {
		return err
	}
	defer admin.Close(ctx)
	schema := "bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	if _, err := admin.Exec(ctx, "create schema "+schema); err != nil {
		return err
	}
	defer func() { _, _ = admin.Exec(context.Background(), "drop schema "+schema+" cascade") }()
	d, err := db.Open(ctx, r.Database, schema)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Migrate(ctx, nil); err != nil {
		return err
	}
	b := bus.New(r.Kafka)
	topic := "bench." + schema
	if err := b.Ensure(ctx, []proto.Topic{{Name: topic, Partitions: 4}}); err != nil {
		return err
	}
	c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: topic, Handle: func(ctx context.Context, tx *db.Tx, e bus.Event) error {
		_, err := tx.Exec(ctx, `select pg_notify($1, $2)`, schema, e.Key)
		return err
	}}}}
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	running.Go(func() { d.Relay(ctx, b.Send, func(error) {}) })
	defer running.Wait()
	defer cancel()
	listener, err := pgx.Connect(ctx, r.Database)
	if err != nil {
		return err
	}
	defer listener.Close(context.Background())
	if _, err := listener.Exec(ctx, "listen "+schema); err != nil {
		return err
	}
	var took []float64
	for i := range 550 {
		key := strconv.Itoa(i)
		if err := d.Do(ctx, func(tx *db.Tx) error {
			return tx.Emit(ctx, db.Event{Topic: topic, Kind: "bench", Key: key, Version: 1, Data: map[string]string{"text": strings.Repeat("x", 400)}})
		}); err != nil {
			return err
		}
		committed := time.Now()
		for {
			n, err := listener.WaitForNotification(ctx)
			if err != nil {
				return err
			}
			if n.Payload == key {
				break
			}
		}
		if i >= 50 {
			took = append(took, float64(time.Since(committed).Microseconds())/1000)
		}
		time.Sleep(2 * time.Millisecond)
	}
	fmt.Printf("event, commit to effect: p50 %.1f ms (at most 10), p99 %.1f ms (at most 50)\n", quantile(took, .5), quantile(took, .99))
	return nil
}

// appSwitch switches booking off and on, and looks for an answer that is older than the switch.
func appSwitch(r run, as func(*http.Request)) error {
	call := func(method, path, body string) (int, error) {
		req, _ := http.NewRequest(method, r.Gateway+"/v1"+path, strings.NewReader(body))
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		as(req)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode, res.Body.Close()
	}
	var took []float64
	stale := 0
	for i := range 100 {
		on := i%2 == 1
		start := time.Now()
		status, err := call(http.MethodPatch, "/apps/booking", fmt.Sprintf(`{"enabled":%v}`, on))
		if err != nil || status != 200 {
			return fmt.Errorf("PATCH /apps/booking: %d %w", status, err)
		}
		took = append(took, float64(time.Since(start).Milliseconds()))
		for range 5 {
			status, err := call(http.MethodGet, "/services", "")
			if err != nil {
				return err
			}
			if (status == 200) != on {
				stale++
			}
		}
	}
	fmt.Printf("app switch: p50 %.0f ms, p99 %.0f ms (at most 500), stale answers after it: %d of 500 (none)\n", quantile(took, .5), quantile(took, .99), stale)
	return nil
}

func median(v []float64) float64 { return quantile(v, .5) }

func quantile(v []float64, q float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}
