package joining

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// answersKept is for how long a command that comes again gets the answer of the first time.
const answersKept = 400 * 24 * time.Hour

// answer is what a command came to: a contact, or none.
type answer struct {
	ContactID *uuid.UUID
	Result    string
}

// answered finds the answer to an earlier command for the same record; nil when this is the first. The contact is the one that
// it has become by now.
func answered(ctx context.Context, tx *db.Tx, m *proto.EnsureContact) (*answer, error) {
	var a answer
	err := tx.QueryRow(ctx, `select coalesce(l.target, a.contact_id), a.result from answered a left join contact_alias l on l.id = a.contact_id
		where (a.origin, a.origin_id) = ($1, $2)`, m.GetOrigin(), m.GetOriginId()).Scan(&a.ContactID, &a.Result)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for an earlier answer: %w", err)
	}
	return &a, nil
}

// giveAnswer stores the answer to a command and publishes it.
func giveAnswer(ctx context.Context, tx *db.Tx, m *proto.EnsureContact, a answer) error {
	tx.Defer(`insert into answered (origin, origin_id, contact_id, result, answered_at) values ($1, $2, $3, $4, $5) on conflict do nothing`,
		m.GetOrigin(), m.GetOriginId(), a.ContactID, a.Result, tx.Now)
	return emitAnswer(ctx, tx, m, a)
}

// dropAnswers deletes the answers that nobody will ask for again.
func (r *Room) dropAnswers(ctx context.Context) error {
	_, err := r.DB.Pool.Exec(ctx, `delete from answered where answered_at < $1`, r.DB.Now().Add(-answersKept))
	return err
}

// Erase deletes the answers that led to a contact that is erased.
func Erase(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from answered where contact_id = $1 or contact_id in (select id from contact_alias where target = $1)`, contact)
	return err
}
