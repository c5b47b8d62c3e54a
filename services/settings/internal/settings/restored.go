package settings

import (
	"context"
	"fmt"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// restored ends the mails that wait in a backup, because they may have been sent since, and, if no topic says which sessions have
// ended since the backup, all sessions.
func (s *service) restored(ctx context.Context) (did []string, err error) {
	err = s.DB.Do(ctx, func(tx *db.Tx) error {
		did = nil
		tx.History = true
		mails, err := tx.Exec(ctx, `update mail set status = $1, message = null, leased_by = null, error = 'The mail waited when the backup was made, and may have been sent since.'
			where status in ($2, $3)`, statusFailed, statusQueued, statusRetrying)
		if err != nil {
			return fmt.Errorf("end the mails that wait: %w", err)
		}
		if n := mails.RowsAffected(); n > 0 {
			did = append(did, fmt.Sprintf("%d mails that waited are not sent, because they may have been sent since the backup", n))
		}
		sessions, err := tx.Exec(ctx, `delete from session where not exists (select from logged where topic = $1)`, proto.IdentityTopic)
		if err != nil {
			return fmt.Errorf("end all sessions: %w", err)
		}
		if n := sessions.RowsAffected(); n > 0 {
			did = append(did, fmt.Sprintf("%d sessions are ended, because nothing says which of them were ended since the backup", n))
		}
		return nil
	})
	return did, err
}
