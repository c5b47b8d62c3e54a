package contacts

import (
	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/proto"
	"time"
)

// handoverParts are what the service runs of the room.
func (s *service) handoverParts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.StaffTopic, Handle: s.onStaff}},
		Workers:  []app.Worker{{Name: "hand-over", Pause: 300 * time.Millisecond, Slice: s.handOverNext}},
		Personal: app.Personal{Holds: map[string]app.Holds{"hand_over": app.Nobody}},
	}
}
