package booking

import (
	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// servicesParts are what the service runs of the room.
func (s *service) servicesParts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{{Topic: proto.FormTopic, Handle: onForm, Keys: bus.KeysOf("form")}},
		Tables:  []app.Table{s.fields},
		Published: []app.Published{
			app.OneRecord(proto.ServiceTopic, settingsKey, publishSettings, raiseSettings),
			app.Records(app.Rows[uuid.UUID]{Topic: proto.ServiceTopic, Table: "service", Emit: publishServices}),
		},
		Personal: app.Personal{Holds: map[string]app.Holds{"service": app.Nobody, "settings": app.Nobody, "form": app.Nobody}},
	}
}

// servicesOps declares the operations on services.
func (s *service) servicesOps(set *op.Set) {
	op.Add(set, op.Op{ID: "list-services", Route: "GET /services", Perm: auth.ViewContacts, App: s.Service, Doc: "List bookable services.",
		Use: "Use it to find the id, length and price of what can be booked."}, listServices)
	op.Add(set, op.Op{ID: "create-service", Route: "POST /services", Perm: auth.ManageCRM, App: s.Service, Status: 201, Record: "service", Doc: "Add a bookable service.",
		Use:   "Give staff the user ids of those who do it, else nobody can be booked. Answers with the service.",
		Fails: op.Fails{"svc_not_found": "There is no such form."}}, s.createService)
	op.Add(set, op.Op{ID: "get-service", Route: "GET /services/{id}", Perm: auth.ViewContacts, App: s.Service, Doc: "Get one bookable service, archived or not.",
		Use: "Answers with all its settings, also the buffers that clients do not see."}, getService)
	op.Add(set, op.Op{ID: "update-service", Versioned: true, Route: "PATCH /services/{id}", Perm: auth.ManageCRM, App: s.Service, Record: "service", Idempotent: true,
		Doc: "Change the given settings of a service; appointments keep those they were booked with.",
		Use: "What is left out stays. archived false takes an archived service back. Answers with the service."}, s.updateService)
	op.Add(set, op.Op{ID: "archive-service", Versioned: true, Route: "DELETE /services/{id}", Perm: auth.ManageCRM, App: s.Service, Record: "service",
		Doc: "Archive a service: it can no longer be booked, its appointments stay.",
		Use: "update-service with archived false takes it back."}, archiveService)
}

// settingsOps declares the operations on the settings of online booking.
func (s *service) settingsOps(set *op.Set) {
	op.Add(set, op.Op{ID: "get-booking-settings", Route: "GET /settings/booking", Perm: auth.ViewContacts, App: s.Service, Doc: "Get the settings of online booking.",
		Use: "Use it to see notice, horizon, reminders and whether clients may change appointments themselves."}, getSettings)
	op.Add(set, op.Op{ID: "update-booking-settings", Versioned: true, Route: "PATCH /settings/booking", Perm: auth.ManageCRM, App: s.Service, Record: "settings", Idempotent: true,
		Doc:   "Change the given settings of online booking.",
		Use:   "What is left out stays. It counts for the next booking, not for those made. Answers with all settings.",
		Fails: op.Fails{"svc_not_found": "There is no such form."}}, s.updateSettings)
}
