package settings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/mail"
)

// Kinds of links in mails, and for how long each works.
const (
	linkInvitation = "invitation"
	linkPassword   = "password"
	linkTelemetry  = "telemetry"

	invitationLife = 7 * 24 * time.Hour
	passwordLife   = 2 * time.Hour
	telemetryLife  = 7 * 24 * time.Hour
)

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

// newLink makes a link and ends those of its kind that the person had before.
func newLink(ctx context.Context, tx *db.Tx, kind string, personID int64, role string, life time.Duration) (token string, l link, err error) {
	if err := endLinks(ctx, tx, kind, personID); err != nil {
		return "", l, err
	}
	token, hash := newToken()
	l = link{ID: db.NewID(), Kind: kind, PersonID: &personID, Role: role, ExpiresAt: tx.Now.Add(life)}
	_, err = tx.Exec(ctx, `insert into link (id, hash, kind, person_id, role, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`,
		l.ID, hash, kind, personID, role, tx.Now, l.ExpiresAt)
	if err != nil {
		return "", l, fmt.Errorf("make link %s: %w", kind, err)
	}
	return token, l, nil
}

// endLinks ends the links of a kind that the person has.
func endLinks(ctx context.Context, tx *db.Tx, kind string, personID int64) error {
	_, err := tx.Exec(ctx, `update link set ended_at = $3 where kind = $1 and person_id = $2 and ended_at is null`, kind, personID, tx.Now)
	if err != nil {
		return fmt.Errorf("end links %s: %w", kind, err)
	}
	return nil
}

// useLink ends the link that findLink finds.
func useLink(ctx context.Context, tx *db.Tx, kind, token string) (link, error) {
	l, err := findLink(ctx, tx, kind, token)
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

// findLink finds the link that a token stands for. A token that was never mailed is 400 svc_invalid_token; one that was used,
// replaced, revoked or is too old is 410.
func findLink(ctx context.Context, tx *db.Tx, kind, token string) (link, error) {
	l, err := one[link](ctx, tx, `select `+linkColumns+` from link where hash = $1 and kind = $2`, tokenHash(token), kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, fault.InvalidToken("This link is not one of ours.")
	}
	if err != nil {
		return l, fmt.Errorf("find link %s: %w", kind, err)
	}
	if l.EndedAt != nil || l.PersonID == nil || tx.Now.After(l.ExpiresAt) {
		return l, fault.Expired()
	}
	return l, nil
}

// queueMail renders a mail in the name of the business and puts it into the queue.
func (s *service) queueMail(ctx context.Context, tx *db.Tx, c mail.Content) error {
	var general generalDoc
	if _, err := readDocument(ctx, tx, docGeneral, &general); err != nil {
		return err
	}
	var portal portalDoc
	if _, err := readDocument(ctx, tx, docPortal, &portal); err != nil {
		return err
	}
	c.Business = mail.Business{Name: general.Business.Name, Logo: s.logoURL(portal)}
	if c.Footer == nil {
		c.Footer = []string{"This mail was sent by " + general.Business.Name + " because somebody used this address there."}
	}
	m, err := mail.Render(c)
	if errors.Is(err, mail.ErrContent) {
		// The rules of mail are stricter than those by which addresses and texts were accepted.
		return fault.Invalid("email", fault.NewProblem("not_mailable", "or the text cannot be put into a mail"))
	}
	if err != nil {
		return fmt.Errorf("render mail %s: %w", c.Kind, err)
	}
	return tx.Mail(ctx, m)
}
