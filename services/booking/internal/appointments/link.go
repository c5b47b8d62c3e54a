package appointments

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// manageFor is how long after its end an appointment can still be looked at through its link.
const manageFor = 30 * 24 * time.Hour

// NewLink makes a token that opens an appointment, beside those that are live.
func NewLink(tx *db.Tx, appointment uuid.UUID) string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	token := base64.RawURLEncoding.EncodeToString(secret)
	hash := sha256.Sum256([]byte(token))
	tx.Defer(`insert into manage_token (hash, appointment_id) values ($1, $2)`, hash[:], appointment)
	return token
}

// onRenewLink lets another token open what a live one opens: the mail with it is sent once more.
func (r *Room) onRenewLink(ctx context.Context, tx *db.Tx, _ bus.Event, m *proto.RenewLink) error {
	_, err := tx.Exec(ctx, `insert into manage_token (hash, appointment_id) select $2, appointment_id from manage_token where hash = $1 and not ended on conflict do nothing`,
		m.GetFrom(), m.GetTo())
	return err
}

// EndLinks ends the tokens of an appointment that were made before.
func EndLinks(tx *db.Tx, appointment uuid.UUID) {
	tx.Defer(`update manage_token set ended = true where appointment_id = $1 and not ended`, appointment)
}

// Behind is the appointment of a live token. A token that was replaced or whose appointment is long
// over is 410, one that never was is 400.
func (r *Room) Behind(ctx context.Context, tx *db.Tx, token string) (Record, error) {
	return r.behind(ctx, tx, token, r.Find)
}

// LockBehind is Behind with the row locked until the transaction ends.
func (r *Room) LockBehind(ctx context.Context, tx *db.Tx, token string) (Record, error) {
	return r.behind(ctx, tx, token, r.Lock)
}

// behind looks at the token after find: only with the row locked is it certain that the token was not replaced.
func (r *Room) behind(ctx context.Context, tx *db.Tx, token string, find func(context.Context, *db.Tx, uuid.UUID) (Record, error)) (Record, error) {
	hash := sha256.Sum256([]byte(token))
	var id uuid.UUID
	err := tx.QueryRow(ctx, `select appointment_id from manage_token where hash = $1`, hash[:]).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Record{}, fault.InvalidToken("This link is not known here.")
	}
	if err != nil {
		return Record{}, err
	}
	a, err := find(ctx, tx, id)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Status == 404 {
		return a, fault.Expired()
	}
	if err != nil {
		return a, err
	}
	var live bool
	if err := tx.QueryRow(ctx, `select exists (select from manage_token where hash = $1 and not ended)`, hash[:]).Scan(&live); err != nil {
		return a, err
	}
	if !live || tx.Now.After(a.EndsAt.Add(manageFor)) {
		return a, fault.Expired()
	}
	return a, nil
}

// EndLinksTo ends the links that went to the address that a contact had before at, which may be a stranger's. It spares those of visitors
// who booked with that address after the second of at: contacts is about to say whose their appointments are.
func EndLinksTo(ctx context.Context, tx *db.Tx, contact uuid.UUID, at time.Time) error {
	_, err := tx.Exec(ctx, `update manage_token set ended = true where not ended
		and appointment_id in (select id from appointment where contact_id = $1 and (source <> $2 or created_at <= $3))`, contact, db.ChannelBooking, at)
	return err
}
