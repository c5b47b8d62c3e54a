package search

import (
	"context"

	"frontdesk/libs/app"
	"frontdesk/services/contacts/internal/directory"
	"frontdesk/services/contacts/internal/field"
)

// Room finds contacts.
type Room struct {
	*app.Kit
	field    *field.Room
	replica  *directory.Replica // what contacts are searched and counted in
	counters chan struct{}      // holds those who count contacts without it
}

// New makes the room.
func New(k *app.Kit, fields *field.Room) *Room {
	return &Room{Kit: k, field: fields, replica: directory.NewReplica(k.DB), counters: make(chan struct{}, countersAtOnce)}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Run:   []func(context.Context){r.replica.KeepUp},
		Ready: map[string]func() error{"the directory": r.replica.Loaded},
	}
}
