package marketing

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
)

// Consent is a statement that a person agreed to, exactly as they saw it.
type Consent struct {
	Purpose   string    `json:"purpose" doc:"What they agreed to."`
	Text      string    `json:"text" doc:"The words that they agreed to."`
	Verified  bool      `json:"verified" doc:"Confirmed by mail."`
	CreatedAt time.Time `json:"created_at" doc:"When they agreed."`
}

// listConsents lists what a contact agreed to, oldest first.
func (r *Room) listConsents(ctx context.Context, tx *db.Tx, in op.ByID) (db.List[Consent], error) {
	if _, err := contact.ByID(ctx, tx, in.ID); err != nil {
		return db.List[Consent]{}, err
	}
	consents, err := ConsentsOf(ctx, tx, in.ID)
	return db.All(consents), err
}

// ConsentsOf lists what a contact agreed to, oldest first.
func ConsentsOf(ctx context.Context, tx *db.Tx, contact uuid.UUID) ([]Consent, error) {
	return db.Rows[Consent](ctx, tx, `select purpose, text, verified, created_at from consent where contact_id = $1 order by created_at, id`, contact)
}

func addConsent(ctx context.Context, tx *db.Tx, contact uuid.UUID, c Consent) error {
	_, err := tx.Exec(ctx, `insert into consent (id, contact_id, purpose, text, verified, created_at) values ($1, $2, $3, $4, $5, $6)`,
		db.NewID(), contact, c.Purpose, c.Text, c.Verified, tx.Now)
	return err
}

// RecordConsents records the statements that a visitor agreed to, none of them verified: a public form proves nothing. A
// visitor who agreed to marketing is asked by mail, at most once a day, in their language or, if it is empty, in that of the business's
// country; asked reports that they were.
func (r *Room) RecordConsents(ctx context.Context, tx *db.Tx, id uuid.UUID, consents []*proto.Consent, language string) (asked bool, err error) {
	marketing := false
	for _, c := range consents {
		if err := addConsent(ctx, tx, id, Consent{Purpose: c.GetPurpose(), Text: c.GetText()}); err != nil {
			return false, err
		}
		marketing = marketing || c.GetMarketing()
	}
	if !marketing {
		return false, nil
	}
	c, err := contact.Lock(ctx, tx, id)
	if err != nil || c.Email == "" || c.Marketing == contact.MarketingSubscribed {
		return false, err
	}
	last, err := r.lastAsked(ctx, tx, c)
	if err != nil || last.Add(mailEvery).After(tx.Now) {
		return false, err
	}
	return true, r.ask(ctx, tx, c, "", language)
}

// Move gives consents and links of one contact to another.
func Move(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) error {
	b := &pgx.Batch{}
	b.Queue(`update consent set contact_id = $1 where contact_id = $2`, winner, loser)
	b.Queue(`update marketing_link set contact_id = $1 where contact_id = $2`, winner, loser)
	return tx.SendBatch(ctx, b).Close()
}

// Erase deletes what a contact that is erased agreed to. Links to unsubscribe go on working, without the address.
func Erase(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	b := &pgx.Batch{}
	b.Queue(`delete from consent where contact_id = $1`, contact)
	b.Queue(`delete from marketing_link where contact_id = $1 and kind = 'confirm'`, contact)
	b.Queue(`update marketing_link set email_key = '', contact_id = null where contact_id = $1`, contact)
	return tx.SendBatch(ctx, b).Close()
}
