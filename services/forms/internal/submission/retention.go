package submission

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
)

// spamSlice is how much spam one transaction of expireSpam deletes.
const spamSlice = 500

// expireSpam deletes spam older than the days that the privacy settings allow; 0 keeps it.
func (r *Room) expireSpam(ctx context.Context) error {
	var privacy struct {
		Retention struct {
			Spam int `json:"spam"`
		} `json:"retention"`
	}
	privacy.Retention.Spam = 30
	r.Site.Read("privacy", &privacy)
	if privacy.Retention.Spam <= 0 {
		return nil
	}
	return r.DB.Slices(ctx, spamSlice, func(tx *db.Tx) (int, error) {
		ids, err := db.Column[uuid.UUID](ctx, tx, `select id from submission where status = 'spam' and created_at < $1
			order by id limit $2 for update skip locked`, tx.Now.AddDate(0, 0, -privacy.Retention.Spam), spamSlice)
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			if err := remove(ctx, tx, id); err != nil {
				return 0, err
			}
		}
		return len(ids), nil
	})
}
