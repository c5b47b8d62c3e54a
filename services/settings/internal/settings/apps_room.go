package settings

import (
	"context"
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"

	protobuf "google.golang.org/protobuf/proto"
)

func (s *service) newApps() {
	s.manifests = bus.NewTable(s.Bus, proto.ManifestTopic, readManifest)
	s.presence = bus.NewTable(s.Bus, proto.PresenceTopic, func(_ string, value []byte) (*proto.Presence, int64, error) {
		var p proto.Presence
		return &p, 0, protobuf.Unmarshal(value, &p)
	})
	s.fields = bus.NewRecordTable[customField](s.Bus, proto.FieldTopic)
}

func (s *service) appsParts() app.Parts {
	return app.Parts{
		Published: []app.Published{documentRecord(proto.AppsTopic, docApps, docApps, publishApps)},
		Tables:    []app.Table{s.manifests, s.presence, s.fields},
		Run:       []func(context.Context){s.keepApps, s.keepDescription},
	}
}

// firstApps is the document of a new site.
func firstApps() map[string]any {
	return map[string]any{docApps: app.AppsState{Apps: []app.AppState{
		{ID: contactsApp, Name: "Contacts", Enabled: true, AlwaysOn: true},
		{ID: formsApp, Name: "Forms", Enabled: true},
		{ID: bookingApp, Name: "Booking", Enabled: true},
	}}}
}

// appsOps declares the operations on apps, and the description of the interface.
func (s *service) appsOps(set *op.Set) {
	op.Add(set, op.Op{ID: "list-apps", Route: "GET /apps", Perm: auth.ViewContacts, Doc: "List apps and whether each is on.",
		Use: "Use it when an ability you expect is missing: those of an app that is off do not exist."}, listApps)
	op.AddOutside(set, op.Op{ID: "update-app", Route: "PATCH /apps/{app}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "app",
		Doc:   "Switch an app on or off for the whole site.",
		Use:   "Off, its pages, forms or bookings are gone for visitors at once; data stays and returns with it. Answers with the app.",
		Fails: op.Fails{"svc_conflict always_on": "The app cannot be switched off."}}, s.switchApp)
	op.AddOutside(set, op.Op{ID: "get-openapi", Route: "GET /openapi.json", Perm: op.Public, Ability: "-",
		Doc: "Get the OpenAPI 3.1 description of this installation, with its custom fields."}, s.describe)
}
