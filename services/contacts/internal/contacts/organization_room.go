package contacts

import (
	"frontdesk/libs/app"
	"frontdesk/proto"
	"time"

	"github.com/google/uuid"
)

// organizationParts are what the service runs of the room.
func (s *service) organizationParts() app.Parts {
	return app.Parts{
		Workers: []app.Worker{{Name: "people of organizations", Pause: time.Second, Slice: s.publishNext}},
		Personal: app.Personal{Holds: map[string]app.Holds{"organization": app.Nobody, "organization_distinct": app.Nobody, "organization_news": app.Nobody,
			"contact_organization": app.People}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.OrganizationTopic, Table: "organization", Emit: publishOrganizations})},
	}
}
