// Command system measures the whole system, each figure as a ratio to a limit taken in the same run:
// `go run ./deploy/bench/system`. It starts one of its own, or takes the running one that -data names.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/deploy/bench/world"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

var (
	data   = flag.String("data", "", "data folder of a running system; empty starts one")
	length = flag.Duration("length", 3*time.Second, "length of each measurement of requests")
	rounds = flag.Int("rounds", 3, "how often each is taken, in turn; the median counts")
)

// bench is the system and the report of one run.
type bench struct {
	*world.System
	*world.Report
}

func main() {
	world.Run(func(ctx context.Context, r *world.Report) ([]world.Part, func(), error) {
		s, err := world.StartSystem(ctx, *data)
		if err != nil {
			return nil, nil, err
		}
		b := &bench{s, r}
		return []world.Part{{Name: "memory", Take: b.memory}, {Name: "requests", Take: b.requests}, {Name: "pages", Take: b.pages}, {Name: "events", Take: b.events}, {Name: "switch", Take: b.appSwitch}}, s.Close, nil
	})
}

// memory is what the five services and the controller hold at rest.
func (b *bench) memory(context.Context) error {
	time.Sleep(time.Minute) // a process gives memory back after a time of rest
	own, files := 0, 0
	for _, name := range []string{"settings", "contacts", "booking", "forms", "webhooks", "gateway"} {
		p, err := b.Process(name)
		if err != nil {
			return err
		}
		held, file := world.Memory(p.PID, "RssAnon"), world.Memory(p.PID, "RssFile")
		b.Note("memory of "+name, world.MiB(held))
		own, files = own+held, files+file
	}
	b.AtMost("memory at rest", world.MiB(own), world.MiB(150<<10))
	b.Note("pages of the programs' files, which the system may drop", world.MiB(files))
	return nil
}

// requests compares requests through the gateway with direct ones, and those with a key with public ones.
func (b *bench) requests(ctx context.Context) error {
	booking, err := b.Process("booking")
	if err != nil {
		return err
	}
	twin, asTwin, stop, err := b.twins(ctx)
	if err != nil {
		return err
	}
	defer stop()
	nobody := func(*http.Request) {}
	rates, err := world.Turns(*rounds,
		b.load(booking.URL+"/v1/booking/services", nobody),
		b.load(b.URL+"/v1/booking/services", nobody),
		b.load(twin+"/v1/open", nobody),
		b.load(twin+"/v1/closed", asTwin))
	if err != nil {
		return err
	}
	var medians []float64
	for i, name := range []string{"direct, public", "gateway, public", "one operation, public", "one operation, with a key"} {
		medians = append(medians, world.Median(rates[i]))
		b.Note(name, world.PerSecond(medians[i]))
	}
	b.AtLeast("gateway ÷ direct", world.Ratio(medians[1], medians[0]), world.Plain(0.25))
	b.AtLeast("with ÷ without authentication", world.Ratio(medians[3], medians[2]), world.Plain(0.8))
	return nil
}

// load measures how many answers a second 16 clients get.
func (b *bench) load(url string, as func(*http.Request)) func() (float64, error) {
	return func() (float64, error) {
		return world.Load(16, *length, func() error {
			req, err := http.NewRequest(http.MethodGet, url, nil)
			if err != nil {
				return err
			}
			as(req)
			res, err := b.Client.Do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: %s (a running system needs SVC_RATE_FACTOR=0)", url, res.Status)
			}
			_, err = io.Copy(io.Discard, res.Body)
			return err
		})
	}
}

// twins serves one operation twice, for everybody and for those with a permission, so that nothing but
// the check of who calls is between them.
func (b *bench) twins(ctx context.Context) (url string, as func(*http.Request), stop func(), err error) {
	d, err := db.Open(ctx, b.Database, "settings")
	if err != nil {
		return "", nil, nil, err
	}
	i := auth.NewIdentity(bus.New(b.Kafka, b.KafkaLogin))
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
func (b *bench) events(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	admin, err := pgx.Connect(ctx, b.Database)
	if err != nil {
		return err
	}
	defer admin.Close(ctx)
	schema := "bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	if _, err := admin.Exec(ctx, "create schema "+schema); err != nil {
		return err
	}
	defer func() { _, _ = admin.Exec(context.Background(), "drop schema "+schema+" cascade") }()
	d, err := db.Open(ctx, b.Database, schema)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Migrate(ctx, nil); err != nil {
		return err
	}
	broker := bus.New(b.Kafka, b.KafkaLogin)
	defer broker.Close()
	topic := "bench." + schema
	if err := broker.Ensure(ctx, []proto.Topic{{Name: topic, Partitions: 4}}); err != nil {
		return err
	}
	c := &bus.Consumer{Bus: broker, DB: d, Follows: []bus.Follow{{Topic: topic, Handle: func(ctx context.Context, tx *db.Tx, e bus.Event) error {
		_, err := tx.Exec(ctx, `select pg_notify($1, $2)`, schema, e.Key)
		return err
	}}}}
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	running.Go(func() { (&relay.Relay{DB: d, Log: broker}).Run(ctx, func(error) {}) })
	defer running.Wait()
	defer cancel()
	listener, err := pgx.Connect(ctx, b.Database)
	if err != nil {
		return err
	}
	defer listener.Close(context.Background())
	if _, err := listener.Exec(ctx, "listen "+schema); err != nil {
		return err
	}
	var took []time.Duration
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
			took = append(took, time.Since(committed))
		}
		time.Sleep(2 * time.Millisecond)
	}
	b.AtMost("event, commit to effect, p50", world.Ms(world.Median(took)), world.Ms(10*time.Millisecond))
	b.AtMost("event, commit to effect, p99", world.Ms(world.Quantile(.99, took)), world.Ms(50*time.Millisecond))
	return nil
}

// appSwitch switches booking off and on, and looks for an answer that is older than the switch.
func (b *bench) appSwitch(context.Context) error {
	var took []time.Duration
	stale := 0
	for i := range 100 {
		on := i%2 == 1
		start := time.Now()
		if _, err := b.Call(http.MethodPatch, "/apps/booking", map[string]bool{"enabled": on}, nil); err != nil {
			return err
		}
		took = append(took, time.Since(start))
		for range 5 {
			status, err := b.Call(http.MethodGet, "/services", nil, nil)
			if err != nil && status != http.StatusNotFound {
				return err
			}
			if (status == http.StatusOK) != on {
				stale++
			}
		}
	}
	b.Note("app switch, p50", world.Ms(world.Median(took)))
	b.AtMost("app switch, p99", world.Ms(world.Quantile(.99, took)), world.Ms(500*time.Millisecond))
	b.AtMost("app switch, stale answers after it, of 500", world.Plain(stale), world.Plain(0))
	return nil
}
