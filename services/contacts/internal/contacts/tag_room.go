package contacts

import (
	"frontdesk/libs/app"
	"time"
)

// tagParts are what the service runs of the room.
func (s *service) tagParts() app.Parts {
	return app.Parts{
		Workers:  []app.Worker{{Name: "changed tags", Pause: 300 * time.Millisecond, Slice: s.changeTagsNext}},
		Personal: app.Personal{Holds: map[string]app.Holds{"tag": app.Nobody, "tag_name": app.Nobody, "tag_change": app.Nobody}},
	}
}
