package marketing

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/timeline"
)

// AddressHash is the keyed hash by which an address that unsubscribed is remembered. Nobody reads the address from it without the
// key.
func (r *Room) AddressHash(key string) []byte {
	m := hmac.New(sha256.New, r.hashKey)
	m.Write([]byte(key))
	return m.Sum(nil)
}

// hasLeft reports whether the owner of an address has unsubscribed.
func (r *Room) hasLeft(ctx context.Context, tx *db.Tx, key string) (left bool, err error) {
	if key == "" {
		return false, nil
	}
	err = tx.QueryRow(ctx, `select exists (select from unsubscribed where address_hash = $1)`, r.AddressHash(key)).Scan(&left)
	return left, err
}

// HaveLeft reports of addresses, by their keys, whether their owners have unsubscribed.
func (r *Room) HaveLeft(ctx context.Context, tx *db.Tx, keys []string) (map[string]bool, error) {
	byHash := map[string]string{}
	hashes := make([][]byte, len(keys))
	for i, key := range keys {
		hashes[i] = r.AddressHash(key)
		byHash[string(hashes[i])] = key
	}
	rows, err := tx.Query(ctx, `select address_hash from unsubscribed where address_hash = any($1)`, hashes)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	left := map[string]bool{}
	for _, hash := range found {
		left[byHash[string(hash)]] = true
	}
	return left, err
}

// Recall gives c unsubscribed when the owner of its address once left: whatever brings the address back, only a
// confirmation by mail subscribes it again.
func (r *Room) Recall(ctx context.Context, tx *db.Tx, c contact.Contact) (contact.Contact, error) {
	left, err := r.hasLeft(ctx, tx, address.Key(c.Email))
	if err == nil && left && c.Marketing != contact.MarketingUnsubscribed {
		c.Marketing, c.MarketingUpdatedAt = contact.MarketingUnsubscribed, &tx.Now
	}
	return c, err
}

// EndConfirmLinks makes the confirmation links that a contact was mailed useless.
func EndConfirmLinks(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	_, err := tx.Exec(ctx, `update marketing_link set ended_at = $2 where contact_id = $1 and kind = 'confirm' and ended_at is null`, contact, tx.Now)
	return err
}

// setMarketing moves a locked contact's subscription to state: row, timeline, events. details join the old
// and new state in the timeline entry.
func (r *Room) setMarketing(ctx context.Context, tx *db.Tx, c contact.Contact, state, subject string, details map[string]any) error {
	data := map[string]any{"marketing": change.Change{Old: c.Marketing, New: state}}
	maps.Copy(data, details)
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Marketing, Subject: subject, Data: data}); err != nil {
		return err
	}
	if c.Marketing == state {
		return contact.Touch(ctx, tx, c.ID)
	}
	if err := contact.StoreMarketing(ctx, tx, c.ID, state); err != nil {
		return err
	}
	now, err := contact.Emit(ctx, tx, proto.KindContactUpdated, c.ID, []string{"marketing"}, nil)
	if err != nil {
		return err
	}
	switch state {
	case contact.MarketingSubscribed:
		return tx.Emit(ctx, contact.Event(proto.KindMarketingSubscribed, now, nil, nil))
	case contact.MarketingUnsubscribed:
		return tx.Emit(ctx, contact.Event(proto.KindMarketingUnsubscribed, now, nil, nil))
	}
	return nil
}

// marketingRequest asks a contact for consent to marketing.
type marketingRequest struct {
	ID     uuid.UUID `json:"id"`
	Reason string    `json:"reason,omitempty" maxLength:"255" doc:"Why the contact is asked; needed when they have unsubscribed."`
}

// requestMarketing mails a contact the question whether they want marketing mails. The contact is pending
// until they confirm.
func (r *Room) requestMarketing(ctx context.Context, tx *db.Tx, in marketingRequest) (contact.Contact, error) {
	c, err := contact.LockLive(ctx, tx, in.ID)
	if err != nil {
		return c, err
	}
	reason := strings.TrimSpace(in.Reason)
	switch {
	case c.Email == "":
		return c, fault.Invalid("email", fault.NewProblem("required", "is needed: the contact has none"))
	case c.Marketing == contact.MarketingSubscribed:
		return c, fault.InvalidStatus(contact.MarketingSubscribed, "The contact is subscribed already.")
	case c.Marketing == contact.MarketingUnsubscribed && reason == "":
		return c, fault.Invalid("reason", fault.NewProblem("required", "is needed: the contact has unsubscribed"))
	}
	asked, err := r.lastAsked(ctx, tx, c)
	if err != nil {
		return c, err
	}
	if wait := asked.Add(mailEvery).Sub(tx.Now); wait > 0 {
		return c, fault.RateLimited(wait)
	}
	if err := r.ask(ctx, tx, c, reason, ""); err != nil {
		return c, err
	}
	return contact.Read(ctx, tx, c.ID)
}

// ask mails the question, in a language or, if it is empty, in that of the business's country, and makes a locked contact pending.
func (r *Room) ask(ctx context.Context, tx *db.Tx, c contact.Contact, reason, language string) error {
	if err := r.mailQuestion(ctx, tx, c, language); err != nil {
		return err
	}
	details := map[string]any{}
	if reason != "" {
		details["reason"] = reason
	}
	return r.setMarketing(ctx, tx, c, contact.MarketingPending, "Asked whether marketing mails are welcome", details)
}

