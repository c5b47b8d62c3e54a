package contacts

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"

	"github.com/google/uuid"

	"frontdesk/libs/db"
)

// States of a contact's subscription.
const (
	marketingNone         = "none"
	marketingPending      = "pending"
	marketingSubscribed   = "subscribed"
	marketingUnsubscribed = "unsubscribed"
)

// addressHash is under what an address that unsubscribed is remembered: it tells nothing without the key.
func (s *service) addressHash(key string) []byte {
	m := hmac.New(sha256.New, s.hashKey)
	m.Write([]byte(key))
	return m.Sum(nil)
}

// left tells whether the owner of an address has unsubscribed.
func (s *service) left(ctx context.Context, tx *db.Tx, key string) (left bool, err error) {
	if key == "" {
		return false, nil
	}
	err = tx.QueryRow(ctx, `select exists (select from unsubscribed where address_hash = $1)`, s.addressHash(key)).Scan(&left)
	return left, err
}

// recallMarketing makes c unsubscribed when the owner of its address once left: whatever brings the
// address back, only a confirmation by mail subscribes it again.
func (s *service) recallMarketing(ctx context.Context, tx *db.Tx, c *Contact, key string) error {
	left, err := s.left(ctx, tx, key)
	if err == nil && left && c.Marketing != marketingUnsubscribed {
		c.Marketing, c.MarketingUpdatedAt = marketingUnsubscribed, &tx.Now
	}
	return err
}

// endConfirmLinks makes the confirmation links that a contact was mailed useless.
func endConfirmLinks(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	_, err := tx.Exec(ctx, `update marketing_link set ended_at = $2 where contact_id = $1 and kind = 'confirm' and ended_at is null`, contact, tx.Now)
	return err
}
