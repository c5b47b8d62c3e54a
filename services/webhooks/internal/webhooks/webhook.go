package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/webhooks/internal/signature"
)

// Webhook is a receiver and the events that it subscribed.
type Webhook struct {
	ID         uuid.UUID `json:"id"`
	Name       string    `json:"name"`
	URL        string    `json:"url"`
	Events     []string  `json:"events"`
	Active     bool      `json:"active"`
	Paused     *string   `json:"paused" doc:"Why nothing is sent although it is active: failures (20 failed attempts in a row) or secret (it cannot be read)."`
	Failures   int       `json:"failures" doc:"Failed attempts in a row."`
	SecretHint string    `json:"secret_hint" doc:"Last four characters of the secret."`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

const selectWebhook = `select id, name, url, events, active, paused, failures, secret_hint, created_at, updated_at from webhook `

// WithSecret is a webhook and, this once, its signing secret.
type WithSecret struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty" doc:"Shown once: a repeated call with the same Idempotency-Key leaves it out."`
}

// WithoutSecret is the answer to a repeated call.
func (w WithSecret) WithoutSecret() any { return WithSecret{Webhook: w.Webhook} }

// RecordID names the webhook in the audit log.
func (w WithSecret) RecordID() string { return w.Webhook.ID.String() }

type newWebhook struct {
	Name   string          `json:"name" required:"true" maxLength:"190"`
	URL    string          `json:"url" required:"true" maxLength:"500" doc:"https, on port 443 of a public host."`
	Events []string        `json:"events" required:"true" maxItems:"50" doc:"Names from GET /webhooks/events."`
	Active opt.Value[bool] `json:"active,omitzero" doc:"true when left out."`
}

type webhookPatch struct {
	ID     uuid.UUID           `json:"id"`
	Name   opt.Value[string]   `json:"name,omitzero" maxLength:"190"`
	URL    opt.Value[string]   `json:"url,omitzero" maxLength:"500" doc:"https, on port 443 of a public host."`
	Events opt.Value[[]string] `json:"events,omitzero" maxItems:"50" doc:"Replaces the list."`
	Active opt.Value[bool]     `json:"active,omitzero" doc:"true also resumes a paused webhook."`
}

func listWebhooks(ctx context.Context, tx *db.Tx, _ op.None) (db.List[Webhook], error) {
	rows, err := tx.Query(ctx, selectWebhook+`order by created_at, id`)
	if err != nil {
		return db.List[Webhook]{}, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Webhook])
	return db.All(all), err
}

// getWebhook answers svc_not_found for an id that no webhook has.
func getWebhook(ctx context.Context, tx *db.Tx, in op.ByID) (Webhook, error) {
	return oneWebhook(tx.Query(ctx, selectWebhook+`where id = $1`, in.ID))
}

// lockWebhook is getWebhook for a change in the same transaction.
func lockWebhook(ctx context.Context, tx *db.Tx, id uuid.UUID) (Webhook, error) {
	return oneWebhook(tx.Query(ctx, selectWebhook+`where id = $1 for no key update`, id))
}

func oneWebhook(rows pgx.Rows, err error) (Webhook, error) {
	if err != nil {
		return Webhook{}, err
	}
	w, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Webhook])
	if errors.Is(err, pgx.ErrNoRows) {
		return w, fault.NotFound("webhook")
	}
	return w, err
}

// createWebhook answers with the secret that the webhook's requests are signed with, which no later answer shows.
func (s *service) createWebhook(ctx context.Context, tx *db.Tx, in newWebhook) (WithSecret, error) {
	events, err := s.choose(in.Events, nil)
	if err != nil {
		return WithSecret{}, err
	}
	secret := signature.NewSecret()
	w := Webhook{ID: db.NewID(), Name: strings.TrimSpace(in.Name), URL: in.URL, Events: events, Active: in.Active.Or(true),
		SecretHint: signature.Hint(secret), CreatedAt: tx.Now, UpdatedAt: tx.Now}
	if err := s.check(w); err != nil {
		return WithSecret{}, err
	}
	_, err = tx.Exec(ctx, `insert into webhook (id, name, url, events, active, secret, secret_hint, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`, w.ID, w.Name, w.URL, w.Events, w.Active, s.seal(w.ID, secret), w.SecretHint, tx.Now)
	return WithSecret{w, secret}, err
}

