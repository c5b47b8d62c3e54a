package organization

import (
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/field"
)

// Room keeps organizations and the links of people with them.
type Room struct {
	*app.Kit
	field *field.Room
	news  news // the rows on which publishNext failed
}

// New makes the room.
func New(k *app.Kit, fields *field.Room) *Room { return &Room{Kit: k, field: fields, news: newNews()} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Workers: []app.Worker{{Name: "people of organizations", Pause: time.Second, Slice: r.publishNext}},
		Personal: app.Personal{Holds: map[string]app.Holds{"organization": app.Nobody, "organization_distinct": app.Nobody, "organization_news": app.Nobody,
			"contact_organization": app.People}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.OrganizationTopic, Table: "organization", Emit: publish})},
	}
}
