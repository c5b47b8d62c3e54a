package endpoint

import (
	"context"
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
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/message"
	"frontdesk/services/webhooks/internal/signature"
)

// Webhook is a receiver and the events that it subscribed.
type Webhook struct {
	ID         uuid.UUID      `json:"id" doc:"The id of the record."`
	Name       string         `json:"name" doc:"What the team calls it."`
	URL        string         `json:"url" doc:"The address that events are sent to."`
	Events     []string       `json:"events" doc:"The names of the events that it gets."`
	Only       message.Only   `json:"only" db:"only_for" doc:"What narrows the events down; empty for nothing."`
	Format     message.Format `json:"format" enum:"svc,cloudevents" doc:"How the bodies of its requests look."`
	Active     bool           `json:"active" doc:"It is switched on."`
	Paused     *string        `json:"paused" doc:"Why nothing is sent although it is active: failures (20 failed attempts in a row) or secret (it cannot be read)."`
	Failures   int            `json:"failures" doc:"Failed attempts in a row."`
	SecretHint string         `json:"secret_hint" doc:"Last four characters of the secret."`
	// OldSecretUntil is in the answer only while it is to come.
	OldSecretUntil *time.Time `json:"old_secret_until" doc:"Until when requests are signed with the secret before as well; null when one secret is valid."`
	CreatedAt      time.Time  `json:"created_at" doc:"When it was made."`
	UpdatedAt      time.Time  `json:"updated_at" doc:"When it last changed."`

	Version int64 `json:"-"`
}

// RecordVersion is the answer's ETag: it counts what the team has changed.
func (w Webhook) RecordVersion() int64 { return w.Version }

// selectWebhook begins every query for webhooks; $1 is the time.
const selectWebhook = `select id, name, url, events, only_for, format, active, paused, failures, secret_hint,
	case when old_secret_until > $1 then old_secret_until end as old_secret_until, created_at, updated_at, version from webhook `

// withSecret is a webhook and, this once, its signing secret.
type withSecret struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty" doc:"Shown once: a repeated call with the same Idempotency-Key leaves it out."`
}

// WithoutSecret is the answer to a repeated call.
func (w withSecret) WithoutSecret() any { return withSecret{Webhook: w.Webhook} }

// RecordVersion is the answer's ETag.
func (w withSecret) RecordVersion() int64 { return w.Webhook.Version }

// RecordID names the webhook in the audit log.
func (w withSecret) RecordID() string { return w.Webhook.ID.String() }

type newWebhook struct {
	Name   string                    `json:"name" required:"true" maxLength:"190" doc:"What the team calls it."`
	URL    string                    `json:"url" required:"true" maxLength:"500" doc:"https, on port 443 of a public host."`
	Events []string                  `json:"events" required:"true" maxItems:"50" doc:"Names from GET /webhooks/events."`
	Only   message.Only              `json:"only,omitzero" doc:"Narrows down the events that have such a value (only of GET /webhooks/events says which). The others are sent as they happen. Of several keys each narrows down its own events."`
	Format opt.Value[message.Format] `json:"format,omitzero" enum:"svc,cloudevents" doc:"svc when left out. cloudevents is CloudEvents 1.0 in structured mode, signed in the same way."`
	Active opt.Value[bool]           `json:"active,omitzero" doc:"true when left out."`
}

type webhookPatch struct {
	ID     uuid.UUID                 `json:"id"`
	Name   opt.Value[string]         `json:"name,omitzero" maxLength:"190" doc:"What the team calls it."`
	URL    opt.Value[string]         `json:"url,omitzero" maxLength:"500" doc:"https, on port 443 of a public host."`
	Events opt.Value[[]string]       `json:"events,omitzero" maxItems:"50" doc:"Replaces the list."`
	Only   opt.Value[message.Only]   `json:"only,omitzero" doc:"Replaces it; {} narrows nothing down."`
	Format opt.Value[message.Format] `json:"format,omitzero" enum:"svc,cloudevents" doc:"Counts from the next attempt on, of what waits too."`
	Active opt.Value[bool]           `json:"active,omitzero" doc:"true also resumes a paused webhook."`
}

func list(ctx context.Context, tx *db.Tx, _ op.None) (db.List[Webhook], error) {
	rows, err := tx.Query(ctx, selectWebhook+`order by created_at, id`, tx.Now)
	if err != nil {
		return db.List[Webhook]{}, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Webhook])
	return db.All(all), err
}

// Get answers svc_not_found for an id that no webhook has.
func Get(ctx context.Context, tx *db.Tx, in op.ByID) (Webhook, error) {
	return find(ctx, tx, in.ID, "")
}

// Lock is Get for a change in the same transaction.
func Lock(ctx context.Context, tx *db.Tx, id uuid.UUID) (Webhook, error) {
	return find(ctx, tx, id, " for no key update")
}

func find(ctx context.Context, tx *db.Tx, id uuid.UUID, locked string) (Webhook, error) {
	return db.Find[Webhook](ctx, tx, fault.NotFound("webhook"), selectWebhook+`where id = $2`+locked, tx.Now, id)
}

