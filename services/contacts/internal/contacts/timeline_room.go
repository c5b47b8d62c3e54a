package contacts

import "frontdesk/libs/app"

// timelineParts are what the service runs of the room.
func (s *service) timelineParts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"activity": app.People}}}
}
