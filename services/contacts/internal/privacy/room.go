package privacy

import (
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/services/contacts/internal/imports"
)

// Room erases people, and gives them what is kept about them.
type Room struct {
	*app.Kit
	imports *imports.Room
	trash   *app.Aside[uuid.UUID] // the contacts that could not be erased
}

// New makes the room.
func New(k *app.Kit, files *imports.Room) *Room {
	return &Room{k, files, app.NewAside[uuid.UUID]("trash")}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Jobs:     []app.Job{{Name: "trash", Every: time.Hour, Run: r.emptyTrash}},
		Restored: r.restored,
	}
}
