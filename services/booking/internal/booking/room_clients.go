package booking

import (
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/proto"
)

// clientsParts are what the service runs of the room.
func (s *service) clientsParts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{
			{Topic: proto.ContactTopic, Handle: s.keepContact, Keys: bus.KeysOf("contact")},
			{Topic: proto.OrganizationTopic, Handle: onOrganization, Keys: bus.KeysOf("organization")},
		},
		Jobs: []app.Job{{Name: "unanswered", Every: time.Hour, Run: s.askAgain}},
		Gauges: []app.Gauge{{Name: "booking.unanswered", Unit: "{contact}", Doc: "clients whom contacts has not confirmed yet",
			SQL: `select count(*) from contact where version = 0`}},
		Personal: app.Personal{Holds: map[string]app.Holds{"contact": app.People, "organization": app.Nobody}, Forget: s.forgetClients},
	}
}