// create answers with the secret that the webhook's requests are signed with, which no later answer shows.
func (r *Room) create(ctx context.Context, tx *db.Tx, in newWebhook) (withSecret, error) {
	events, err := r.choose(in.Events, nil)
	if err != nil {
		return withSecret{}, err
	}
	only, err := in.Only.Checked(events)
	if err != nil {
		return withSecret{}, err
	}
	secret := signature.NewSecret()
	w := Webhook{ID: db.NewID(), Name: strings.TrimSpace(in.Name), URL: in.URL, Events: events, Only: only, Format: in.Format.Or(message.Svc), Active: in.Active.Or(true),
		SecretHint: signature.Hint(secret), CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1}
	if err := r.check(w); err != nil {
		return withSecret{}, err
	}
	_, err = tx.Exec(ctx, `insert into webhook (id, name, url, events, only_for, only_keys, format, active, secret, secret_hint, created_at, updated_at)
		values (@id, @name, @url, @events, @only, @keys, @format, @active, @secret, @hint, @now, @now)`, db.Args{"id": w.ID, "name": w.Name, "url": w.URL, "events": w.Events,
		"only": w.Only, "keys": w.Only.Keys(), "format": w.Format, "active": w.Active, "secret": r.seal(w.ID, secret), "hint": w.SecretHint, "now": tx.Now})
	if err == nil {
		err = publish(ctx, tx, []uuid.UUID{w.ID})
	}
	return withSecret{w, secret}, err
}

func (r *Room) check(w Webhook) error {
	if w.Name == "" {
		return fault.Invalid("name", fault.Empty())
	}
	if strings.ContainsFunc(w.Name, unicode.IsControl) {
		return fault.Invalid("name", fault.ControlCharacters(false))
	}
	if r.own(w.URL) {
		return nil
	}
	if err := fetch.CheckURL(w.URL, r.Fetch()); err != nil {
		return fault.Invalid("url", fetch.Problem("url", err))
	}
	return nil
}

// answerKept is how much of an answer's body is read and logged, in bytes.
const answerKept = 64 << 10

// Fetch is how receivers are asked.
func (r *Room) Fetch() fetch.Options {
	return fetch.Options{Local: r.Config.WebhookLocal, Allow: r.Config.Receivers, Timeout: signature.AnswerWithin, Keep: answerKept}
}

// choose checks names of events and removes repeated ones. An event of an app that is off is refused unless it is in kept.
func (r *Room) choose(names, kept []string) ([]string, error) {
	var chosen []string
	for _, name := range names {
		e, ok := message.EventNamed(name)
		if !ok {
			return nil, fault.Invalid("events", fault.NewProblem("unknown_event",
				fmt.Sprintf("must hold names of events that can be subscribed; %q is none", name), "event", name))
		}
		if !r.Apps.On(e.App) && !slices.Contains(kept, name) {
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

// update changes the fields that are given. Switching a paused webhook on sets its failures to 0 and releases the
// deliveries that waited.
func (r *Room) update(ctx context.Context, tx *db.Tx, in webhookPatch) (Webhook, error) {
	w, err := Lock(ctx, tx, in.ID)
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
		if w.Events, err = r.choose(in.Events.V, w.Events); err != nil {
			return w, err
		}
	}
	in.Only.Apply(&w.Only)
	if in.Events.Set || in.Only.Set {
		if w.Only, err = w.Only.Checked(w.Events); err != nil {
			return w, err
		}
	}
	in.Format.Apply(&w.Format)
	if in.Active.Set {
		w.Active = in.Active.V
		if w.Active && w.Paused != nil {
			w.Paused, w.Failures = nil, 0
		}
	}
	if in.Name.Set || in.URL.Set {
		if err := r.check(w); err != nil {
			return w, err
		}
	}
	changed, err := change.Between(was, w)
	if err != nil {
		return w, err
	}
	if _, ok := changed["url"]; ok {
		tx.Was(change.Set{"url": {Old: was.URL}})
		changed["url"] = change.Change{Old: "…", New: "…"} // it may hold a key of the receiver
	}
	tx.Changed(changed)
	w.UpdatedAt = tx.Now
	w.Version++
	_, err = tx.Exec(ctx, `update webhook set name = @name, url = @url, events = @events, only_for = @only, only_keys = @keys, format = @format, active = @active, paused = @paused, failures = @failures,
		updated_at = @now, version = @version where id = @id`, db.Args{"id": w.ID, "name": w.Name, "url": w.URL, "events": w.Events,
		"only": w.Only, "keys": w.Only.Keys(), "format": w.Format, "active": w.Active, "paused": w.Paused, "failures": w.Failures, "now": tx.Now, "version": w.Version})
	if err == nil {
		err = publish(ctx, tx, []uuid.UUID{w.ID})
	}
	if err != nil {
		return w, err
	}
	return w, Wake(ctx, tx, w.ID)
}

// remove removes the webhook and makes its log unreachable at once.
func (r *Room) remove(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	w, err := Lock(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(w.Version); err != nil {
		return op.None{}, err
	}
	if _, err := tx.Exec(ctx, `delete from webhook where id = $1`, in.ID); err != nil {
		return op.None{}, err
	}
	tx.Tombstone(proto.EndpointTopic, in.ID.String())
	return op.None{}, r.drop(ctx, tx, in.ID)
}
