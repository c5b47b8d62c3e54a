package digest

import (
	"time"

	"frontdesk/libs/app"
	"frontdesk/services/forms/internal/form"
)

// Room mails the digest of spam.
type Room struct {
	*app.Kit
	forms *form.Room
}

// New makes the room.
func New(k *app.Kit, forms *form.Room) *Room { return &Room{k, forms} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Jobs:     []app.Job{{Name: "spam-digest", Every: time.Hour, Run: r.mailSpam}},
		Personal: app.Personal{Holds: map[string]app.Holds{"spam_digest": app.Nobody}},
	}
}
