package forms

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// removeSubmission deletes a submission for good, here and in what was sent of it.
func removeSubmission(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	var spam bool
	var version int64
	err := tx.QueryRow(ctx, `delete from submission where id = $1 returning status = 'spam', version`, id).Scan(&spam, &version)
	if err != nil || spam {
		return err // nobody was told of spam
	}
	return tx.Tombstone(ctx, proto.SubmissionTopic, id.String())
}
