package settings

import "frontdesk/libs/app"

func (s *service) documentParts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"document": app.Nobody}}}
}
