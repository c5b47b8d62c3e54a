package contacts

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
)

// addressHash is the keyed hash by which an address that unsubscribed is remembered. Nobody reads the address from it without the
// key.
func (s *service) addressHash(key string) []byte {
	m := hmac.New(sha256.New, s.hashKey)
	m.Write([]byte(key))
	return m.Sum(nil)
}

// hasLeft reports whether the owner of an address has unsubscribed.
func (s *service) hasLeft(ctx context.Context, tx *db.Tx, key string) (left bool, err error) {
	if key == "" {
		return false, nil
	}
	err = tx.QueryRow(ctx, `select exists (select from unsubscribed where address_hash = $1)`, s.addressHash(key)).Scan(&left)
	return left, err
}

// haveLeft reports of addresses, by their keys, whether their owners have unsubscribed.
func (s *service) haveLeft(ctx context.Context, tx *db.Tx, keys []string) (map[string]bool, error) {
	byHash := map[string]string{}
	hashes := make([][]byte, len(keys))
	for i, key := range keys {
		hashes[i] = s.addressHash(key)
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

// recallMarketing gives c unsubscribed when the owner of its address once left: whatever brings the address back, only a
// confirmation by mail subscribes it again.
func (s *service) recallMarketing(ctx context.Context, tx *db.Tx, c Contact) (Contact, error) {
	left, err := s.hasLeft(ctx, tx, address.Key(c.Email))
	if err == nil && left && c.Marketing != marketingUnsubscribed {
		c.Marketing, c.MarketingUpdatedAt = marketingUnsubscribed, &tx.Now
	}
	return c, err
}

// endConfirmLinks makes the confirmation links that a contact was mailed useless.
func endConfirmLinks(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	_, err := tx.Exec(ctx, `update marketing_link set ended_at = $2 where contact_id = $1 and kind = 'confirm' and ended_at is null`, contact, tx.Now)
	return err
}

// setMarketing moves a locked contact's subscription to state: row, timeline, events. details join the old
// and new state in the timeline entry.
func (s *service) setMarketing(ctx context.Context, tx *db.Tx, c Contact, state, subject string, details map[string]any) error {
	data := map[string]any{"marketing": change.Change{Old: c.Marketing, New: state}}
	maps.Copy(data, details)
	if _, err := log(ctx, tx, newEntry{contact: &c.ID, kind: entryMarketing, subject: subject, data: data}); err != nil {
		return err
	}
	if c.Marketing == state {
		return touch(ctx, tx, c.ID)
	}
	if err := storeMarketing(ctx, tx, c.ID, state); err != nil {
		return err
	}
	now, err := emitContact(ctx, tx, proto.KindContactUpdated, c.ID, []string{"marketing"}, nil)
	if err != nil {
		return err
	}
	switch state {
	case marketingSubscribed:
		return tx.Emit(ctx, contactEvent(proto.KindMarketingSubscribed, now, nil, nil))
	case marketingUnsubscribed:
		return tx.Emit(ctx, contactEvent(proto.KindMarketingUnsubscribed, now, nil, nil))
	}
	return nil
}

// MarketingRequest asks a contact for consent to marketing.
type MarketingRequest struct {
	ID     uuid.UUID `json:"id"`
	Reason string    `json:"reason,omitempty" maxLength:"255" doc:"Why the contact is asked; needed when they have unsubscribed."`
}

// requestMarketing mails a contact the question whether they want marketing mails. The contact is pending
// until they confirm.
func (s *service) requestMarketing(ctx context.Context, tx *db.Tx, in MarketingRequest) (Contact, error) {
	c, err := lockLiveContact(ctx, tx, in.ID)
	if err != nil {
		return c, err
	}
	reason := strings.TrimSpace(in.Reason)
	switch {
	case c.Email == "":
		return c, fault.Invalid("email", fault.NewProblem("required", "is needed: the contact has none"))
	case c.Marketing == marketingSubscribed:
		return c, fault.InvalidStatus(marketingSubscribed, "The contact is subscribed already.")
	case c.Marketing == marketingUnsubscribed && reason == "":
		return c, fault.Invalid("reason", fault.NewProblem("required", "is needed: the contact has unsubscribed"))
	}
	asked, err := s.lastAsked(ctx, tx, c)
	if err != nil {
		return c, err
	}
	if wait := asked.Add(mailEvery).Sub(tx.Now); wait > 0 {
		return c, fault.RateLimited(wait)
	}
	if err := s.ask(ctx, tx, c, reason); err != nil {
		return c, err
	}
	return readContact(ctx, tx, c.ID)
}

// ask mails the question and makes a locked contact pending.
func (s *service) ask(ctx context.Context, tx *db.Tx, c Contact, reason string) error {
	if err := s.mailQuestion(ctx, tx, c); err != nil {
		return err
	}
	details := map[string]any{}
	if reason != "" {
		details["reason"] = reason
	}
	return s.setMarketing(ctx, tx, c, marketingPending, "Asked whether marketing mails are welcome", details)
}

// unsubscribeContact ends all marketing to a contact at once.
func (s *service) unsubscribeContact(ctx context.Context, tx *db.Tx, in op.ByID) (Contact, error) {
	c, err := lockLiveContact(ctx, tx, in.ID)
	if err != nil {
		return c, err
	}
	if err := s.leave(ctx, tx, c); err != nil {
		return c, err
	}
	return readContact(ctx, tx, c.ID)
}

// leave unsubscribes a locked contact and remembers its address. Links that were mailed to confirm are worth nothing from now
// on, also where the contact counts as unsubscribed already.
func (s *service) leave(ctx context.Context, tx *db.Tx, c Contact) error {
	if err := endConfirmLinks(ctx, tx, c.ID); err != nil {
		return err
	}
	if key := address.Key(c.Email); key != "" {
		if err := remember(ctx, tx, s.addressHash(key)); err != nil {
			return err
		}
	}
	if c.Marketing == marketingUnsubscribed {
		return nil
	}
	return s.setMarketing(ctx, tx, c, marketingUnsubscribed, "Unsubscribed from marketing mails", nil)
}

// remember keeps that the owner of an address has unsubscribed. A link to confirm that was mailed to the address before is
// worth nothing from now on, whichever contact has it.
func remember(ctx context.Context, tx *db.Tx, hash []byte) error {
	b := &pgx.Batch{}
	b.Queue(`insert into unsubscribed (address_hash, created_at) values ($1, $2) on conflict do nothing`, hash, tx.Now)
	b.Queue(`update marketing_link set ended_at = $2 where address_hash = $1 and kind = 'confirm' and ended_at is null`, hash, tx.Now)
	return tx.SendBatch(ctx, b).Close()
}

// Token is what a link in a mail carries.
type Token struct {
	Token string `json:"token" required:"true" maxLength:"200" doc:"The token of the link in the mail."`
}

// MarketingState is the state of the subscription after a visitor's click.
type MarketingState struct {
	Marketing string `json:"marketing" enum:"subscribed,unsubscribed" doc:"The status from now on."`
}

// confirmMarketing subscribes the person who got the question by mail. It works once.
func (s *service) confirmMarketing(ctx context.Context, tx *db.Tx, in Token) (MarketingState, error) {
	state := MarketingState{marketingSubscribed}
	l, err := openLink(ctx, tx, in.Token, linkConfirm)
	if err != nil {
		return state, err
	}
	if l.contact == nil || l.ended != nil || tx.Now.Sub(l.created) > confirmLasts {
		return state, fault.Expired()
	}
	c, err := lockContact(ctx, tx, *l.contact)
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
	tx.Who.Label = c.Name()
	if err := endConfirmLinks(ctx, tx, c.ID); err != nil {
		return state, err
	}
	if _, err := tx.Exec(ctx, `delete from unsubscribed where address_hash = $1`, l.hash); err != nil {
		return state, err
	}
	if err := addConsent(ctx, tx, c.ID, Consent{Purpose: "marketing", Text: s.statement(), Verified: true}); err != nil {
		return state, err
	}
	if err := s.setMarketing(ctx, tx, c, marketingSubscribed, "Confirmed that marketing mails are welcome", nil); err != nil {
		return state, err
	}
	return state, s.mailWelcome(ctx, tx, c)
}

// leaveMarketing unsubscribes the person who got a marketing mail. It always works, as often as it is asked.
func (s *service) leaveMarketing(ctx context.Context, tx *db.Tx, in Token) (MarketingState, error) {
	state := MarketingState{marketingUnsubscribed}
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
	h, err := lockContactWithEmail(ctx, tx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	c, err := lockContact(ctx, tx, h.ID)
	if err != nil {
		return state, err
	}
	tx.Who.Label = c.Name()
	return state, s.leave(ctx, tx, c)
}
