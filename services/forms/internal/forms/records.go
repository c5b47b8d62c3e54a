package forms

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// records declares what other services keep copies of. Spam, and submissions that wait for contacts, have not
// been published yet.
func records() []app.Published {
	return []app.Published{
		app.Records(app.Rows[int64]{Topic: proto.FormTopic, Table: "form", Emit: publishForms}),
		app.Records(app.Rows[uuid.UUID]{Topic: proto.SubmissionTopic, Table: "submission", Where: "status = 'received' and result <> 'pending'",
			Emit: publishSubmissions}),
	}
}

// publishForms publishes forms as they are now: form.deleted for those in the trash, form.updated for all others.
func publishForms(ctx context.Context, tx *db.Tx, ids []int64) error {
	for _, q := range []struct{ kind, where string }{{proto.KindFormUpdated, "deleted_at is null"}, {proto.KindFormDeleted, "deleted_at is not null"}} {
		rows, err := tx.Query(ctx, `select `+formColumns+` from form where id = any($1) and `+q.where+` order by id`, ids)
		if err != nil {
			return err
		}
		forms, err := pgx.CollectRows(rows, scanForm)
		if err != nil {
			return err
		}
		for _, f := range forms {
			if err := emitForm(ctx, tx, q.kind, f, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// publishSubmissions publishes submission.updated for submissions as they are now.
func publishSubmissions(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	for _, id := range ids {
		if _, err := emitSubmission(ctx, tx, proto.KindSubmissionUpdated, id, nil); err != nil {
			return err
		}
	}
	return nil
}
