package contacts

import (
	"context"

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
