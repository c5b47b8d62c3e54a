package webhookstest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Service is the service, or some of its rooms, in a test.
type Service struct {
	*apptest.Service
	*app.Kit
	t *testing.T
}

// Of is a service that runs in the test t.
func Of(t *testing.T, s *apptest.Service) *Service { return &Service{s, s.Kit, t} }

// In is the service for one case of a test. The webhooks of the case are gone when it ends.
func (s *Service) In(t *testing.T) *Service {
	t.Helper()
	t.Cleanup(func() {
		admin := s.As(auth.SiteAdmin)
		for _, w := range admin.Get("/webhooks?per_page=100").Is(200).Items() {
			admin.Delete("/webhooks/"+w["id"].(string), nil).Is(204)
		}
	})
	return Of(t, s.Service)
}

// Subscribe adds a webhook and answers with its id and secret.
func (s *Service) Subscribe(c *apptest.Client, url string, events ...string) (id, secret string) {
	s.t.Helper()
	a := c.Post("/webhooks", map[string]any{"name": "receiver", "url": url, "events": events}).Is(201)
	return a.Text("webhook.id"), a.Text("secret")
}

// Every is all events that can be subscribed.
func (s *Service) Every(c *apptest.Client) (all []string) {
	s.t.Helper()
	for _, e := range c.Get("/webhooks/events").Is(200).Items() {
		all = append(all, e["event"].(string))
	}
	return all
}

// Contact sends a change of a contact in the name of contacts, and answers with its event id.
func (s *Service) Contact(kind, id string, version int64, change ...func(*apptest.Event)) string {
	s.t.Helper()
	e := apptest.Event{ID: db.NewID().String(), Topic: proto.ContactTopic, Kind: kind, Key: id, Version: version,
		Data: map[string]any{"id": id, "first_name": "Ann", "email": "ann@example.com", "version_in_test": version}}
	for _, f := range change {
		f(&e)
	}
	s.Send(e)
	return e.ID
}

// Statuses are those of a webhook's deliveries, newest first.
func (s *Service) Statuses(c *apptest.Client, webhook string) (all []string) {
	s.t.Helper()
	for _, d := range c.Get("/webhooks/" + webhook + "/deliveries?per_page=100").Is(200).Items() {
		all = append(all, d["status"].(string))
	}
	return all
}

// Row is what the database says of a delivery, to the microsecond.
type Row struct {
	ID       uuid.UUID
	Status   string
	Attempts int
	Next     *time.Time
	LastAt   *time.Time
}

// Rows are the deliveries of a webhook, oldest first.
func (s *Service) Rows(webhook string) []Row {
	s.t.Helper()
	rows, err := s.DB.Pool.Query(s.t.Context(), `select d.id, d.status, d.attempts, d.next_attempt_at, a.at
		from delivery d left join attempt a on a.message = d.message and a.delivery = d.id and a.number = d.attempts where d.webhook = $1 order by d.seq`, webhook)
	if err != nil {
		s.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Row])
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// Count is a number from the database.
func (s *Service) Count(query string, args ...any) (n int) {
	s.t.Helper()
	if err := s.DB.Pool.QueryRow(s.t.Context(), query, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Exec changes the database.
func (s *Service) Exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.DB.Pool.Exec(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

// Pauses pauses a webhook, which keeps what arrives for it from then on.
func (s *Service) Pauses(id, reason string) {
	s.t.Helper()
	s.Exec(`update webhook set paused = $2 where id = $1`, id, reason)
}

// Job runs a job of the service once.
func (s *Service) Job(name string) {
	s.t.Helper()
	for _, j := range s.Parts.Jobs {
		if j.Name == name {
			if err := j.Run(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
			return
		}
	}
	s.t.Fatal("no job " + name)
}
