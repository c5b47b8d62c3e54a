package forms

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
)

func (s *service) onCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindRecordSubmission {
		return nil
	}
	var c proto.RecordSubmission
	if err := e.Decode(&c); err != nil {
		return err
	}
	if err := s.recordSubmission(ctx, tx, &c); err != nil {
		return err
	}
	return s.forgetLate(ctx, tx, e, &c)
}

// recordSubmission stores the details of a booking as a submission of their form, once. The appointment stands whatever they
// are: details that cannot be processed are kept with the reason.
func (s *service) recordSubmission(ctx context.Context, tx *db.Tx, c *proto.RecordSubmission) error {
	e, err := s.readRecorded(ctx, tx, c)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, insertSubmission, e.row(tx))
	if err != nil {
		return fmt.Errorf("insert submission: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil
	}
	return s.followUp(ctx, tx, e)
}

func (s *service) readRecorded(ctx context.Context, tx *db.Tx, c *proto.RecordSubmission) (entry, error) {
	id, err := uuid.Parse(c.GetSubmissionId())
	if err != nil {
		return entry{}, fmt.Errorf("submission_id of record_submission: %w", err)
	}
	f, err := s.anyForm(ctx, tx, c.GetFormId())
	if err != nil {
		return entry{}, err
	}
	from := source{id: id, contact: optionalID(c.GetContactId()), appointment: optionalID(c.GetAppointmentId())}
	if page := strings.TrimSpace(c.GetPage()); form.Page(page).IsZero() {
		from.page = page
	}
	from.values, err = object(c.GetValues()).entries()
	if err != nil || len(c.GetValues()) > maxSubmission {
		from.values = map[string]any{}
		e := s.newEntry(f, from, form.Answers{})
		e.problem = "The answers could not be read."
		return e, nil
	}
	answers, err := form.Check(f.questions, from.values)
	if refused, ok := errors.AsType[*fault.Fault](err); ok {
		e := s.newEntry(f, from, form.Answers{Lines: form.Unchecked(f.questions, from.values)})
		e.problem = refused.Message
		return e, nil
	}
	return s.newEntry(f, from, answers), err
}
