package submission

import (
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/form"
)

// Room keeps what visitors sent, and the copies of contacts and organizations that it names.
type Room struct {
	*app.Kit
	forms *form.Room
}

// New makes the room.
func New(k *app.Kit, forms *form.Room) *Room {
	return &Room{k, forms}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{
			{Topic: proto.ContactTopic, Handle: r.onContact, Keys: bus.KeysOf("contact")},
			{Topic: proto.OrganizationTopic, Handle: onOrganization, Keys: bus.KeysOf("organization")},
			{Topic: proto.FormsCommandTopic, Handle: r.onCommand},
		},
		Jobs: []app.Job{
			{Name: "retention", Every: time.Hour, Run: r.expireSpam},
			reread.Job(r.DB),
			{Name: "unanswered", Every: time.Hour, Run: r.askAgain},
		},
		Personal: app.Personal{
			// Visitors are contacts and sent submissions.
			Holds:  map[string]app.Holds{"submission": app.People, "contact": app.People, "contact_alias": app.People, "organization": app.Nobody},
			Forget: r.forget,
		},
		// Spam, and submissions that wait for contacts, have not been published yet.
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.SubmissionTopic, Table: "submission",
			Where: "status = 'received' and result <> 'pending'", Emit: publish})},
		Gauges: []app.Gauge{
			{Name: "forms.pending", Unit: "{submission}", Doc: "submissions whose contact is not there yet",
				SQL: `select count(*) from submission where status = 'received' and result = 'pending'`},
			{Name: "forms.pending_age", Unit: "s", Doc: "age of the oldest submission whose contact is not there yet",
				SQL: `select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0) from submission where status = 'received' and result = 'pending'`},
		},
	}
}
