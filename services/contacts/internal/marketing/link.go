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
	"frontdesk/libs/letter"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
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
	// language is that of the visitor, empty if it was unknown; statement what a link to confirm was mailed with.
	language, statement string
}

// newLink makes a link for a contact and its address, and gives the token that opens it. The token is not
// kept. A link to confirm keeps the statement that it is mailed with, which is recorded when it is used.
func (r *Room) newLink(ctx context.Context, tx *db.Tx, kind string, c contact.Contact, language, statement string) (string, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	token := base64.RawURLEncoding.EncodeToString(secret)
	key := address.Key(c.Email)
	_, err := tx.Exec(ctx, `insert into marketing_link (token, kind, contact_id, email_key, address_hash, created_at, language, statement)
		values (@token, @kind, @contact, @email, @hash, @now, @language, @statement)`, db.Args{"token": tokenHash(token), "kind": kind, "contact": c.ID,
		"email": key, "hash": r.AddressHash(key), "now": tx.Now, "language": language, "statement": statement})
	return token, err
}

func tokenHash(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

const linkSQL = `select kind, contact_id, email_key, address_hash, created_at, ended_at, language, statement from marketing_link where token = $1`

// openLink finds the link of a token; one that is unknown, or of another kind, is 400 svc_invalid_token.
func openLink(ctx context.Context, tx *db.Tx, token, kind string) (link, error) {
	return scanLink(tx.QueryRow(ctx, linkSQL, tokenHash(token)), kind)
}

// lockLink is openLink that locks the link.
func lockLink(ctx context.Context, tx *db.Tx, token, kind string) (link, error) {
	return scanLink(tx.QueryRow(ctx, linkSQL+` for update`, tokenHash(token)), kind)
}

func scanLink(row pgx.Row, kind string) (l link, err error) {
	err = row.Scan(&l.kind, &l.contact, &l.emailKey, &l.hash, &l.created, &l.ended, &l.language, &l.statement)
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

// reader writes in a language or, if it is empty, in that of the business's country.
func (r *Room) reader(language string) *web.Reader {
	return letter.Reader(language, r.country(), r.Config.Zone)
}

// country is that of the business; empty until it is set.
func (r *Room) country() string {
	var general struct {
		Country string `json:"country"`
	}
	r.Site.Read("general", &general)
	return general.Country
}

// mailQuestion mails a contact the question whether they want marketing mails.
func (r *Room) mailQuestion(ctx context.Context, tx *db.Tx, c contact.Contact, language string) error {
	t, business := r.reader(language), r.Site.Business().Name
	statement := t.T("statement", "business", business)
	confirm, err := r.newLink(ctx, tx, linkConfirm, c, language, statement)
	if err != nil {
		return err
	}
	return r.mail(ctx, tx, c, language, letter.MarketingConfirm, letter.Values{
		letter.Statement: statement,
		letter.Confirm:   mail.Link{Text: t.T("confirm"), URL: r.page("confirm", language) + "#token=" + confirm},
	})
}

// mailWelcome mails a contact that the subscription stands, as the link that confirmed it says, and how to leave.
func (r *Room) mailWelcome(ctx context.Context, tx *db.Tx, c contact.Contact, l link) error {
	return r.mail(ctx, tx, c, l.language, letter.MarketingConfirmed, letter.Values{letter.Statement: l.statement})
}

// page is the address of a page behind a link, in the language of its mail. Where neither the visitor's nor the country is known, the
// browser's counts.
func (r *Room) page(name, language string) string {
	address := r.Config.PublicURL + "/marketing/" + name
	if language == "" && r.country() == "" {
		return address
	}
	return address + "?lang=" + r.reader(language).Language
}

// mail sends a marketing mail, which always carries a link to leave.
func (r *Room) mail(ctx context.Context, tx *db.Tx, c contact.Contact, language, kind string, v letter.Values) error {
	leave, err := r.newLink(ctx, tx, linkUnsubscribe, c, language, "")
	if err != nil {
		return err
	}
	t, name := r.reader(language), mail.Unlinked(c.Name())
	v[letter.Greeting], v[letter.Client], v[letter.Business] = letter.Hello(t, name), name, r.Site.Business().Name
	v[letter.Unsubscribe] = letter.Foot{Text: t.T("unsubscribe"), URL: r.page("unsubscribe", language) + "#token=" + leave}
	m := letter.Write(r.Site.Read, t, kind, v)
	m.To = mail.Person{Name: c.Name(), Address: address.Key(c.Email)}
	m.Business = r.Site.Business()
	m.UnsubscribeURL = r.Config.PublicURL + "/marketing/unsubscribe?token=" + leave
	rendered, err := mail.Render(m)
	if err != nil {
		return err
	}
	return tx.Mail(ctx, rendered)
}
