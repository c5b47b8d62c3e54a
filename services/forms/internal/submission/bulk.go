package submission

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
)

// bulkChange says what is done with many submissions.
type bulkChange struct {
	op.Many
	Spam   opt.Value[bool] `json:"spam,omitzero" doc:"true marks them as spam, false processes them as no spam."`
	Delete bool            `json:"delete,omitempty" doc:"true deletes them for good; their contacts stay. It stands alone."`
}

// changeMany does the same with many submissions, each for itself, in one transaction.
func (r *Room) changeMany(ctx context.Context, tx *db.Tx, in bulkChange) (op.Done, error) {
	done := op.Done{Failed: []op.NotDone{}}
	verbs, asked := map[string]bool{}, change.Set{}
	if in.Spam.Set {
		verbs["spam"] = false
		asked.Note("spam", nil, in.Spam.V)
	}
	if in.Delete {
		verbs["delete"] = true
		asked.Note("delete", nil, true)
	}
	if err := op.Alone(verbs); err != nil {
		return done, err
	}
	ids := in.Sorted()
	for _, id := range ids {
		changed, err := r.change(ctx, tx, id, in)
		if err := done.Count(id, changed, err); err != nil {
			return done, err
		}
	}
	tx.Changed(asked)
	return done, op.AuditMany(ctx, tx, "bulk-submissions", "submission", ids)
}

func (r *Room) change(ctx context.Context, tx *db.Tx, id uuid.UUID, in bulkChange) (changed bool, err error) {
	sub, err := lock(ctx, tx, id)
	switch {
	case err != nil:
		return false, err
	case in.Delete:
		return true, remove(ctx, tx, id)
	case in.Spam.V == (sub.Status == statusSpam):
		return false, nil
	case in.Spam.V:
		return true, suspect(ctx, tx, id)
	}
	return true, r.clear(ctx, tx, sub)
}