func (s *service) check(w Webhook) error {
	if w.Name == "" {
		return fault.Invalid("name", fault.Empty())
	}
	if strings.ContainsFunc(w.Name, unicode.IsControl) {
		return fault.Invalid("name", fault.ControlCharacters(false))
	}
	if err := fetch.CheckURL(w.URL, s.fetchOptions()); err != nil {
		return fault.Invalid("url", fault.NewProblem("url", err.Error()))
	}
	return nil
}

// choose checks names of events and removes repeated ones. An event of an app that is off is refused unless it is in kept.
func (s *service) choose(names, kept []string) ([]string, error) {
	var chosen []string
	for _, name := range names {
		e, ok := eventNamed(name)
		if !ok {
			return nil, fault.Invalid("events", fault.NewProblem("unknown_event",
				fmt.Sprintf("must hold names of events that can be subscribed; %q is none", name), "event", name))
		}
		if !s.Apps.On(e.App) && !slices.Contains(kept, name) {
			return nil, fault.Invalid("events", fault.NewProblem("app_off",
				fmt.Sprintf("must hold events of apps that are on; %s is off", e.App), "event", name, "app", e.App))
		}
		if !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	if len(chosen) == 0 {
		return nil, fault.Invalid("events", fault.NewProblem("too_few", "must hold at least one event", "min", 1))
	}
	return chosen, nil
}

// updateWebhook changes the fields that are given. Switching a paused webhook on sets its failures to 0 and releases the
// deliveries that waited.
func (s *service) updateWebhook(ctx context.Context, tx *db.Tx, in webhookPatch) (Webhook, error) {
	w, err := lockWebhook(ctx, tx, in.ID)
	if err != nil {
		return w, err
	}
	if in.Name.Set {
		w.Name = strings.TrimSpace(in.Name.V)
	}
	in.URL.Apply(&w.URL)
	if in.Events.Set {
		if w.Events, err = s.choose(in.Events.V, w.Events); err != nil {
			return w, err
		}
	}
	if in.Active.Set {
		w.Active = in.Active.V
		if w.Active && w.Paused != nil {
			w.Paused, w.Failures = nil, 0
		}
	}
	if in.Name.Set || in.URL.Set {
		if err := s.check(w); err != nil {
			return w, err
		}
	}
	w.UpdatedAt = tx.Now
	_, err = tx.Exec(ctx, `update webhook set name = $2, url = $3, events = $4, active = $5, paused = $6, failures = $7, updated_at = $8 where id = $1`,
		w.ID, w.Name, w.URL, w.Events, w.Active, w.Paused, w.Failures, tx.Now)
	if err != nil {
		return w, err
	}
	return w, notifyDue(ctx, tx, w.ID)
}

// deleteWebhook removes the webhook and makes its log unreachable at once. The retention job deletes the part of a long log
// that is beyond the first batch.
func deleteWebhook(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	tag, err := tx.Exec(ctx, `delete from webhook where id = $1`, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if tag.RowsAffected() == 0 {
		return op.None{}, fault.NotFound("webhook")
	}
	if _, err := tx.Exec(ctx, `insert into removed (webhook) values ($1)`, in.ID); err != nil {
		return op.None{}, err
	}
	var of db.Where
	of.And("webhook = ?", in.ID)
	_, err = deleteDeliveries(ctx, tx, of)
	return op.None{}, err
}

// regenerateSecret answers with a new secret. No attempt that begins after the commit is signed with the old one.
func (s *service) regenerateSecret(ctx context.Context, tx *db.Tx, in op.ByID) (WithSecret, error) {
	w, err := lockWebhook(ctx, tx, in.ID)
	if err != nil {
		return WithSecret{}, err
	}
	secret := signature.NewSecret()
	w.SecretHint, w.UpdatedAt = signature.Hint(secret), tx.Now
	_, err = tx.Exec(ctx, `update webhook set secret = $2, secret_hint = $3, updated_at = $4 where id = $1`,
		w.ID, s.seal(w.ID, secret), w.SecretHint, tx.Now)
	return WithSecret{w, secret}, err
}

// purpose binds a sealed secret to its webhook: it does not open for another.
func purpose(id uuid.UUID) string { return "webhook secret " + id.String() }

func (s *service) seal(id uuid.UUID, secret string) []byte {
	return s.Keys.Seal(purpose(id), []byte(secret))
}
