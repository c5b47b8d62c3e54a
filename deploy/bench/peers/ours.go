package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/deploy/bench/world"
	"frontdesk/deploy/client"
	"frontdesk/deploy/system"
)

// ours is the whole system, and the service contacts alone with nobody who follows its events.
type ours struct {
	*world.System
	system   *system.System
	alone    *world.World
	subjects []*subject // through the gateway, past the gateway, alone
}

// Frontdesk's processes of a system that are not its databases and brokers.
var processes = append([]string{"gateway", "traefik"}, system.Services...)

// startOurs starts a system as `make run` does, with data in folder, twice, and contacts alone beside it.
func startOurs(ctx context.Context, folder string) (o *ours, err error) {
	o = &ours{}
	defer func() {
		if err != nil {
			o.stop()
		}
	}()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return o, err
	}
	var took [2]time.Duration
	for i := range took {
		if o.system != nil {
			o.system.Stop()
		}
		start := time.Now()
		if o.system, err = system.Start(ctx, system.Options{Folder: folder, Env: []string{"SVC_KAFKA_PARTITIONS=0"}}); err != nil {
			return o, err
		}
		took[i] = time.Since(start)
	}
	if err := os.Setenv("SVC_ADMIN_PASSWORD", system.Password); err != nil { // for world.StartSystem, of a system that runs
		return o, err
	}
	if o.System, err = world.StartSystem(ctx, o.system.Data); err != nil {
		return o, err
	}
	contacts, err := o.Process("contacts")
	if err != nil {
		return o, err
	}
	db, err := pgx.ParseConfig(o.Database)
	if err != nil {
		return o, err
	}
	db.RuntimeParams["search_path"] = "contacts,ext"
	through := newSubject("Frontdesk, through the gateway", o.URL, o.API)
	through.first, through.next = took[0], took[1]
	through.own, through.stores = o.pids(func(name string) bool { return mine[name] }), o.pids(func(name string) bool { return !mine[name] })
	through.fill = func(ctx context.Context, first, last int) error { return fillOurs(ctx, through, db, first, last) }
	past := newSubject("past the gateway", contacts.URL, o.API)
	past.own, past.stores = through.own, through.stores

	if o.alone, err = world.New(ctx, world.Options{Service: "contacts", People: 1}); err != nil {
		return o, err
	}
	alone := newSubject("contacts alone", o.alone.URL, o.alone.API)
	o.alone.StopService()
	start := time.Now()
	if err := o.alone.StartService(time.Minute); err != nil {
		return o, err
	}
	alone.next, alone.url = time.Since(start), o.alone.URL
	alone.own, alone.stores = func() []int { return []int{o.alone.PID} }, o.alone.Stores
	of := o.alone.DB.Config().ConnConfig
	alone.fill = func(ctx context.Context, first, last int) error { return fillOurs(ctx, alone, of, first, last) }
	o.subjects = []*subject{through, past, alone}
	for _, s := range o.subjects {
		config := db
		if s == alone {
			config = of
		}
		if s.commits, err = commits(ctx, config); err != nil {
			return o, err
		}
	}
	return o, nil
}

// mine are the processes that are not databases and brokers.
var mine = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range processes {
		m[name] = true
	}
	return m
}()

// pids are those of the system's processes that are picked by name, as they run now.
func (o *ours) pids(pick func(name string) bool) func() []int {
	return func() (pids []int) {
		now, err := o.system.State()
		if err != nil {
			return nil
		}
		for name, p := range now.Processes {
			if pick(name) && p.PID != 0 {
				pids = append(pids, world.Family(p.PID)...)
			}
		}
		return pids
	}
}

// stop ends all that startOurs started.
func (o *ours) stop() {
	if o.alone != nil {
		o.alone.Close()
	}
	if o.System != nil {
		o.System.Close()
	}
	if o.system != nil {
		o.system.Stop()
	}
}

// newSubject is one that is called at url with the key of a client.
func newSubject(name, url string, as client.API) *subject {
	s := &subject{name: name, url: url, auth: "Basic " + base64.StdEncoding.EncodeToString([]byte(as.Login+":"+as.Password))}
	s.api = frontdesk{s}
	return s
}

// fillOurs adds the persons first to last, and returns once the service lists them.
func fillOurs(ctx context.Context, s *subject, db *pgx.ConnConfig, first, last int) error {
	conn, err := pgx.ConnectConfig(ctx, db)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `
		insert into tag (slug, name, created_at) select 'tag-' || i, 'Tag ' || i, now() from generate_series(0, 49) i on conflict do nothing;
		insert into tag_name (key, slug) select tag_key(name), slug from tag on conflict do nothing`); err != nil {
		return err
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"contact"}, []string{"id", "first_name", "last_name", "email", "email_key", "phone", "status", "source", "owner_user_id", "tags", "last_activity", "created_at", "updated_at"},
		pgx.CopyFromSlice(last-first+1, func(n int) ([]any, error) {
			p := personOf(first + n)
			return []any{p.id, p.first, p.last, p.email, p.email, p.phone, p.status, p.source, int64(1), []string{p.tag}, p.created, p.created, p.created}, nil
		}))
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `vacuum (analyze) contact`); err != nil {
		return err
	}
	path, err := s.api.page("", true)
	if err != nil {
		return err
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		page, err := s.call(request{method: http.MethodGet, path: path})
		if err != nil {
			return err
		}
		_, total, err := s.api.read(page)
		if err != nil || total == last {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("%s lists %d of %d contacts after a minute", s.name, total, last)
		}
	}
}

// frontdesk is our API.
type frontdesk struct{ *subject }

func (f frontdesk) page(text string, total bool) (string, error) {
	q := url.Values{"per_page": {"20"}}
	if text != "" {
		q.Set("search", text)
	}
	path := "/v1/contacts?" + q.Encode()
	if total {
		return path, nil
	}
	page, err := f.call(request{method: http.MethodGet, path: path})
	if err != nil {
		return "", err
	}
	var l struct {
		Next string `json:"next_cursor"`
	}
	if err := json.Unmarshal(page, &l); err != nil {
		return "", err
	}
	q.Set("cursor", l.Next)
	return "/v1/contacts?" + q.Encode(), nil
}

func (frontdesk) read(page []byte) (items, total int, err error) {
	var l struct {
		Items []json.RawMessage
		Total *int
	}
	if err := json.Unmarshal(page, &l); err != nil {
		return 0, 0, err
	}
	if l.Total == nil {
		return len(l.Items), -1, nil
	}
	return len(l.Items), *l.Total, nil
}

func (frontdesk) create(p person) request {
	return request{http.MethodPost, "/v1/contacts", map[string]any{"first_name": p.first, "last_name": p.last, "email": p.email, "phone": p.phone, "status": p.status, "source": p.source}}
}

func (frontdesk) change(i int, phone string) request {
	return request{http.MethodPatch, "/v1/contacts/" + personOf(i).id.String(), map[string]any{"mode": "overwrite", "phone": phone}}
}
