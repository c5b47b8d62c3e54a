package booking

import (
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/booking/web"
)

// widgetParts are what the service runs of the room. api answers the operations that the pages call.
func (s *service) widgetParts(api http.Handler) app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.PageTopic, Handle: onPage, Keys: bus.KeysOf("page")}},
		Pages:     s.website(api),
		PagePaths: web.Paths,
		Personal:  app.Personal{Holds: map[string]app.Holds{"page": app.Nobody, "embedding": app.Nobody}},
	}
}

// widgetOps declares the operations on the widget.
func (s *service) widgetOps(set *op.Set) {
	op.Add(set, op.Op{ID: "get-booking-embed", Route: "GET /booking-widget/embed", Perm: auth.ViewContacts, App: s.Service,
		Doc:   "Get how to show the booking widget on a page, and where it is shown.",
		Use:   "Use it when somebody asks how visitors can book. booking_page is the address of a page of its own, or null.",
		Fails: op.Fails{"svc_not_found": "There is no such service or person."}}, s.embed)
	op.AddOutside(set, op.Op{ID: "embed-booking-in-page", Route: "POST /booking-widget/embed-in-page", Perm: auth.ManageCRM, App: s.Service, Record: "page",
		Doc:   "Add the booking widget to a page of the site, or to a new one.",
		Use:   "It is added at the end of the page; a new page is a draft that a person has to publish. Answers with page and address to edit.",
		Fails: op.Fails{"svc_not_found": "There is no such page, service or person."}}, s.embedInPage)
}
