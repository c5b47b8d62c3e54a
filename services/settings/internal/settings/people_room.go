package settings

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/proto"
)

func (s *service) peopleParts() app.Parts {
	return app.Parts{
		Personal:  app.Personal{Holds: map[string]app.Holds{"person": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[int64]{Topic: proto.IdentityTopic, Table: "person", Prefix: auth.UserKey(""), Emit: publishPeople})},
		Sealed:    []app.Sealed{{Table: "person", Column: "totp", Purpose: ofSecondFactor}, {Table: "person", Column: "totp_pending", Purpose: ofSecondFactor}},
	}
}
