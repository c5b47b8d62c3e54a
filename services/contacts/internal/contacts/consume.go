package contacts

import (
	"context"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func (s *service) command(ctx context.Context, tx *db.Tx, e bus.Event) error {
	switch e.Kind {
	case proto.KindEnsureContact:
		return s.ensureContact(ctx, tx, e)
	case proto.KindEnsureFields:
		return s.ensureFields(ctx, tx, e)
	}
	return nil
}

// appointmentEvent keeps the copy of an appointment and tells the client's timeline of what happened.
func (s *service) appointmentEvent(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone {
		return forgetAppointment(ctx, tx, e.Key)
	}
	var a appointmentRecord
	if err := e.Decode(&a); err != nil {
		return err
	}
	contact, err := keepAppointment(ctx, tx, a, e)
	if err != nil || contact == nil {
		return err
	}
	return logAppointment(ctx, tx, a, *contact, e)
}

// submissionEvent keeps the copy of a submission.
func (s *service) submissionEvent(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone || e.Kind == proto.KindSubmissionDeleted {
		return forgetSubmission(ctx, tx, e.Key)
	}
	var r submissionRecord
	if err := e.Decode(&r); err != nil {
		return err
	}
	contact, err := keepSubmission(ctx, tx, r, e)
	if err != nil || contact == nil || e.Kind != proto.KindFormSubmitted {
		return err
	}
	return logSubmission(ctx, tx, r, *contact)
}

func (s *service) staffEvent(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind == proto.KindStaffRemoved {
		return handOver(ctx, tx, e)
	}
	return nil
}
