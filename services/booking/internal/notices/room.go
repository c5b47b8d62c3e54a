package notices

import (
	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
)

// Room tells the team.
type Room struct {
	*app.Kit
	appointments *appointments.Room
}

func New(k *app.Kit, a *appointments.Room) *Room { return &Room{k, a} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Follows: []bus.Follow{{Topic: proto.BookingCommandTopic, Handle: bus.On(proto.KindSendAgenda, r.onSendAgenda)}}}
}
