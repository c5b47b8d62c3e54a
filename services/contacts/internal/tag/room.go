package tag

import (
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/services/contacts/internal/field"
)

// Room keeps tags.
type Room struct {
	*app.Kit
	field     *field.Room
	retagging *app.Aside[uuid.UUID] // the contacts on which a change of a tag failed
}

// New makes the room.
func New(k *app.Kit, fields *field.Room) *Room {
	return &Room{Kit: k, field: fields, retagging: app.NewAside[uuid.UUID]("changed tags")}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Workers:  []app.Worker{{Name: "changed tags", Pause: 300 * time.Millisecond, Slice: r.changeTagsNext}},
		Personal: app.Personal{Holds: map[string]app.Holds{"tag": app.Nobody, "tag_name": app.Nobody, "tag_change": app.Nobody}},
	}
}
