package history

import (
	_ "embed"
	"net/http"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/timeline"
)

// Room shows timelines, and writes notes and mails.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

//go:embed examples.json
var examples []byte

// OfContacts declares the timeline and the notes of contacts.
func (r *Room) OfContacts(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "get-contact-timeline", Route: "GET /contacts/{id}/activities", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List what happened to a contact: pinned notes first, then the newest.",
		Use: "Use it to see notes, changes with old and new values, appointments and who did what. Answers with one page and next_cursor."}, r.contactTimeline)
	op.Add(set, op.Op{ID: "add-note", Undo: op.Undo{By: "delete-note"}, Route: "POST /contacts/{id}/notes", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Doc:   "Add a note in plain text to a contact's timeline.",
		Use:   "Use it to record what was said or agreed. The team reads it, the contact never does. Answers with the timeline entry.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed}}, r.addContactNote)
	op.Add(set, op.Op{ID: "update-note", Undo: op.Undo{By: "update-note"}, Versioned: true, Route: "PATCH /contacts/{id}/notes/{note}", Perm: auth.EditContacts, Record: "contact", Idempotent: true,
		Doc:   "Change the text of a note in a contact's timeline, or pin it before all other entries. Its author may, and who manages the CRM.",
		Use:   "Use it with the id of an entry of type note. Answers with the entry; edited_at says when its text last changed.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed, "svc_forbidden author": timeline.FailAuthor}}, r.updateContactNote)
	op.Add(set, op.Op{ID: "delete-note", Undo: op.Undo{Never: op.ForGood}, Versioned: true, Route: "DELETE /contacts/{id}/notes/{note}", Perm: auth.EditContacts, Record: "contact",
		Doc:   "Delete a note of a contact's timeline for good. Its author may, and who manages the CRM.",
		Use:   "Use it for a note that was a mistake; nothing brings it back.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed, "svc_forbidden author": timeline.FailAuthor}}, r.deleteContactNote)
	op.Add(set, op.Op{ID: "write-mail", Undo: op.Undo{Never: op.WentOut}, Route: "POST /contacts/{id}/mails", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Hidden: true, Outside: true, Destructive: true, Limits: []db.Limit{{N: 20, Per: time.Hour}}, PerPerson: true,
		Doc:   "Write a contact a mail in plain text. It stands in the timeline; answers go to the address of who writes it.",
		Use:   "The person gets it at once, and nothing takes it back: show subject and body, and ask, before you use it. It is no means of marketing. Answers with the mail, which is on its way.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed, "svc_conflict no_address": failNoAddress, "svc_not_found": "The contact does not exist, or the appointment is not theirs."}}, r.writeMail)
}

// OfOrganizations declares the timeline and the notes of organizations.
func (r *Room) OfOrganizations(set *op.Set) {
	op.Add(set, op.Op{ID: "get-organization-timeline", Route: "GET /organizations/{id}/activities", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List what happened to an organization and its people, newest first.",
		Use: "Use it to see notes and changes of the company and of the people linked with it. Answers with one page and next_cursor."}, r.organizationTimeline)
	op.Add(set, op.Op{ID: "add-organization-note", Undo: op.Undo{By: "delete-organization-note"}, Route: "POST /organizations/{id}/notes", Perm: auth.EditContacts, Record: "organization", Status: http.StatusCreated,
		Doc:   "Add a note in plain text to an organization's timeline.",
		Use:   "Use it to record what was said or agreed. Answers with the timeline entry.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed}}, r.addOrganizationNote)
	op.Add(set, op.Op{ID: "update-organization-note", Undo: op.Undo{By: "update-organization-note"}, Versioned: true, Route: "PATCH /organizations/{id}/notes/{note}", Perm: auth.EditContacts, Record: "organization", Idempotent: true,
		Doc:   "Change the text of a note in an organization's timeline, or pin it before all other entries. Its author may, and who manages the CRM.",
		Use:   "Use it with the id of an entry of type note. Answers with the entry; edited_at says when its text last changed.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed, "svc_forbidden author": timeline.FailAuthor}}, r.updateOrganizationNote)
	op.Add(set, op.Op{ID: "delete-organization-note", Undo: op.Undo{Never: op.ForGood}, Versioned: true, Route: "DELETE /organizations/{id}/notes/{note}", Perm: auth.EditContacts, Record: "organization",
		Doc:   "Delete a note of an organization's timeline for good. Its author may, and who manages the CRM.",
		Use:   "Use it for a note that was a mistake; nothing brings it back.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed, "svc_forbidden author": timeline.FailAuthor}}, r.deleteOrganizationNote)
}
