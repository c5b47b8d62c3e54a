package overview

import "frontdesk/libs/app"

// Room sums up.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room: nothing, beside its operations.
func (r *Room) Parts() app.Parts { return app.Parts{} }
