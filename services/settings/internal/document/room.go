package document

import "frontdesk/libs/app"

// Parts are what the service runs of the room.
func Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"document": app.Nobody}}}
}
