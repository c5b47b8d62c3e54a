package marketing

import (
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/web"
	pages "frontdesk/services/contacts/internal/marketing/web"
)

// Room keeps consents and marketing subscriptions.
type Room struct {
	*app.Kit
	hashKey []byte // of the hashes of addresses that unsubscribed
}

// New makes the room.
func New(k *app.Kit) *Room {
	return &Room{Kit: k, hashKey: k.Keys.Lasting("unsubscribed addresses")}
}

// Parts are what the service runs of the room. Its pages send what visitors press to api, the handler of all operations.
func (r *Room) Parts(api http.Handler) app.Parts {
	return app.Parts{
		PagePaths: pages.Paths,
		Pages:     pages.Pages(web.Site{Read: r.Site.Read, On: r.Apps.On, PublicURL: r.Config.PublicURL, Zone: r.Config.Zone, API: api}),
		Personal:  app.Personal{Holds: map[string]app.Holds{"consent": app.People, "marketing_link": app.People, "unsubscribed": app.People}},
	}
}
