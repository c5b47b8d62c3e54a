package field

import (
	_ "embed"
	"net/http"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Room keeps custom fields, their groups, and the rules that bring values into their stored form.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.ContactsCommandTopic, Handle: bus.On(proto.KindEnsureFields, r.ensureFields)}},
		Personal:  app.Personal{Holds: map[string]app.Holds{"field": app.Nobody, "field_group": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.FieldTopic, Table: "field", Emit: publishFields})},
	}
}

//go:embed examples.json
var examples []byte

// Fields declares the operations on custom fields and their groups.
func (r *Room) Fields(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-fields", Route: "GET /fields", Perm: auth.ViewContacts, Record: "field",
		Doc: "List the custom fields of contacts, organizations or submissions.",
		Use: "Use it to learn the keys and types that fields of contacts, organizations and submissions take. entity is required."}, r.listFields)
	op.Add(set, op.Op{ID: "create-field", Undo: op.Undo{By: "archive-field"}, Route: "POST /fields", Perm: auth.ManageCRM, Record: "field", Status: http.StatusCreated,
		Doc:   "Create a custom field. Its key is derived from the label and never changes.",
		Use:   "dropdown and choices need options. Neither key nor type can be changed afterwards. Answers with the field.",
		Fails: op.Fails{"svc_not_found": "There is no such group."}}, r.createField)
	op.Add(set, op.Op{ID: "update-field", Undo: op.Undo{By: "update-field"}, Versioned: true, Route: "PATCH /fields/{id}", Perm: auth.ManageCRM, Record: "field",
		Doc: "Change a custom field's label, options, group or place, or archive it.",
		Use: "Archiving hides the field and keeps its values; archived false shows it again. Answers with the field."}, r.updateField)
	op.Add(set, op.Op{ID: "archive-field", Undo: op.Undo{By: "update-field", With: map[string]any{"archived": false}}, Ability: "update-field", Versioned: true, Route: "DELETE /fields/{id}", Perm: auth.ManageCRM, Record: "field",
		Doc: "Archive a custom field; its values are kept."}, r.archiveField)
	op.Add(set, op.Op{ID: "list-field-groups", Ability: "list-fields", Route: "GET /field-groups", Perm: auth.ViewContacts, Record: "field_group",
		Doc: "List the groups that custom fields stand under."}, r.listGroups)
	op.Add(set, op.Op{ID: "create-field-group", Undo: op.Undo{By: "delete-field-group"}, Route: "POST /field-groups", Perm: auth.ManageCRM, Record: "field_group", Status: http.StatusCreated,
		Doc: "Create a group of custom fields.",
		Use: "Use it to order many custom fields under a heading. Answers with the group."}, r.createGroup)
	op.Add(set, op.Op{ID: "update-field-group", Undo: op.Undo{By: "update-field-group"}, Versioned: true, Route: "PATCH /field-groups/{id}", Perm: auth.ManageCRM, Record: "field_group",
		Doc: "Change the label or the place of a group of custom fields.",
		Use: "Answers with the group. sort_order decides the place among the groups."}, r.updateGroup)
	op.Add(set, op.Op{ID: "delete-field-group", Undo: op.Undo{Never: op.ForGood}, Versioned: true, Route: "DELETE /field-groups/{id}", Perm: auth.ManageCRM, Record: "field_group",
		Doc: "Delete a group; its fields stay, without a group.",
		Use: "The group itself does not come back; make it again with create-field-group."}, r.deleteGroup)
}
