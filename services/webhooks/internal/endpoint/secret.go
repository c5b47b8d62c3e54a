package endpoint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/webhooks/internal/message"
	"frontdesk/services/webhooks/internal/signature"
)

// FailSecret is why an operation refuses to sign a request, see op.Fails.
const FailSecret = "The secret of the webhook cannot be read. Make a new one."

// Target is where the requests of a webhook go, how they look, and what signs them.
type Target struct {
	ID     uuid.UUID
	URL    string
	format message.Format
	source string // the installation
	secret string // empty if it cannot be read; nothing is signed with an empty secret
	old    string // the secret before, while it is valid too; else empty
}

// Request makes the signed request of an attempt, from the stored body of its event. It is an error if the secret cannot be read.
func (t Target) Request(event string, id, delivery uuid.UUID, at time.Time, stored string) (message.Request, error) {
	return t.format.Request(t.source, stored, event, delivery, func(body []byte) (map[string]string, error) {
		return signature.Headers(t.secret, t.old, message.EventID(id), at, body)
	})
}

// TargetColumns are the columns that ScanTarget scans before one of the caller's; $2 is the time.
const TargetColumns = `id, url, format, secret, case when old_secret_until > $2 then old_secret end`

// ScanTarget reads a target from TargetColumns and one more, which it leaves out.
func (r *Room) ScanTarget(row pgx.Row) (to Target, err error) {
	var sealed, old []byte
	if err := row.Scan(&to.ID, &to.URL, &to.format, &sealed, &old, nil); err != nil {
		return to, err
	}
	to.source = r.Config.PublicURL
	to.secret, to.old = r.open(to.ID, sealed), r.open(to.ID, old)
	return to, nil
}

// Target reads where the requests of a webhook go, svc_not_found if there is no such webhook.
func (r *Room) Target(ctx context.Context, tx *db.Tx, webhook uuid.UUID) (Target, error) {
	to, err := r.ScanTarget(tx.QueryRow(ctx, `select `+TargetColumns+`, '' from webhook where id = $1`, webhook, r.DB.Now().UTC()))
	if errors.Is(err, pgx.ErrNoRows) {
		return to, fault.NotFound("webhook")
	}
	return to, err
}

// URL reads the address of a webhook; pgx.ErrNoRows if there is no such webhook.
func (r *Room) URL(ctx context.Context, webhook uuid.UUID) (address string, err error) {
	err = r.DB.Pool.QueryRow(ctx, `select url from webhook where id = $1`, webhook).Scan(&address)
	return address, err
}

// Secret is a secret of a webhook that is valid, or empty if there is none or it cannot be read.
type Secret struct {
	Webhook uuid.UUID
	Name    string // of the webhook
	Old     bool   // the one before
	Text    string
}

// Secrets are those of all webhooks, oldest webhooks first: of each the current one, then the one before.
func (r *Room) Secrets(ctx context.Context, tx *db.Tx) (all []Secret, err error) {
	rows, err := tx.Query(ctx, `select id, name, secret, case when old_secret_until > $1 then old_secret end from webhook order by created_at, id`, tx.Now)
	if err != nil {
		return nil, err
	}
	var id uuid.UUID
	var name string
	var sealed, old []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &name, &sealed, &old}, func() error {
		all = append(all, Secret{id, name, false, r.open(id, sealed)}, Secret{id, name, true, r.open(id, old)})
		return nil
	})
	return all, err
}

// Expire deletes secrets that are no longer valid.
func (r *Room) Expire(ctx context.Context) error {
	if _, err := r.DB.Pool.Exec(ctx, `update webhook set old_secret = null, old_secret_until = null where old_secret_until <= $1`, r.DB.Now().UTC()); err != nil {
		return fmt.Errorf("delete secrets that have ended: %w", err)
	}
	return nil
}

// keepOldFor is how long the secret before stays valid if the caller asks for that.
const keepOldFor = 24 * time.Hour

type newSecret struct {
	ID      uuid.UUID `json:"id"`
	KeepOld bool      `json:"keep_old,omitempty" doc:"true keeps the old secret valid for 24 hours: webhook-signature then has a signature by each."`
}

// regenerateSecret answers with a new secret. An attempt that begins after the commit is signed with it, and with KeepOld for
// 24 hours with the one before as well. A secret that was valid beside that one ends at once, as does one that cannot be read.
func (r *Room) regenerateSecret(ctx context.Context, tx *db.Tx, in newSecret) (withSecret, error) {
	w, err := Lock(ctx, tx, in.ID)
	if err != nil {
		return withSecret{}, err
	}
	var old []byte
	if err := tx.QueryRow(ctx, `select secret from webhook where id = $1`, w.ID).Scan(&old); err != nil {
		return withSecret{}, err
	}
	w.OldSecretUntil = nil
	if in.KeepOld && r.open(w.ID, old) != "" {
		until := tx.Now.Add(keepOldFor)
		w.OldSecretUntil = &until
	} else {
		old = nil
	}
	secret := signature.NewSecret()
	w.SecretHint, w.UpdatedAt, w.Version = signature.Hint(secret), tx.Now, w.Version+1
	_, err = tx.Exec(ctx, `update webhook set secret = $2, secret_hint = $3, updated_at = $4, version = version + 1, old_secret = $5, old_secret_until = $6
		where id = $1`, w.ID, r.seal(w.ID, secret), w.SecretHint, tx.Now, old, w.OldSecretUntil)
	if err == nil {
		err = publish(ctx, tx, []uuid.UUID{w.ID})
	}
	return withSecret{w, secret}, err
}

// purpose binds a sealed secret to its webhook: it does not open for another.
func purpose(id uuid.UUID) string { return purposeOf(id.String()) }

func purposeOf(id string) string { return "webhook secret " + id }

func (r *Room) seal(id uuid.UUID, secret string) []byte {
	return r.Keys.Seal(purpose(id), []byte(secret))
}

// open returns a secret that seal has sealed, empty if it cannot be read.
func (r *Room) open(id uuid.UUID, sealed []byte) string {
	secret, err := r.Keys.Open(purpose(id), sealed)
	if err != nil {
		return ""
	}
	return string(secret)
}
