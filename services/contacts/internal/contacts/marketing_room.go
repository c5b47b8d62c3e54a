package contacts

import (
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/web"
	pages "frontdesk/services/contacts/internal/contacts/web"
)

// marketingParts are what the service runs of the room. Its pages send what visitors press to api, the handler of all operations.
func (s *service) marketingParts(api http.Handler) app.Parts {
	return app.Parts{
		PagePaths: pages.Paths,
		Pages:     pages.Pages(web.Site{Read: s.Site.Read, On: s.Apps.On, PublicURL: s.Config.PublicURL, Zone: s.Config.Zone, API: api}),
		Personal:  app.Personal{Holds: map[string]app.Holds{"consent": app.People, "marketing_link": app.People, "unsubscribed": app.People}},
	}
}
