package people

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/mailer"
)

// Room keeps users.
type Room struct {
	*app.Kit
	mails *mailer.Room
}

func New(k *app.Kit, mails *mailer.Room) *Room { return &Room{k, mails} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Personal:  app.Personal{Holds: map[string]app.Holds{"person": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[int64]{Topic: proto.IdentityTopic, Table: "person", Prefix: auth.UserKey(""), Emit: publishAll})},
		Sealed:    []app.Sealed{{Table: "person", Column: "totp", Purpose: ofSecondFactor}, {Table: "person", Column: "totp_pending", Purpose: ofSecondFactor}},
	}
}
