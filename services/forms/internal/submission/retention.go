package submission

import (
	"context"

	"frontdesk/libs/db"
)

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
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `delete from submission where status = 'spam' and created_at < $1`, tx.Now.AddDate(0, 0, -privacy.Retention.Spam))
		return err
	})
}
