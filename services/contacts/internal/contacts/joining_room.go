package contacts

import (
	"context"
	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"time"
)

// joiningParts are what the service runs of the room.
func (s *service) joiningParts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.ContactsCommandTopic, Handle: s.onContactCommand, Lock: pinAllAlone}},
		Jobs:     []app.Job{{Name: "answers", Every: time.Hour, Run: s.dropAnswers}},
		Personal: app.Personal{Holds: map[string]app.Holds{"answered": app.People}},
	}
}

func (s *service) onContactCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindEnsureContact {
		return nil
	}
	return s.ensureContact(ctx, tx, e)
}
