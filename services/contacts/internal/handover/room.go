package handover

import (
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/proto"
)

// Room hands over what people who left the team own.
type Room struct {
	*app.Kit
	handing handing // the records on which it failed
}

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k, newHanding()} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.StaffTopic, Handle: r.onStaff, Later: r.handOverNow}},
		Workers:  []app.Worker{{Name: "hand-over", Pause: 300 * time.Millisecond, Slice: r.handOverNext}},
		Personal: app.Personal{Holds: map[string]app.Holds{"hand_over": app.Nobody}},
	}
}
