package contacts

import (
	"frontdesk/libs/app"
	"time"
)

// privacyParts are what the service runs of the room.
func (s *service) privacyParts() app.Parts {
	return app.Parts{
		Jobs:     []app.Job{{Name: "trash", Every: time.Hour, Run: s.emptyTrash}},
		Restored: s.restored,
	}
}
