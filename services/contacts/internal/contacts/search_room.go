package contacts

import (
	"context"
	"frontdesk/libs/app"
)

// searchParts are what the service runs of the room.
func (s *service) searchParts() app.Parts {
	return app.Parts{
		Run:   []func(context.Context){s.replica.KeepUp},
		Ready: map[string]func() error{"the directory": s.replica.Loaded},
	}
}
