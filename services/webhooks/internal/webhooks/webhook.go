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

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/webhooks/internal/signature"
)

// Webhook is a receiver and the events that it subscribed.
type Webhook struct {
	ID         uuid.UUID `json:"id" doc:"The id of the record."`
	Name       string    `json:"name" doc:"What the team calls it."`
	URL        string    `json:"url" doc:"The address that events are sent to."`
	Events     []string  `json:"events" doc:"The names of the events that it gets."`
	Active     bool      `json:"active" doc:"It is switched on."`
	Paused     *string   `json:"paused" doc:"Why nothing is sent although it is active: failures (20 failed attempts in a row) or secret (it cannot be read)."`
	Failures   int       `json:"failures" doc:"Failed attempts in a row."`
	SecretHint string    `json:"secret_hint" doc:"Last four characters of the secret."`
	// OldSecretUntil is in the answer only while it is to come.
	OldSecretUntil *time.Time `json:"old_secret_until" doc:"Until when requests are signed with the secret before as well; null when one secret is valid."`
	CreatedAt      time.Time  `json:"created_at" doc:"When it was made."`
	UpdatedAt      time.Time  `json:"updated_at" doc:"When it last changed."`

	Version int64 `json:"-"`
}

// RecordVersion is the answer's ETag: it counts what the team has changed.
func (w Webhook) RecordVersion() int64 { return w.Version }

// selectWebhook begins every query for webhooks; $1 is the time.
const selectWebhook = `select id, name, url, events, active, paused, failures, secret_hint,
	case when old_secret_until > $1 then old_secret_until end as old_secret_until, created_at, updated_at, version from webhook `

// WithSecret is a webhook and, this once, its signing secret.
type WithSecret struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty" doc:"Shown once: a repeated call with the same Idempotency-Key leaves it out."`
}

// WithoutSecret is the answer to a repeated call.
func (w WithSecret) WithoutSecret() any { return WithSecret{Webhook: w.Webhook} }

// RecordVersion is the answer's ETag.
func (w WithSecret) RecordVersion() int64 { return w.Webhook.Version }

// RecordID names the webhook in the audit log.
func (w WithSecret) RecordID() string { return w.Webhook.ID.String() }

type newWebhook struct {
	Name   string          `json:"name" required:"true" maxLength:"190" doc:"What the team calls it."`
	URL    string          `json:"url" required:"true" maxLength:"500" doc:"https, on port 443 of a public host."`
	Events []string        `json:"events" required:"true" maxItems:"50" doc:"Names from GET /webhooks/events."`
	Active opt.Value[bool] `json:"active,omitzero" doc:"true when left out."`
}

type webhookPatch struct {
	ID     uuid.UUID           `json:"id"`
	Name   opt.Value[string]   `json:"name,omitzero" maxLength:"190" doc:"What the team calls it."`
	URL    opt.Value[string]   `json:"url,omitzero" maxLength:"500" doc:"https, on port 443 of a public host."`
	Events opt.Value[[]string] `json:"events,omitzero" maxItems:"50" doc:"Replaces the list."`
	Active opt.Value[bool]     `json:"active,omitzero" doc:"true also resumes a paused webhook."`
}

func listWebhooks(ctx context.Context, tx *db.Tx, _ op.None) (db.List[Webhook], error) {
	rows, err := tx.Query(ctx, selectWebhook+`order by created_at, id`, tx.Now)
	if err != nil {
		return db.List[Webhook]{}, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Webhook])
	return db.All(all), err
}

// getWebhook answers svc_not_found for an id that no webhook has.
func getWebhook(ctx context.Context, tx *db.Tx, in op.ByID) (Webhook, error) {
	return oneWebhook(tx.Query(ctx, selectWebhook+`where id = $2`, tx.Now, in.ID))
}

