package submission

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

// discard removes a submission for good; its contact stays.
func discard(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	if _, err := lock(ctx, tx, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, remove(ctx, tx, in.ID)
}

// lock locks and reads a submission that the actor may see; 404 svc_not_found otherwise.
func lock(ctx context.Context, tx *db.Tx, id uuid.UUID) (submission, error) {
	_, err := tx.Exec(ctx, `select from submission where id = $1 for update`, id)
	if err != nil {
		return submission{}, err
	}
	return read(ctx, tx, id)
}

// remove deletes a submission, if it is still there, and publishes that unless it was spam: submission.deleted, then a
// tombstone.
func remove(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	gone := struct {
		ID   uuid.UUID `json:"id"`
		Form struct {
			ID int64 `json:"id"`
		} `json:"form"`
	}{ID: id}
	var version int64
	var status string
	err := tx.QueryRow(ctx, `delete from submission where id = $1 returning form_id, version + 1, status`, id).Scan(&gone.Form.ID, &version, &status)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil || status == statusSpam {
		return err // spam was never published
	}
	err = tx.Emit(ctx, db.Event{Topic: proto.SubmissionTopic, Kind: proto.KindSubmissionDeleted, Key: id.String(), Version: version, Data: gone})
	if err != nil {
		return err
	}
	tx.Tombstone(proto.SubmissionTopic, id.String())
	return nil
}

// notSpam processes spam as any other submission, in the visitor's name. On one that was received it changes nothing.
func (r *Room) notSpam(ctx context.Context, tx *db.Tx, in op.ByID) (submission, error) {
	sub, err := lock(ctx, tx, in.ID)
	if err != nil || sub.Status != statusSpam {
		return sub, err
	}
	e, err := r.readSpam(ctx, tx, sub)
	if err != nil {
		return sub, err
	}
	_, err = tx.Exec(ctx, `update submission set status = $2, result = $3, spam_reason = null, version = version + 1 where id = $1`,
		e.id, e.status(), e.result())
	if err != nil {
		return sub, err
	}
	team := tx.Who
	tx.Who = db.Actor{Channel: db.ChannelForm, Label: cmp.Or(e.visitor, "Visitor")}
	err = r.followUp(ctx, tx, e)
	tx.Who = team
	if err != nil {
		return sub, err
	}
	return read(ctx, tx, in.ID)
}

// readSpam reads spam as the entry that it would have been without its spam_reason.
func (r *Room) readSpam(ctx context.Context, tx *db.Tx, sub submission) (entry, error) {
	f, err := r.forms.Any(ctx, tx, sub.Form.ID)
	if err != nil {
		return entry{}, err
	}
	e := entry{origin: origin{id: sub.ID, page: sub.Page}, form: f}
	var held []byte
	if err := tx.QueryRow(ctx, `select held, answers from submission where id = $1`, sub.ID).Scan(&held, &e.lines); err != nil {
		return e, err
	}
	if held == nil {
		return e, nil
	}
	e.command = &proto.EnsureContact{}
	if err := protobuf.Unmarshal(held, e.command); err != nil {
		return e, fmt.Errorf("held command of submission %s: %w", sub.ID, err)
	}
	e.visitor = definition.NameOf(e.command.GetFirstName(), e.command.GetLastName(), e.command.GetEmail(), e.command.GetPhone())
	return e, nil
}
