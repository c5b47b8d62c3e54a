package submission

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

func (r *Room) onCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindRecordSubmission {
		return nil
	}
	var c proto.RecordSubmission
	if err := e.Decode(&c); err != nil {
		return err
	}
	if err := r.record(ctx, tx, &c); err != nil {
		return err
	}
	return r.forgetLate(ctx, tx, e, &c)
}

// record stores the details of a booking as a submission of their form, once. The appointment stands whatever they
// are: details that cannot be processed are kept with the reason.
func (r *Room) record(ctx context.Context, tx *db.Tx, c *proto.RecordSubmission) error {
	e, err := r.readRecorded(ctx, tx, c)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, insert, e.row(tx))
	if err != nil {
		return fmt.Errorf("insert submission: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil
	}
	if client := c.GetClient(); client != nil && e.command == nil {
		// The answers name nobody that the form can read, or it refuses them: the client is the one who booked.
		if err := tx.Emit(ctx, db.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: commandKey(client), Data: client}); err != nil {
			return err
		}
	}
	return r.followUp(ctx, tx, e)
}

func (r *Room) readRecorded(ctx context.Context, tx *db.Tx, c *proto.RecordSubmission) (entry, error) {
	id, err := uuid.Parse(c.GetSubmissionId())
	if err != nil {
		return entry{}, fmt.Errorf("submission_id of record_submission: %w", err)
	}
	f, err := r.forms.Any(ctx, tx, c.GetFormId())
	if err != nil {
		return entry{}, err
	}
	from := origin{id: id, language: c.GetClient().GetLanguage(), contact: optionalID(c.GetContactId()), appointment: optionalID(c.GetAppointmentId())}
	if page := strings.TrimSpace(c.GetPage()); form.Page(page).IsZero() {
		from.page = page
	}
	from.values, err = definition.Raw(c.GetValues()).Entries()
	if err != nil || len(c.GetValues()) > maxSubmission {
		from.values = map[string]any{}
		e := r.newEntry(f, from, form.Answers{})
		e.problem = "The answers could not be read."
		return e, nil
	}
	answers, err := form.Check(f.Questions, from.values)
	if refused, ok := errors.AsType[*fault.Fault](err); ok {
		e := r.newEntry(f, from, form.Answers{Lines: form.Unchecked(f.Questions, from.values)})
		e.problem = refused.Message
		return e, nil
	}
	return r.newEntry(f, from, answers), err
}
