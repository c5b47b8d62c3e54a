package apps

import (
	"context"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

// Room keeps the apps.
type Room struct {
	*app.Kit
	// Copies of what all services publish, and of the fields of contacts.
	manifests *bus.Table[*Manifest]
	presence  *bus.Table[*proto.Presence]
	fields    *bus.Table[customField]

	description description
}

func New(k *app.Kit) *Room {
	return &Room{Kit: k, manifests: bus.NewTable(k.Bus, proto.ManifestTopic, readManifest),
		presence: bus.NewTable(k.Bus, proto.PresenceTopic, func(_ string, value []byte) (*proto.Presence, int64, error) {
			var p proto.Presence
			return &p, 0, protobuf.Unmarshal(value, &p)
		}),
		fields: bus.NewRecordTable[customField](k.Bus, proto.FieldTopic)}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Published: []app.Published{document.Record(proto.AppsTopic, document.Apps, document.Apps, publish)},
		Tables:    []app.Table{r.manifests, r.presence, r.fields},
		Run:       []func(context.Context){r.keep, r.keepDescription},
	}
}

// First is the document of a new site. Add-ons announce their apps.
func First() map[string]any {
	return map[string]any{document.Apps: app.AppsState{Apps: []app.AppState{
		{ID: "contacts", Name: "Contacts", Enabled: true, AlwaysOn: true},
		{ID: "forms", Name: "Forms", Enabled: true},
		{ID: Booking, Name: "Booking", Enabled: true},
	}}}
}

// Operations declares the operations on apps, and the description of the interface.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "list-apps", Route: "GET /apps", Perm: auth.ViewContacts, Doc: "List apps and whether each is on.",
		Use: "Use it when an ability you expect is missing: those of an app that is off do not exist."}, list)
	op.AddOutside(set, op.Op{ID: "update-app", Undo: op.Undo{Never: op.ByHand}, Route: "PATCH /apps/{app}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "app",
		Doc:   "Switch an app on or off for the whole site.",
		Use:   "Off, its pages, forms or bookings are gone for visitors at once; data stays and returns with it. Answers with the app.",
		Fails: op.Fails{"svc_conflict always_on": "The app cannot be switched off."}}, r.setEnabled)
	op.AddOutside(set, op.Op{ID: "get-openapi", Route: "GET /openapi.json", Perm: op.Public, Ability: "-",
		Doc: "Get the OpenAPI 3.1 description of this installation, with its custom fields."}, r.describe)
	op.AddOutside(set, op.Op{ID: "get-asyncapi", Route: "GET /asyncapi.json", Perm: op.Public, Ability: "-",
		Doc: "Get the AsyncAPI 3 description of the events of this installation: what webhooks send in each format, and the topics that it comes from."}, r.describeEvents)
}
