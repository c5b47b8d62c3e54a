package contacts

import (
	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/proto"
)

// copiesParts are what the service runs of the room.
func (s *service) copiesParts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{
			{Topic: proto.AppointmentTopic, Handle: onAppointment, Lock: pinAll, Keys: bus.KeysOf("appointment")},
			{Topic: proto.SubmissionTopic, Handle: onSubmission, Lock: pinAll, Keys: bus.KeysOf("submission")},
		},
		Personal: app.Personal{Holds: map[string]app.Holds{"appointment": app.People, "submission": app.People}, Forget: forgetPerson},
	}
}
