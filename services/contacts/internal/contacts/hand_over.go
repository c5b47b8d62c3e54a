package contacts

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// handOverSlice is how many contacts, or organizations, change hands in one transaction. Whoever edits one of them waits for
// that transaction at most.
const handOverSlice = 100

// startHandOver notes that somebody left the team, and who takes over; handOverNext does the rest. What still was to come to
// the person goes to the successor as well.
func startHandOver(ctx context.Context, tx *db.Tx, e bus.Event) error {
	var extra proto.StaffRemoved
	if err := e.DecodeExtra(&extra); err != nil {
		return err
	}
	from, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return fmt.Errorf("id of a person who left: %w", err)
	}
	b := &pgx.Batch{}
	b.Queue(`update hand_over set to_user = nullif($2::bigint, 0) where to_user = $1`, from, extra.GetSuccessor())
	b.Queue(`insert into hand_over (from_user, to_user, actor, created_at) values ($1, nullif($2::bigint, 0), $3, $4)
		on conflict (from_user) do update set to_user = excluded.to_user, actor = excluded.actor`, from, extra.GetSuccessor(), tx.Who, tx.Now)
	return tx.SendBatch(ctx, b).Close()
}

// handOverNext hands over the next slice in one transaction. It changes only what still has the old owner, so a crash leaves
// nothing out and repeats nothing.
func (s *service) handOverNext(ctx context.Context) (worked bool, err error) {
	err = s.DB.Do(ctx, func(tx *db.Tx) (err error) {
		worked, err = handOver(ctx, tx)
		return err
	})
	return worked, err
}

// handOver does the next slice of the oldest hand-over that no other replica is at, and reports whether there was work.
func handOver(ctx context.Context, tx *db.Tx) (worked bool, err error) {
	var from int64
	var to *int64
	err = tx.QueryRow(ctx, `select from_user, to_user, actor from hand_over order by created_at, from_user limit 1 for update skip locked`).Scan(&from, &to, &tx.Who)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := handOverContacts(ctx, tx, from, to)
	if err != nil {
		return false, fmt.Errorf("hand over the contacts of user %d: %w", from, err)
	}
	if n > 0 {
		return true, nil
	}
	if n, err = handOverOrganizations(ctx, tx, from, to); err != nil {
		return false, fmt.Errorf("hand over the organizations of user %d: %w", from, err)
	}
	if n > 0 {
		return true, nil
	}
	// Records that another transaction has locked were skipped.
	_, err = tx.Exec(ctx, `delete from hand_over where from_user = $1 and not exists (select from contact where owner_user_id = $1)
		and not exists (select from organization where owner_user_id = $1)`, from)
	return false, err
}

// handOverContacts gives the next contacts of a person to their successor, or removes the owner, and returns how many.
func handOverContacts(ctx context.Context, tx *db.Tx, from int64, to *int64) (int, error) {
	rows, err := tx.Query(ctx, `
		update contact c set owner_user_id = $2, version = c.version + 1, updated_at = $3, last_activity = greatest(c.last_activity, $3)
		from (select id from contact where owner_user_id = $1 order by id limit $4 for no key update skip locked) slice
		where c.id = slice.id returning c.id`, from, to, tx.Now, handOverSlice)
	if err != nil {
		return 0, err
	}
	ids, err := collectIDs(rows)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	diff := contactFields.Diff(Contact{OwnerUserID: &from}, Contact{OwnerUserID: to})
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"activity"}, []string{"id", "contact_id", "type", "subject", "data", "channel", "actor_label", "user_id", "created_at"},
		pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
			return []any{db.NewID(), ids[i], entryUpdated, "Contact handed over", diff, tx.Who.Channel, tx.Who.Label, userID(tx.Who), tx.Now}, nil
		})); err != nil {
		return 0, err
	}
	return len(ids), publishContacts(ctx, tx, ids, diff.Names())
}

// handOverOrganizations is handOverContacts for organizations, of which a person has few.
func handOverOrganizations(ctx context.Context, tx *db.Tx, from int64, to *int64) (int, error) {
	rows, err := tx.Query(ctx, `select id from organization where owner_user_id = $1 order by id limit $2 for no key update skip locked`, from, handOverSlice/10)
	if err != nil {
		return 0, err
	}
	ids, err := collectIDs(rows)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		old, err := lockOrganization(ctx, tx, id)
		if err != nil {
			return 0, err
		}
		o := old
		o.OwnerUserID = to
		if _, err := saveOrganization(ctx, tx, old, o, "Organization handed over"); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}