// unsubscribeContact ends all marketing to a contact at once.
func (r *Room) unsubscribeContact(ctx context.Context, tx *db.Tx, in op.ByID) (contact.Contact, error) {
	c, err := contact.LockLive(ctx, tx, in.ID)
	if err != nil {
		return c, err
	}
	if err := r.leave(ctx, tx, c); err != nil {
		return c, err
	}
	return contact.Read(ctx, tx, c.ID)
}

// leave unsubscribes a locked contact and remembers its address. Links that were mailed to confirm are worth nothing from now
// on, also where the contact counts as unsubscribed already.
func (r *Room) leave(ctx context.Context, tx *db.Tx, c contact.Contact) error {
	if err := EndConfirmLinks(ctx, tx, c.ID); err != nil {
		return err
	}
	if key := address.Key(c.Email); key != "" {
		if err := remember(ctx, tx, r.AddressHash(key)); err != nil {
			return err
		}
	}
	if c.Marketing == contact.MarketingUnsubscribed {
		return nil
	}
	return r.setMarketing(ctx, tx, c, contact.MarketingUnsubscribed, "Unsubscribed from marketing mails", nil)
}

// remember keeps that the owner of an address has unsubscribed. A link to confirm that was mailed to the address before is
// worth nothing from now on, whichever contact has it.
func remember(ctx context.Context, tx *db.Tx, hash []byte) error {
	b := &pgx.Batch{}
	b.Queue(`insert into unsubscribed (address_hash, created_at) values ($1, $2) on conflict do nothing`, hash, tx.Now)
	b.Queue(`update marketing_link set ended_at = $2 where address_hash = $1 and kind = 'confirm' and ended_at is null`, hash, tx.Now)
	return tx.SendBatch(ctx, b).Close()
}

// token is what a link in a mail carries.
type token struct {
	Token string `json:"token" required:"true" maxLength:"200" doc:"The token of the link in the mail."`
}

// marketingState is the state of the subscription after a visitor's click.
type marketingState struct {
	Marketing string `json:"marketing" enum:"subscribed,unsubscribed" doc:"The status from now on."`
}

// confirmMarketing subscribes the person who got the question by mail. It works once.
func (r *Room) confirmMarketing(ctx context.Context, tx *db.Tx, in token) (marketingState, error) {
	state := marketingState{contact.MarketingSubscribed}
	l, err := openLink(ctx, tx, in.Token, linkConfirm)
	if err != nil {
		return state, err
	}
	if l.contact == nil || l.ended != nil || tx.Now.Sub(l.created) > confirmLasts {
		return state, fault.Expired()
	}
	c, err := contact.Lock(ctx, tx, *l.contact)
	switch {
	case err != nil && fault.From(err).Status == http.StatusNotFound:
		return state, fault.Expired()
	case err != nil:
		return state, err
	case c.DeletedAt != nil || address.Key(c.Email) != l.emailKey:
		return state, fault.Expired()
	}
	// Again under the lock: the same link may be used twice at once.
	if l, err = lockLink(ctx, tx, in.Token, linkConfirm); err != nil || l.ended != nil {
		if err == nil {
			err = fault.Expired()
		}
		return state, err
	}
	if l.statement == "" { // mailed by a version that kept none, in English
		l.statement = r.reader("en").T("statement", "business", r.Site.Business().Name)
	}
	tx.Who.Label = c.Name()
	if err := EndConfirmLinks(ctx, tx, c.ID); err != nil {
		return state, err
	}
	if _, err := tx.Exec(ctx, `delete from unsubscribed where address_hash = $1`, l.hash); err != nil {
		return state, err
	}
	if err := addConsent(ctx, tx, c.ID, Consent{Purpose: "marketing", Text: l.statement, Verified: true}); err != nil {
		return state, err
	}
	if err := r.setMarketing(ctx, tx, c, contact.MarketingSubscribed, "Confirmed that marketing mails are welcome", nil); err != nil {
		return state, err
	}
	return state, r.mailWelcome(ctx, tx, c, l)
}

// leaveMarketing unsubscribes the person who got a marketing mail. It always works, as often as it is asked.
func (r *Room) leaveMarketing(ctx context.Context, tx *db.Tx, in token) (marketingState, error) {
	state := marketingState{contact.MarketingUnsubscribed}
	l, err := openLink(ctx, tx, in.Token, linkUnsubscribe)
	if err != nil {
		return state, err
	}
	if err := remember(ctx, tx, l.hash); err != nil {
		return state, err
	}
	key := l.emailKey
	if key == "" {
		// The person was erased. Should they be back, a later link knows their address.
		err := tx.QueryRow(ctx, `select email_key from marketing_link where address_hash = $1 and email_key <> '' limit 1`, l.hash).Scan(&key)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return state, err
		}
	}
	h, err := contact.LockWithEmail(ctx, tx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	c, err := contact.Lock(ctx, tx, h.ID)
	if err != nil {
		return state, err
	}
	tx.Who.Label = c.Name()
	return state, r.leave(ctx, tx, c)
}
