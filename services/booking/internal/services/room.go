package services

import (
	_ "embed"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/staff"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Room keeps what can be booked, the settings of online booking, and what the details step asks.
type Room struct {
	*app.Kit
	staff  *staff.Room
	fields *bus.Table[form.Field]
}

func New(k *app.Kit, staff *staff.Room) *Room { return &Room{k, staff, newFieldTable(k.Bus)} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{{Topic: proto.FormTopic, Handle: onForm, Keys: bus.KeysOf("form")}},
		Tables:  []app.Table{r.fields},
		Published: []app.Published{
			app.OneRecord(proto.ServiceTopic, settingsKey, publishSettings, raiseSettings),
			app.Records(app.Rows[uuid.UUID]{Topic: proto.ServiceTopic, Table: "service", Emit: publishServices}),
		},
		Personal: app.Personal{Holds: map[string]app.Holds{"service": app.Nobody, "settings": app.Nobody, "form": app.Nobody}},
	}
}

// Services declares the operations on services.
func (r *Room) Services(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-services", Route: "GET /services", Perm: auth.ViewContacts, App: r.Service, Doc: "List bookable services.",
		Use: "Use it to find the id, length and price of what can be booked."}, listServices)
	op.Add(set, op.Op{ID: "create-service", Undo: op.Undo{By: "archive-service"}, Route: "POST /services", Perm: auth.ManageCRM, App: r.Service, Status: 201, Record: "service", Doc: "Add a bookable service.",
		Use:   "Give staff the user ids of those who do it, else nobody can be booked. Answers with the service.",
		Fails: op.Fails{"svc_not_found": "There is no such form."}}, r.createService)
	op.Add(set, op.Op{ID: "order-services", Undo: op.Undo{Steps: true}, Versioned: true, Route: "PUT /services/order", Perm: auth.ManageCRM, App: r.Service, Record: "service",
		Doc:   "Change the order of services: those that are named come first, the others keep theirs behind them.",
		Use:   "Visitors and team see services in this order. It sets sort_order of all services. Answers with those that are not archived.",
		Fails: op.Fails{"svc_not_found": "One of the services does not exist."}}, orderServices)
	op.Add(set, op.Op{ID: "get-service", Route: "GET /services/{id}", Perm: auth.ViewContacts, App: r.Service, Doc: "Get one bookable service, archived or not.",
		Use: "Answers with all its settings, also the buffers that clients do not see."}, Get)
	op.Add(set, op.Op{ID: "update-service", Undo: op.Undo{By: "update-service"}, Versioned: true, Route: "PATCH /services/{id}", Perm: auth.ManageCRM, App: r.Service, Record: "service", Idempotent: true,
		Doc: "Change the given settings of a service; appointments keep those they were booked with, but for mail_text in reminders.",
		Use: "What is left out stays. archived false takes an archived service back. Answers with the service."}, r.updateService)
	op.Add(set, op.Op{ID: "archive-service", Undo: op.Undo{By: "update-service", With: map[string]any{"archived": false}}, Versioned: true, Route: "DELETE /services/{id}", Perm: auth.ManageCRM, App: r.Service, Record: "service",
		Doc: "Archive a service: it can no longer be booked, its appointments stay.",
		Use: "update-service with archived false takes it back."}, r.archiveService)
}

// Rules declares the operations on the settings of online booking.
func (r *Room) Rules(set *op.Set) {
	op.Add(set, op.Op{ID: "get-booking-settings", Route: "GET /settings/booking", Perm: auth.ViewContacts, App: r.Service, Doc: "Get the settings of online booking.",
		Use: "Use it to see notice, horizon, reminders and whether clients may change appointments themselves."}, getSettings)
	op.Add(set, op.Op{ID: "update-booking-settings", Undo: op.Undo{By: "update-booking-settings"}, Versioned: true, Route: "PATCH /settings/booking", Perm: auth.ManageCRM, App: r.Service, Record: "settings", Idempotent: true,
		Doc:   "Change the given settings of online booking.",
		Use:   "What is left out stays. It counts at once, for what is booked too: reminders, moves, cancelling. With request_expires_hours, requests that wait that long from then on are declined. Answers with all settings.",
		Fails: op.Fails{"svc_not_found": "There is no such form."}}, r.updateSettings)
}
