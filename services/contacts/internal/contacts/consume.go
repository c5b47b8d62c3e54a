package contacts

import (
	"context"
	"fmt"
	"strconv"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func (s *service) follows() []bus.Follow {
	return []bus.Follow{
		{Topic: proto.ContactsCommandTopic, Handle: s.onCommand, Lock: pinAllAlone},
		{Topic: proto.AppointmentTopic, Handle: onAppointment, Lock: pinAll, Keys: bus.KeysOf("appointment")},
		{Topic: proto.SubmissionTopic, Handle: onSubmission, Lock: pinAll, Keys: bus.KeysOf("submission")},
		{Topic: proto.StaffTopic, Handle: s.onStaff},
	}
}

// onCommand executes the commands of other services: making contacts and fields.
func (s *service) onCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
	switch e.Kind {
	case proto.KindEnsureContact:
		return s.ensureContact(ctx, tx, e)
	case proto.KindEnsureFields:
		return s.ensureFields(ctx, tx, e)
	}
	return nil
}

// onAppointment keeps the copy of an appointment, and writes what happened to it into the client's timeline.
func onAppointment(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone {
		return dropAppointment(ctx, tx, e.Key)
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

// onSubmission keeps the copy of a submission, and writes a new one into the timeline of its contact.
func onSubmission(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone || e.Kind == proto.KindSubmissionDeleted {
		return dropSubmission(ctx, tx, e.Key)
	}
	var r submissionRecord
	if err := e.Decode(&r); err != nil {
		return err
	}
	contact, err := keepSubmission(ctx, tx, r, e)
	if err != nil || contact == nil || e.Kind != proto.KindFormSubmitted {
		return err
	}
	return logSubmission(ctx, tx, r, *contact, e)
}

// onStaff hands over what a person who left the team owns. History says so of people who are back on the team, too.
func (s *service) onStaff(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindStaffRemoved {
		return nil
	}
	user, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return fmt.Errorf("id of a person who left: %w", err)
	}
	if e.History && s.Identity.OnTeam(user) {
		return nil
	}
	return startHandOver(ctx, tx, user, e)
}
