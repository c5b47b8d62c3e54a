package contact

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// OtherID names a second record in the body.
type OtherID struct {
	ID      uuid.UUID `json:"id"`
	OtherID uuid.UUID `json:"other_id" required:"true" doc:"The id of the record that is merged into this one and deleted."`
}

// SameRecord is the problem of a second record that is the first one.
func SameRecord(what string) fault.Problem { return fault.NewProblem("same", "must be another "+what) }

// LockPair locks two records by id and gives them as they were named.
func LockPair[T any](ctx context.Context, tx *db.Tx, in OtherID, lock func(context.Context, *db.Tx, uuid.UUID) (T, error)) (one, other T, err error) {
	ids := []uuid.UUID{in.ID, in.OtherID}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range ids {
		record, err := lock(ctx, tx, id)
		if err != nil {
			return one, other, err
		}
		if id == in.ID {
			one = record
		} else {
			other = record
		}
	}
	return one, other, nil
}

// IDsOf gives the ids that a query selects.
func IDsOf(ctx context.Context, tx *db.Tx, query string, args ...any) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return CollectIDs(rows)
}
