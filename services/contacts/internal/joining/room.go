package joining

import (
	"context"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/people"
)

// Room makes one contact of what means one person.
type Room struct {
	*app.Kit
	field     *field.Room
	marketing *marketing.Room
	people    *people.Room
}

// New makes the room.
func New(k *app.Kit, fields *field.Room, subscriptions *marketing.Room, contacts *people.Room) *Room {
	return &Room{k, fields, subscriptions, contacts}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.ContactsCommandTopic, Handle: r.onContactCommand, Lock: contact.PinAllAlone}},
		Jobs:     []app.Job{{Name: "answers", Every: time.Hour, Run: r.dropAnswers}},
		Personal: app.Personal{Holds: map[string]app.Holds{"answered": app.People}},
	}
}

func (r *Room) onContactCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindEnsureContact {
		return nil
	}
	return r.ensureContact(ctx, tx, e)
}
