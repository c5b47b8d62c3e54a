package widget

import (
	"context"
	files "embed"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	ui "frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
	"frontdesk/services/booking/internal/widget/web"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

//go:embed text/*.json
var texts files.FS

// readers gives the words of the lines for other pages in a language.
var readers = ui.Readers(texts)

// Room shows the booking widget, on pages of the site and on those of booking.
type Room struct {
	*app.Kit
	services *services.Room
}

func New(k *app.Kit, services *services.Room) *Room { return &Room{k, services} }

// Parts are what the service runs of the room. api answers the operations that the pages call.
func (r *Room) Parts(api http.Handler) app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.PageTopic, Handle: onPage, Keys: bus.KeysOf("page")}},
		Pages:     r.website(api),
		PagePaths: web.Paths,
		Personal:  app.Personal{Holds: map[string]app.Holds{"page": app.Nobody, "embedding": app.Nobody}},
	}
}

// Embedding declares the operations on the widget.
func (r *Room) Embedding(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "get-booking-embed", Route: "GET /booking-widget/embed", Perm: auth.ViewContacts, App: r.Service,
		Doc:   "Get how to show the booking widget on a page, and where it is shown.",
		Use:   "Use it when somebody asks how visitors can book. booking_page is the address of a page of its own, or null.",
		Fails: op.Fails{"svc_not_found": "There is no such service or person."}}, r.embed)
	op.AddOutside(set, op.Op{ID: "embed-booking-in-page", Undo: op.Undo{Never: op.ByHand}, Route: "POST /booking-widget/embed-in-page", Perm: auth.ManageCRM, App: r.Service, Record: "page",
		Doc:   "Add the booking widget to a page of the site, or to a new one.",
		Use:   "It is added at the end of the page; a new page is a draft that a person has to publish. Answers with page and address to edit.",
		Fails: op.Fails{"svc_not_found": "There is no such page, service or person.", "svc_conflict page_full": "The page has no room for it."}}, r.embedInPage)
}

// website is the pages and assets of booking.
func (r *Room) website(api http.Handler) http.Handler {
	return web.Pages(web.Desk{
		Site:   ui.Site{Read: r.Site.Read, On: r.Apps.On, PublicURL: r.Config.PublicURL, Zone: r.Config.Zone, API: api},
		Now:    r.DB.Now,
		Key:    r.Keys.For("manage page"),
		Fields: r.services.CustomFields,
		Open: func(ctx context.Context) (week slots.Week, err error) {
			err = r.DB.Read(ctx, func(tx *db.Tx) error {
				week, err = staff.Open(ctx, tx)
				return err
			})
			return week, err
		},
		Rules: func(ctx context.Context) (rules web.Rules, err error) {
			err = r.DB.Read(ctx, func(tx *db.Tx) error {
				settings, err := services.ReadSettings(ctx, tx)
				rules = web.Rules{ClientChanges: settings.ClientChanges, CancelNoticeHours: settings.CancelNoticeHours, LateCancelText: settings.LateCancelText}
				return err
			})
			return rules, err
		},
	})
}
