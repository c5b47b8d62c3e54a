package forms

import (
	"context"

	"frontdesk/libs/db"
)

// expireSpam deletes spam older than the days that the privacy settings allow; 0 keeps it.
func (s *service) expireSpam(ctx context.Context) error {
	var privacy struct {
		Retention struct {
			Spam int `json:"spam"`
		} `json:"retention"`
	}
	privacy.Retention.Spam = 30
	s.Site.Read("privacy", &privacy)
	if privacy.Retention.Spam <= 0 {
		return nil
	}
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `delete from submission where status = 'spam' and created_at < $1`, tx.Now.AddDate(0, 0, -privacy.Retention.Spam))
		return err
	})
}
