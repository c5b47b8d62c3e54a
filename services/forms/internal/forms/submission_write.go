package forms

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// deleteSubmission removes a submission for good; its contact stays.
func deleteSubmission(ctx context.Context, tx *db.Tx, in submissionID) (op.None, error) {
	if _, err := lockSubmission(ctx, tx, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, removeSubmission(ctx, tx, in.ID)
}

// lockSubmission locks one that the actor may see and reads it.
func lockSubmission(ctx context.Context, tx *db.Tx, id uuid.UUID) (Submission, error) {
	_, err := tx.Exec(ctx, `select from submission where id = $1 for update`, id)
	if err != nil {
		return Submission{}, err
	}
	return readSubmission(ctx, tx, id)
}

// removeSubmission deletes a submission here and in what was sent of it.
func removeSubmission(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
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
		return err // nobody was told of spam
	}
	err = tx.Emit(ctx, db.Event{Topic: proto.SubmissionTopic, Kind: "submission.deleted", Key: id.String(), Version: version, Data: gone})
	if err != nil {
		return err
	}
	return tx.Tombstone(ctx, proto.SubmissionTopic, id.String())
}

// notSpam processes spam as any other submission, in the visitor's name. On one that was received it
// changes nothing.
func (s *service) notSpam(ctx context.Context, tx *db.Tx, in submissionID) (Submission, error) {
	sub, err := lockSubmission(ctx, tx, in.ID)
	if err != nil || sub.Status != statusSpam {
		return sub, err
	}
	f, err := s.anyForm(ctx, tx, sub.Form.ID)
	if err != nil {
		return sub, err
	}
	var held []byte
	var lines []line
	if err := tx.QueryRow(ctx, `select held, answers from submission where id = $1`, in.ID).Scan(&held, &lines); err != nil {
		return sub, err
	}
	var command *proto.EnsureContact
	result := resultNone
	visitor := db.Actor{Channel: db.ChannelForm, Label: "Visitor"}
	if held != nil {
		command, result = &proto.EnsureContact{}, resultPending
		if err := protobuf.Unmarshal(held, command); err != nil {
			return sub, err
		}
		visitor.Label = nameOf(command.GetFirstName(), command.GetLastName(), command.GetEmail(), command.GetPhone())
	}
	_, err = tx.Exec(ctx, `update submission set status = 'received', result = $2, spam_reason = null, held = null, version = version + 1 where id = $1`,
		in.ID, result)
	if err != nil {
		return sub, err
	}
	team := tx.Who
	tx.Who = visitor
	err = s.process(ctx, tx, in.ID, result, command, lines, f)
	tx.Who = team
	if err != nil {
		return sub, err
	}
	return readSubmission(ctx, tx, in.ID)
}
