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

// remove deletes a submission, if it is still there, and publishes that unless a rule had held it back: submission.deleted, then
// a tombstone.
func remove(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	gone := struct {
		ID   uuid.UUID `json:"id"`
		Form struct {
			ID int64 `json:"id"`
		} `json:"form"`
	}{ID: id}
	var version int64
	var published bool
	err := tx.QueryRow(ctx, `delete from submission where id = $1 returning form_id, version + 1, status <> 'spam' or coalesce(spam_reason, '') = 'team'`, id).Scan(&gone.Form.ID, &version, &published)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil || !published {
		return err // what a rule held back was never published
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
	if err := r.clear(ctx, tx, sub); err != nil {
		return sub, err
	}
	return read(ctx, tx, in.ID)
}

// clear makes locked spam a received submission. What the team had marked goes on where it was, and is not told of a second time.
func (r *Room) clear(ctx context.Context, tx *db.Tx, sub submission) error {
	tx.TakeBack("mark-submission-spam", map[string]any{"id": sub.ID})
	if sub.SpamReason != nil && *sub.SpamReason == reasonTeam {
		return restate(ctx, tx, sub.ID, statusReceived, nil)
	}
	e, err := r.readSpam(ctx, tx, sub)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `update submission set status = $2, result = $3, spam_reason = null, version = version + 1 where id = $1`,
		e.id, e.status(), e.result())
	if err != nil {
		return err
	}
	team := tx.Who
	tx.Who = db.Actor{Channel: db.ChannelForm, Label: cmp.Or(e.visitor, "Visitor")}
	err = r.followUp(ctx, tx, e)
	tx.Who = team
	return err
}

// reasonTeam is why somebody of the team takes a submission for spam that was received.
const reasonTeam = "team"

// spam marks a received submission as spam; its contact stays. On spam it changes nothing.
func spam(ctx context.Context, tx *db.Tx, in op.ByID) (submission, error) {
	sub, err := lock(ctx, tx, in.ID)
	if err != nil || sub.Status == statusSpam {
		return sub, err
	}
	if err := suspect(ctx, tx, in.ID); err != nil {
		return sub, err
	}
	return read(ctx, tx, in.ID)
}

// suspect makes a locked submission that was received spam.
func suspect(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	tx.TakeBack("mark-submission-not-spam", map[string]any{"id": id})
	reason := reasonTeam
	return restate(ctx, tx, id, statusSpam, &reason)
}

// restate gives a locked submission another status, and publishes that if it was published before: one that waits for its contact was not.
func restate(ctx context.Context, tx *db.Tx, id uuid.UUID, status string, reason *string) error {
	var waits bool
	if err := tx.QueryRow(ctx, `update submission set status = $2, spam_reason = $3, version = version + 1 where id = $1 returning result = 'pending'`, id, status, reason).
		Scan(&waits); err != nil || waits {
		return err
	}
	_, err := emit(ctx, tx, proto.KindSubmissionUpdated, id, []string{"status"})
	return err
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
