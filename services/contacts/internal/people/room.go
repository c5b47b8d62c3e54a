package people

import (
	"frontdesk/libs/app"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/marketing"
)

// Room is what the team does with contacts.
type Room struct {
	*app.Kit
	field     *field.Room
	marketing *marketing.Room
}

// New makes the room.
func New(k *app.Kit, fields *field.Room, subscriptions *marketing.Room) *Room {
	return &Room{k, fields, subscriptions}
}

// Parts are what the service runs of the room: nothing, beside its operations.
func (r *Room) Parts() app.Parts { return app.Parts{} }
