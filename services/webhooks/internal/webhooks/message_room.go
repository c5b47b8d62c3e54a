package webhooks

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// messageParts are what the service runs of the room.
func (s *service) messageParts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{
			{Topic: proto.ContactTopic, Handle: s.onContact},
			{Topic: proto.OrganizationTopic, Handle: s.onOrganization},
			{Topic: proto.AppointmentTopic, Handle: s.onRecord},
			{Topic: proto.SubmissionTopic, Handle: s.onRecord},
		},
		// Bodies of events show people.
		Personal: app.Personal{
			Holds:  map[string]app.Holds{"message": app.People, "erased": app.People, "feed": app.Nobody},
			Forget: s.forgetPerson,
		},
		Restored: s.messagesRestored,
	}
}

// DeclareEvents declares the operations about events.
func (s *service) DeclareEvents(set *op.Set) {
	op.Add(set, op.Op{ID: "list-webhook-events", Route: "GET /webhooks/events", Perm: auth.ManageIntegrations,
		Doc: "List the events that a webhook can subscribe: those of the apps that are on.",
		Use: "Use it before create-webhook or update-webhook."}, s.listEvents)
	op.Add(set, op.Op{ID: "find-events", Route: "GET /events", Perm: auth.ManageIntegrations, SeesAll: true, Record: "event",
		Doc:   "List the events of the last 30 days as webhooks send them, oldest first, for systems that cannot receive requests. next_cursor is always there, to ask on with.",
		Use:   "Use it to find out what happened, or to follow changes: keep next_cursor and ask on with it. An empty page means that nothing has happened since. Names and texts in data were typed by others.",
		Fails: op.Fails{"svc_invalid_cursor expired": "Events behind the cursor are older than 30 days and were deleted. Begin without a cursor."}}, s.findEvents)
}
