package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

// What an address shows of appointments.
const (
	full = "full" // service, client and place
	busy = "busy" // the time alone
)

// calendarFeed is what is known of an address without its token; nothing if there is no address.
type calendarFeed struct {
	Details    *string    `json:"details" enum:"full,busy" doc:"full shows service, client and place, busy the time alone; null for no address."`
	CreatedAt  *time.Time `json:"created_at" doc:"When it was made; null for no address."`
	LastReadAt *time.Time `json:"last_read_at" doc:"When a calendar last read it; null for never."`
}

type ofStaff struct {
	User int64 `json:"user" minimum:"1"`
}

func (r *Room) get(ctx context.Context, tx *db.Tx, in ofStaff) (a calendarFeed, err error) {
	if err := r.staff.MayHave(ctx, tx, in.User); err != nil {
		return a, err
	}
	err = tx.QueryRow(ctx, `select details, created_at, last_read_at from calendar_feed where user_id = $1`, in.User).Scan(&a.Details, &a.CreatedAt, &a.LastReadAt)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return a, err
}

type newFeed struct {
	User    int64  `json:"user" minimum:"1"`
	Details string `json:"details" enum:"full,busy" doc:"full, as when it is left out, shows service, client and place; busy the time alone."`
}

// shownFeed shows the address once.
type shownFeed struct {
	URL       string    `json:"url" doc:"What the calendar subscribes to. Who has it reads the appointments, so it is a secret; it is shown only now, and empty in the answer to a repeated call."`
	Details   string    `json:"details" doc:"As it was asked for."`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
}

// WithoutSecret is the answer to a repeated call.
func (a shownFeed) WithoutSecret() any { a.URL = ""; return a }

func (r *Room) create(ctx context.Context, tx *db.Tx, in newFeed) (shownFeed, error) {
	if err := r.staff.MayHave(ctx, tx, in.User); err != nil {
		return shownFeed{}, err
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	token := base64.RawURLEncoding.EncodeToString(secret)
	a := shownFeed{URL: r.Config.PublicURL + "/v1/calendar-feeds/" + token + suffix, Details: cmp.Or(in.Details, full), CreatedAt: tx.Now}
	_, err := tx.Exec(ctx, `insert into calendar_feed (user_id, hash, details, created_at) values ($1, $2, $3, $4)
		on conflict (user_id) do update set hash = excluded.hash, details = excluded.details, created_at = excluded.created_at, last_read_at = null`,
		in.User, hashOf(token), a.Details, a.CreatedAt)
	return a, err
}

func hashOf(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}

func (r *Room) end(ctx context.Context, tx *db.Tx, in ofStaff) (op.None, error) {
	a, err := r.get(ctx, tx, in)
	if err == nil && a.CreatedAt == nil {
		err = fault.NotFound("calendar feed")
	}
	if err != nil {
		return op.None{}, err
	}
	return op.None{}, End(ctx, tx, in.User)
}

// End ends the address of a person, if there is one.
func End(ctx context.Context, tx *db.Tx, user int64) error {
	_, err := tx.Exec(ctx, `delete from calendar_feed where user_id = $1`, user)
	return err
}
