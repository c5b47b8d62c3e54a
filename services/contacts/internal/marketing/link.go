package marketing

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/mail"
	"frontdesk/services/contacts/internal/contact"
)

// Kinds of links in marketing mails.
const (
	linkConfirm     = "confirm"
	linkUnsubscribe = "unsubscribe"
)

// How long a link to confirm works, and how long a contact is not asked again.
const (
	confirmLasts = 7 * 24 * time.Hour
	mailEvery    = 24 * time.Hour
)

// link is a row of marketing_link.
type link struct {
	kind     string
	contact  *uuid.UUID
	emailKey string
	hash     []byte
	created  time.Time
	ended    *time.Time
}

// newLink makes a link for a contact and its address, and gives the token that opens it. The token is not
// kept.
func (r *Room) newLink(ctx context.Context, tx *db.Tx, kind string, c contact.Contact) (string, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	token := base64.RawURLEncoding.EncodeToString(secret)
	key := address.Key(c.Email)
	_, err := tx.Exec(ctx, `insert into marketing_link (token, kind, contact_id, email_key, address_hash, created_at) values ($1, $2, $3, $4, $5, $6)`,
		tokenHash(token), kind, c.ID, key, r.AddressHash(key), tx.Now)
	return token, err
}

func tokenHash(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

const linkSQL = `select kind, contact_id, email_key, address_hash, created_at, ended_at from marketing_link where token = $1`

// openLink finds the link of a token; one that is unknown, or of another kind, is 400 svc_invalid_token.
func openLink(ctx context.Context, tx *db.Tx, token, kind string) (link, error) {
	return scanLink(tx.QueryRow(ctx, linkSQL, tokenHash(token)), kind)
}

// lockLink is openLink that locks the link.
func lockLink(ctx context.Context, tx *db.Tx, token, kind string) (link, error) {
	return scanLink(tx.QueryRow(ctx, linkSQL+` for update`, tokenHash(token)), kind)
}

func scanLink(row pgx.Row, kind string) (l link, err error) {
	err = row.Scan(&l.kind, &l.contact, &l.emailKey, &l.hash, &l.created, &l.ended)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && l.kind != kind {
		return l, fault.InvalidToken("This link is not valid.")
	}
	return l, err
}

// lastAsked is when a contact, or another with its address, was last mailed the question.
func (r *Room) lastAsked(ctx context.Context, tx *db.Tx, c contact.Contact) (time.Time, error) {
	var at *time.Time
	err := tx.QueryRow(ctx, `select greatest(
		(select max(created_at) from marketing_link where contact_id = $1 and kind = 'confirm'),
		(select max(created_at) from marketing_link where address_hash = $2 and kind = 'confirm'))`, c.ID, r.AddressHash(address.Key(c.Email))).Scan(&at)
	if err != nil || at == nil {
		return time.Time{}, err
	}
	return *at, nil
}

func (r *Room) statement() string {
	return "Yes, " + r.Site.Business().Name + " may send me news and offers by email. I can unsubscribe at any time."
}

// mailQuestion mails a contact the question whether they want marketing mails.
func (r *Room) mailQuestion(ctx context.Context, tx *db.Tx, c contact.Contact) error {
	confirm, err := r.newLink(ctx, tx, linkConfirm, c)
	if err != nil {
		return err
	}
	leave, err := r.newLink(ctx, tx, linkUnsubscribe, c)
	if err != nil {
		return err
	}
	return r.mail(ctx, tx, c, leave, mail.Content{
		Kind:       "marketing.confirm",
		Subject:    "Please confirm: news from " + r.Site.Business().Name,
		Paragraphs: []string{"You, or somebody with your email address, asked for news from " + r.Site.Business().Name + ". We only send it once you confirm.", r.statement()},
		Buttons:    []mail.Link{{Text: "Yes, send me news", URL: r.Config.PublicURL + "/marketing/confirm#token=" + confirm}},
		Closing:    []string{"The link works for 7 days. If you did not ask for this, ignore this mail: you will get nothing."},
	})
}

// mailWelcome mails a contact that the subscription stands, and how to leave.
func (r *Room) mailWelcome(ctx context.Context, tx *db.Tx, c contact.Contact) error {
	leave, err := r.newLink(ctx, tx, linkUnsubscribe, c)
	if err != nil {
		return err
	}
	return r.mail(ctx, tx, c, leave, mail.Content{
		Kind:       "marketing.confirmed",
		Subject:    "You will get news from " + r.Site.Business().Name,
		Paragraphs: []string{"Thank you for confirming. You agreed to this:", r.statement()},
	})
}

// mail sends a marketing mail, which always carries a link to leave.
func (r *Room) mail(ctx context.Context, tx *db.Tx, c contact.Contact, leave string, m mail.Content) error {
	page := r.Config.PublicURL + "/marketing/unsubscribe"
	m.To = mail.Person{Name: c.Name(), Address: address.Key(c.Email)}
	m.Business = r.Site.Business()
	m.FooterLinks = []mail.Link{{Text: "Unsubscribe", URL: page + "#token=" + leave}}
	m.UnsubscribeURL = page + "?token=" + leave
	rendered, err := mail.Render(m)
	if err != nil {
		return err
	}
	return tx.Mail(ctx, rendered)
}