// lockWebhook is getWebhook for a change in the same transaction.
func lockWebhook(ctx context.Context, tx *db.Tx, id uuid.UUID) (Webhook, error) {
	return oneWebhook(tx.Query(ctx, selectWebhook+`where id = $2 for no key update`, tx.Now, id))
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
		SecretHint: signature.Hint(secret), CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1}
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
	if _, ok := s.receiverToken(w.URL); ok {
		return nil
	}
	if err := fetch.CheckURL(w.URL, s.fetchOptions()); err != nil {
		return fault.Invalid("url", fetch.Problem("url", err))
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
	if err := tx.Match(w.Version); err != nil {
		return w, err
	}
	was := w
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
	changed, err := change.Between(was, w)
	if err != nil {
		return w, err
	}
	if _, ok := changed["url"]; ok {
		changed["url"] = change.Change{Old: "…", New: "…"} // it may hold a key of the receiver
	}
	tx.Changed(changed)
	w.UpdatedAt = tx.Now
	w.Version++
	_, err = tx.Exec(ctx, `update webhook set name = @name, url = @url, events = @events, active = @active, paused = @paused, failures = @failures,
		updated_at = @now, version = @version where id = @id`, pgx.NamedArgs{"id": w.ID, "name": w.Name, "url": w.URL, "events": w.Events, "active": w.Active,
		"paused": w.Paused, "failures": w.Failures, "now": tx.Now, "version": w.Version})
	if err != nil {
		return w, err
	}
	return w, notifyDue(ctx, tx, w.ID)
}

// deleteWebhook removes the webhook and makes its log unreachable at once. The retention job deletes the part of a long log
// that is beyond the first batch.
func deleteWebhook(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	w, err := lockWebhook(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(w.Version); err != nil {
		return op.None{}, err
	}
	if _, err := tx.Exec(ctx, `delete from webhook where id = $1`, in.ID); err != nil {
		return op.None{}, err
	}
	if _, err := tx.Exec(ctx, `insert into removed (webhook) values ($1)`, in.ID); err != nil {
		return op.None{}, err
	}
	var of db.Where
	of.And("webhook = ?", in.ID)
	_, err = deleteDeliveries(ctx, tx, of)
	return op.None{}, err
}

// keepOldFor is how long the secret before stays valid if the caller asks for that.
const keepOldFor = 24 * time.Hour

type newSecret struct {
	ID      uuid.UUID `json:"id"`
	KeepOld bool      `json:"keep_old,omitempty" doc:"true keeps the old secret valid for 24 hours: webhook-signature then has a signature by each."`
}

// regenerateSecret answers with a new secret. An attempt that begins after the commit is signed with it, and with KeepOld for
// 24 hours with the one before as well. A secret that was valid beside that one ends at once, as does one that cannot be read.
func (s *service) regenerateSecret(ctx context.Context, tx *db.Tx, in newSecret) (WithSecret, error) {
	w, err := lockWebhook(ctx, tx, in.ID)
	if err != nil {
		return WithSecret{}, err
	}
	var old []byte
	if err := tx.QueryRow(ctx, `select secret from webhook where id = $1`, w.ID).Scan(&old); err != nil {
		return WithSecret{}, err
	}
	w.OldSecretUntil = nil
	if in.KeepOld && s.open(w.ID, old) != "" {
		until := tx.Now.Add(keepOldFor)
		w.OldSecretUntil = &until
	} else {
		old = nil
	}
	secret := signature.NewSecret()
	w.SecretHint, w.UpdatedAt, w.Version = signature.Hint(secret), tx.Now, w.Version+1
	_, err = tx.Exec(ctx, `update webhook set secret = $2, secret_hint = $3, updated_at = $4, version = version + 1, old_secret = $5, old_secret_until = $6
		where id = $1`, w.ID, s.seal(w.ID, secret), w.SecretHint, tx.Now, old, w.OldSecretUntil)
	return WithSecret{w, secret}, err
}

// purpose binds a sealed secret to its webhook: it does not open for another.
func purpose(id uuid.UUID) string { return purposeOf(id.String()) }

func purposeOf(id string) string { return "webhook secret " + id }

func (s *service) seal(id uuid.UUID, secret string) []byte {
	return s.Keys.Seal(purpose(id), []byte(secret))
}

// open returns a secret that seal has sealed, empty if it cannot be read.
func (s *service) open(id uuid.UUID, sealed []byte) string {
	secret, err := s.Keys.Open(purpose(id), sealed)
	if err != nil {
		return ""
	}
	return string(secret)
}
