package webhooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/webhooks/internal/signature"
)

// Webhook is a receiver and what it subscribed.
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

const webhookColumns = `id, name, url, events, active, paused, failures, secret_hint, created_at, updated_at`

// WithSecret is a webhook and, this once, its signing secret.
type WithSecret struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty" doc:"Shown once: a repeated call with the same Idempotency-Key leaves it out."`
}

// WithoutSecret is what may be stored.
func (w WithSecret) WithoutSecret() any { return WithSecret{Webhook: w.Webhook} }

// RecordID names the webhook in the audit log.
func (w WithSecret) RecordID() string { return w.Webhook.ID.String() }

// ByID names one record.
type ByID struct {
	ID uuid.UUID `json:"id"`
}

// NewWebhook is the input of CreateWebhook.
type NewWebhook struct {
	Name   string          `json:"name" required:"true" maxLength:"190"`
	URL    string          `json:"url" required:"true" maxLength:"500" doc:"https, on port 443 of a public host."`
	Events []string        `json:"events" required:"true" maxItems:"50" doc:"Names from GET /webhooks/events."`
	Active opt.Value[bool] `json:"active,omitzero" doc:"true when left out."`
}

// WebhookPatch is the input of UpdateWebhook.
type WebhookPatch struct {
	ID     uuid.UUID           `json:"id"`
	Name   opt.Value[string]   `json:"name,omitzero" maxLength:"190"`
	URL    opt.Value[string]   `json:"url,omitzero" maxLength:"500" doc:"https, on port 443 of a public host."`
	Events opt.Value[[]string] `json:"events,omitzero" maxItems:"50" doc:"Replaces the list."`
	Active opt.Value[bool]     `json:"active,omitzero" doc:"true also resumes a paused webhook."`
}

// ListWebhooks lists all webhooks, oldest first.
func (s *service) ListWebhooks(ctx context.Context, tx *db.Tx, _ op.None) (db.List[Webhook], error) {
	rows, err := tx.Query(ctx, `select `+webhookColumns+` from webhook order by created_at, id`)
	if err != nil {
		return db.List[Webhook]{}, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Webhook])
	return db.All(all), err
}

// GetWebhook answers with one webhook.
func (s *service) GetWebhook(ctx context.Context, tx *db.Tx, in ByID) (Webhook, error) {
	return webhookByID(ctx, tx, in.ID, "")
}

func webhookByID(ctx context.Context, tx *db.Tx, id uuid.UUID, lock string) (Webhook, error) {
	rows, err := tx.Query(ctx, `select `+webhookColumns+` from webhook where id = $1 `+lock, id)
	if err != nil {
		return Webhook{}, err
	}
	w, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Webhook])
	if errors.Is(err, pgx.ErrNoRows) {
		return w, fault.NotFound("webhook")
	}
	return w, err
}

// CreateWebhook adds a receiver and answers with the secret that its requests are signed with.
func (s *service) CreateWebhook(ctx context.Context, tx *db.Tx, in NewWebhook) (WithSecret, error) {
	w := Webhook{ID: db.NewID(), Name: strings.TrimSpace(in.Name), URL: in.URL, Active: in.Active.Or(true), CreatedAt: tx.Now, UpdatedAt: tx.Now}
	if in.Active.Null {
		return WithSecret{}, fault.Param("active", "must not be null")
	}
	var err error
	if w.Events, err = s.choose(in.Events, nil); err != nil {
		return WithSecret{}, err
	}
	if err := s.check(w); err != nil {
		return WithSecret{}, err
	}
	secret := signature.NewSecret()
	w.SecretHint = signature.Hint(secret)
	_, err = tx.Exec(ctx, `insert into webhook (id, name, url, events, active, secret, secret_hint, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`, w.ID, w.Name, w.URL, w.Events, w.Active, s.seal(w.ID, secret), w.SecretHint, tx.Now)
	return WithSecret{w, secret}, err
}

func (s *service) check(w Webhook) error {
	if w.Name == "" {
		return fault.Param("name", "must not be empty")
	}
	if err := fetch.CheckURL(w.URL, s.fetchOptions()); err != nil {
		return fault.Param("url", "%s", err)
	}
	return nil
}

// choose checks names of events. Those of an app that is off can be kept, not chosen anew.
func (s *service) choose(names, kept []string) ([]string, error) {
	var chosen []string
	for _, name := range names {
		e, ok := eventNamed(name)
		if !ok {
			return nil, fault.Param("events", "must hold names of events that can be subscribed; %q is none", name)
		}
		if !s.Apps.On(e.App) && !slices.Contains(kept, name) {
			return nil, fault.Param("events", "must hold events of apps that are on; %s is off", e.App)
		}
		if !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	if len(chosen) == 0 {
		return nil, fault.Param("events", "must hold at least one event")
	}
	return chosen, nil
}

// UpdateWebhook changes what is given. Switching a paused webhook on sets its failures to 0 and releases
// what waited.
func (s *service) UpdateWebhook(ctx context.Context, tx *db.Tx, in WebhookPatch) (Webhook, error) {
	for name, null := range map[string]bool{"name": in.Name.Null, "url": in.URL.Null, "events": in.Events.Null, "active": in.Active.Null} {
		if null {
			return Webhook{}, fault.Param(name, "must not be null")
		}
	}
	w, err := webhookByID(ctx, tx, in.ID, "for no key update")
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
	return w, wake(ctx, tx, w.ID)
}

// DeleteWebhook removes the webhook; nothing of its log can be reached any more, and the rest of a long
// one is cleared away soon after.
func (s *service) DeleteWebhook(ctx context.Context, tx *db.Tx, in ByID) (op.None, error) {
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
	_, err = forget(ctx, tx, `webhook = $1`, in.ID)
	return op.None{}, err
}

// RegenerateSecret makes a new secret; from here on nothing is signed with the old one.
func (s *service) RegenerateSecret(ctx context.Context, tx *db.Tx, in ByID) (WithSecret, error) {
	w, err := webhookByID(ctx, tx, in.ID, "for no key update")
	if err != nil {
		return WithSecret{}, err
	}
	secret := signature.NewSecret()
	w.SecretHint, w.UpdatedAt = signature.Hint(secret), tx.Now
	_, err = tx.Exec(ctx, `update webhook set secret = $2, secret_hint = $3, updated_at = $4 where id = $1`,
		w.ID, s.seal(w.ID, secret), w.SecretHint, tx.Now)
	return WithSecret{w, secret}, err
}

// A sealed secret opens for its own webhook only.
func purpose(id uuid.UUID) string { return "webhook secret " + id.String() }

func (s *service) seal(id uuid.UUID, secret string) []byte {
	return s.Keys.Seal(purpose(id), []byte(secret))
}
