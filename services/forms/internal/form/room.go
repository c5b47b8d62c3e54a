package form

import (
	"context"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/web"
	"frontdesk/proto"
	pages "frontdesk/services/forms/internal/forms/web"
)

// Room keeps the forms, and what is worked out with them.
type Room struct {
	*app.Kit
	count  counter
	token  auth.TimeToken
	fields *fieldTable
	pages  *pageTable
	widget *pages.Widget
	cache  cache
}

// counter fills in how many submissions forms had in the last 30 days, of those that the actor may see. id limits it to one form; 0 is all.
type counter func(ctx context.Context, tx *db.Tx, id int64, forms []Form) error

// New makes the room. count is the part of a form that the room above knows.
func New(k *app.Kit, count counter) *Room {
	return &Room{Kit: k, count: count, token: auth.NewTimeToken(k.Keys.For("form time token")), fields: newFieldTable(k.Bus), pages: newPageTable(k.Bus),
		widget: pages.NewWidget(web.Site{Read: k.Site.Read, On: k.Apps.On, PublicURL: k.Config.PublicURL, Zone: k.Config.Zone})}
}

// Parts are what the service runs of the room. Its pages send what visitors fill in to api, the handler of all operations.
func (r *Room) Parts(api http.Handler) app.Parts {
	return app.Parts{
		PagePaths: pages.Paths,
		Pages:     r.widget.Pages(api, r.shown),
		Tables:    []app.Table{r.fields, r.pages},
		Personal:  app.Personal{Holds: map[string]app.Holds{"form": app.Nobody, "form_column": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[int64]{Topic: proto.FormTopic, Table: "form", Emit: publish})},
	}
}
