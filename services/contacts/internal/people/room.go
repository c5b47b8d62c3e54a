package people

import (
	_ "embed"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/marketing"
)

// Room is what the team does with contacts.
type Room struct {
	*app.Kit
	field     *field.Room
	marketing *marketing.Room
}

// New makes the room.
func New(k *app.Kit, fields *field.Room, subscriptions *marketing.Room) *Room {
	return &Room{k, fields, subscriptions}
}

//go:embed examples.json
var examples []byte

// When an address is not to be had, see op.Fails.
const (
	FailTaken = "Another contact has this email address. data.id is its id, if the caller may see it."
	FailInUse = "Another call used this email address a moment ago. Try again."
)

// Contacts declares what the team does with one contact, or with some at once.
func (r *Room) Contacts(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "create-contact", Undo: op.Undo{By: "delete-contact"}, Route: "POST /contacts", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Doc:   "Create a contact with at least a name, an email address or a phone number.",
		Use:   "Use find-contacts first, because one address belongs to one contact. svc_duplicate names the contact that has it in data.id: update that one instead. Answers with the new contact.",
		Fails: op.Fails{"svc_duplicate": FailTaken, "svc_conflict email": FailInUse}}, r.createContact)
	op.Add(set, op.Op{ID: "create-contacts", Undo: op.Undo{By: "delete-contact"}, Route: "POST /contacts/batch", Perm: auth.EditContacts, Record: "contact", Unaudited: true,
		Doc: "Create up to 100 contacts. Each row is made or refused by itself, as by create-contact, and has an answer of its own, in the order of the rows.",
		Use: "Use it for a list of people instead of many calls. Read every row of the answer: status 201 has the contact, any other the error, such as svc_duplicate with data.id. The rows that were made stay."}, r.createContacts)
	op.Add(set, op.Op{ID: "bulk-contacts", Undo: op.Undo{Steps: true}, Route: "POST /contacts/bulk", Perm: auth.EditContacts, Record: "contact", Unaudited: true,
		Doc: "Change up to 1,000 contacts at once: tags, owner and status, or the trash. Each is changed or refused by itself. trash and restore need the right to delete, and stand alone.",
		Use: "Use it with ids from find-contacts, in steps of 1,000. changed and skipped are counts; failed says which were refused and why: svc_not_found, svc_invalid_status (in the trash) or svc_duplicate (another contact has the address)."}, r.changeMany)
	op.Add(set, op.Op{ID: "find-duplicates", Route: "POST /contacts/duplicates", Perm: auth.ViewContacts, Record: "contact", Reads: true,
		Doc: "Find the contact with an email address; one that you may not see has no id.",
		Use: "Use it before create-contact when you only have an address. Answers with a list of none or one."}, r.findDuplicates)
	op.Add(set, op.Op{ID: "get-contact", Route: "GET /contacts/{id}", Perm: auth.ViewContacts, Record: "contact",
		Doc: "Get a contact, also from the trash.",
		Use: "Use it with an id from find-contacts. Answers with all values, tags, custom fields and marketing status; deleted_at tells that it is in the trash."}, r.getContact)
	op.Add(set, op.Op{ID: "update-contact", Undo: op.Undo{By: "update-contact", With: map[string]any{"mode": "overwrite"}}, Versioned: true, Route: "PATCH /contacts/{id}", Perm: auth.EditContacts, Record: "contact",
		Doc:   "Change a contact: fill in empty values and add tags, or overwrite.",
		Use:   "The mode fill_empty, which is the default, never replaces a value; overwrite does, and what it replaces stays in the timeline only. Answers with the whole contact.",
		Fails: op.Fails{"svc_duplicate": FailTaken, "svc_conflict email": FailInUse, "svc_invalid_status": contact.FailTrashed}}, r.updateContact)
	op.Add(set, op.Op{ID: "delete-contact", Undo: op.Undo{By: "restore-contact"}, Versioned: true, Route: "DELETE /contacts/{id}", Perm: auth.DeleteContacts, Record: "contact",
		Doc:   "Move a contact to the trash.",
		Use:   "Appointments and submissions stay. restore-contact brings it back for 30 days; after that it is erased.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed}}, r.deleteContact)
	op.Add(set, op.Op{ID: "restore-contact", Undo: op.Undo{By: "delete-contact"}, Route: "POST /contacts/{id}/restore", Perm: auth.DeleteContacts, Record: "contact",
		Doc:   "Take a contact out of the trash with its values, tags, links and timeline.",
		Use:   "Use it to undo delete-contact. svc_duplicate means that another contact has the address by now. Answers with the contact.",
		Fails: op.Fails{"svc_duplicate": FailTaken, "svc_conflict email": FailInUse, "svc_invalid_status": "The contact is not in the trash."}}, r.restoreContact)
}
