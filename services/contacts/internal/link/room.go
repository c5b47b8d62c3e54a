package link

import (
	_ "embed"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// Room keeps the links of people with organizations.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"contact_organization": app.People}}}
}

//go:embed examples.json
var examples []byte

// OfContact declares the organizations of a contact.
func (r *Room) OfContact(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-contact-organizations", Ability: "get-contact", Route: "GET /contacts/{id}/organizations", Perm: auth.ViewContacts,
		Record: "contact", Doc: "List the organizations of a contact with the person's role."}, r.contactOrganizations)
}

// OfOrganizations declares the people of an organization.
func (r *Room) OfOrganizations(set *op.Set) {
	op.Add(set, op.Op{ID: "list-organization-contacts", Ability: "get-organization", Route: "GET /organizations/{id}/contacts", Perm: auth.ViewContacts,
		Record: "organization", Doc: "List the people of an organization with their role."}, r.organizationContacts)
	op.Add(set, op.Op{ID: "link-contact-organization", Undo: op.Undo{Steps: true}, Versioned: true, Route: "PUT /organizations/{id}/contacts/{contact_id}", Perm: auth.EditContacts, Record: "organization",
		Doc:   "Link a person with an organization, or change the link.",
		Use:   "is_primary makes it the person's main organization, in place of the one before. Repeating it changes nothing more.",
		Fails: op.Fails{"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, r.linkContact)
	op.Add(set, op.Op{ID: "unlink-contact-organization", Undo: op.Undo{Steps: true}, Versioned: true, Route: "DELETE /organizations/{id}/contacts/{contact_id}", Perm: auth.EditContacts, Record: "organization",
		Doc:   "End the link between a person and an organization; both stay.",
		Use:   "Both timelines keep a record of the link. link-contact-organization brings it back.",
		Fails: op.Fails{"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, r.unlinkContact)
}
