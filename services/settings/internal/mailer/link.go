package mailer

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/settings/internal/secrets"
)

// When operations that take the token of a link are refused, see op.Fails.
const (
	FailLink    = "The link is not one of ours."
	FailExpired = "The link was used, replaced or is too old."
)

// Kinds of links in mails.
const (
	Invitation = "invitation"
	Password   = "password"
	Telemetry  = "telemetry"
)

// waits is the condition of the table link for an invitation that nobody has accepted or revoked, however old it is. The user who was made
// for it has no password, and is removed with it.
const waits = `kind = 'invitation' and ended_at is null and person_id is not null`

// linksKept is for how long a link that ended is told from one that was never mailed.
const linksKept = 90 * 24 * time.Hour

// link is a row of the table link: what the token in a mail stands for.
type link struct {
	ID        uuid.UUID
	Kind      string
	PersonID  *int64
	Role      string
	ExpiresAt time.Time
	EndedAt   *time.Time
}

const linkColumns = `id, kind, person_id, role, expires_at, ended_at`

// NewLink makes a link and ends those of its kind that the locked user had before.
func NewLink(ctx context.Context, tx *db.Tx, kind string, personID int64, role string, life time.Duration) (token string, l link, err error) {
	if err := EndLinks(ctx, tx, kind, personID); err != nil {
		return "", l, err
	}
	token, hash := secrets.New()
	l = link{ID: db.NewID(), Kind: kind, PersonID: &personID, Role: role, ExpiresAt: tx.Now.Add(life)}
	_, err = tx.Exec(ctx, `insert into link (id, hash, kind, person_id, role, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`,
		l.ID, hash, kind, personID, role, tx.Now, l.ExpiresAt)
	if err != nil {
		return "", l, fmt.Errorf("make link %s: %w", kind, err)
	}
	return token, l, nil
}

// EndLinks ends the links of a kind that the person has.
func EndLinks(ctx context.Context, tx *db.Tx, kind string, personID int64) error {
	_, err := tx.Exec(ctx, `update link set ended_at = $3 where kind = $1 and person_id = $2 and ended_at is null`, kind, personID, tx.Now)
	if err != nil {
		return fmt.Errorf("end links %s: %w", kind, err)
	}
	return nil
}

// EndAllLinks ends the links of every kind that the person has.
func EndAllLinks(ctx context.Context, tx *db.Tx, personID int64) error {
	if _, err := tx.Exec(ctx, `update link set ended_at = $2 where person_id = $1 and ended_at is null`, personID, tx.Now); err != nil {
		return fmt.Errorf("end links: %w", err)
	}
	return nil
}

// HaveLinkSince reports whether the person was given a link of a kind after a time.
func HaveLinkSince(ctx context.Context, tx *db.Tx, kind string, personID int64, after time.Time) (have bool, err error) {
	err = tx.QueryRow(ctx, `select exists (select from link where kind = $1 and person_id = $2 and created_at > $3)`, kind, personID, after).Scan(&have)
	if err != nil {
		return false, fmt.Errorf("look for a recent link: %w", err)
	}
	return have, nil
}

// LinkWorks reports whether a link can still be used.
func LinkWorks(ctx context.Context, tx *db.Tx, id uuid.UUID) (works bool, err error) {
	err = tx.QueryRow(ctx, `select exists (select from link where id = $1 and ended_at is null and person_id is not null and expires_at >= $2)`, id, tx.Now).Scan(&works)
	if err != nil {
		return false, fmt.Errorf("look whether a link works: %w", err)
	}
	return works, nil
}

// UseLink ends the link that FindLink finds. Who also changes its user has locked them before.
func UseLink(ctx context.Context, tx *db.Tx, kind, token string) (link, error) {
	l, err := FindLink(ctx, tx, kind, token)
	if err != nil {
		return l, err
	}
	tag, err := tx.Exec(ctx, `update link set ended_at = $2 where id = $1 and ended_at is null`, l.ID, tx.Now)
	if err != nil {
		return l, fmt.Errorf("end link %s: %w", kind, err)
	}
	if tag.RowsAffected() == 0 {
		return l, fault.Expired()
	}
	return l, nil
}

// FindLink finds the link that a token stands for. A token that was never mailed is 400 svc_invalid_token; one that was used,
// replaced, revoked or is too old is 410.
func FindLink(ctx context.Context, tx *db.Tx, kind, token string) (link, error) {
	l, err := db.Find[link](ctx, tx, fault.InvalidToken("This link is not one of ours."), `select `+linkColumns+` from link where hash = $1 and kind = $2`, secrets.Hash(token), kind)
	if err != nil {
		return l, err
	}
	if l.EndedAt != nil || l.PersonID == nil || tx.Now.After(l.ExpiresAt) {
		return l, fault.Expired()
	}
	return l, nil
}

// DeleteOutdatedLinks deletes up to n links whose time of keeping is over, and returns how many. Invitations that wait stay.
func DeleteOutdatedLinks(ctx context.Context, tx *db.Tx, n int) (deleted int, err error) {
	tag, err := tx.Exec(ctx, `delete from link where id = any(array(select id from link where expires_at < $1 and not (`+waits+`)
		order by expires_at limit $2 for update skip locked))`, tx.Now.Add(-linksKept), n)
	return int(tag.RowsAffected()), err
}

// Done is the answer of operations that tell nothing more than that they ran.
type Done struct {
	OK bool `json:"ok" doc:"Always true."`
}
