package copies

import (
	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
)

// Room keeps copies of what other services own.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{
			{Topic: proto.AppointmentTopic, Handle: onAppointment, Lock: contact.PinAll, Keys: bus.KeysOf("appointment")},
			{Topic: proto.SubmissionTopic, Handle: onSubmission, Lock: contact.PinAll, Keys: bus.KeysOf("submission")},
		},
		Personal: app.Personal{Holds: map[string]app.Holds{"appointment": app.People, "submission": app.People}, Forget: forgetPerson},
	}
}
