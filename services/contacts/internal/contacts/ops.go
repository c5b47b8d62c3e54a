package contacts

import (
	"net/http"

	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// ops are the operations, in the order of the interface. Of those that share an ability the first is the
// one that assistants run.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	op.Add(set, op.Op{ID: "find-contacts", Route: "GET /contacts", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List contacts, newest first, by search text, status, tag, owner, organization, source, appointments and dates."}, s.FindContacts)
	op.Add(set, op.Op{ID: "create-contact", Route: "POST /contacts", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Doc: "Create a contact with at least a name, an email address or a phone number."}, s.CreateContact)
	op.Add(set, op.Op{ID: "find-duplicates", Route: "POST /contacts/duplicates", Perm: auth.ViewContacts, Record: "contact", Reads: true,
		Doc: "Find the contact with an email address; one that you may not see has no id."}, s.FindDuplicates)
	op.Add(set, op.Op{ID: "list-contact-sources", Route: "GET /contacts/sources", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List the sources that contacts came from, in alphabetical order."}, s.ListSources)
	op.Add(set, op.Op{ID: "get-contact", Route: "GET /contacts/{id}", Perm: auth.ViewContacts, Record: "contact",
		Doc: "Get a contact, also from the trash."}, s.GetContact)
	op.Add(set, op.Op{ID: "update-contact", Route: "PATCH /contacts/{id}", Perm: auth.EditContacts, Record: "contact",
		Doc: "Change a contact: fill in empty values and add tags, or overwrite."}, s.UpdateContact)
	op.Add(set, op.Op{ID: "delete-contact", Route: "DELETE /contacts/{id}", Perm: auth.DeleteContacts, Record: "contact",
		Doc: "Move a contact to the trash."}, s.DeleteContact)
	op.Add(set, op.Op{ID: "get-contact-timeline", Route: "GET /contacts/{id}/activities", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List what happened to a contact, newest first."}, s.ContactTimeline)
	op.Add(set, op.Op{ID: "get-contact-consents", Route: "GET /contacts/{id}/consents", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List what a contact consented to, oldest first."}, s.ListConsents)
	op.Add(set, op.Op{ID: "add-note", Route: "POST /contacts/{id}/notes", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Doc: "Add a note in plain text to a contact's timeline."}, s.AddNote)
	op.Add(set, op.Op{ID: "restore-contact", Route: "POST /contacts/{id}/restore", Perm: auth.DeleteContacts, Record: "contact",
		Doc: "Take a contact out of the trash with its values, tags, links and timeline."}, s.RestoreContact)

	op.Add(set, op.Op{ID: "list-fields", Route: "GET /fields", Perm: auth.ViewContacts, Record: "field",
		Doc: "List the custom fields of contacts, organizations or submissions."}, s.ListFields)
	op.Add(set, op.Op{ID: "create-field", Route: "POST /fields", Perm: auth.ManageCRM, Record: "field", Status: http.StatusCreated,
		Doc: "Create a custom field. Its key is derived from the label and never changes."}, s.CreateField)
	op.Add(set, op.Op{ID: "update-field", Route: "PATCH /fields/{id}", Perm: auth.ManageCRM, Record: "field",
		Doc: "Change a custom field's label, options, group or place, or archive it."}, s.UpdateField)
	op.Add(set, op.Op{ID: "archive-field", Ability: "update-field", Route: "DELETE /fields/{id}", Perm: auth.ManageCRM, Record: "field",
		Doc: "Archive a custom field; its values are kept."}, s.ArchiveField)
	op.Add(set, op.Op{ID: "list-field-groups", Ability: "list-fields", Route: "GET /field-groups", Perm: auth.ViewContacts, Record: "field_group",
		Doc: "List the groups that custom fields stand under."}, s.ListGroups)
	op.Add(set, op.Op{ID: "create-field-group", Route: "POST /field-groups", Perm: auth.ManageCRM, Record: "field_group", Status: http.StatusCreated,
		Doc: "Create a group of custom fields."}, s.CreateGroup)
	op.Add(set, op.Op{ID: "update-field-group", Route: "PATCH /field-groups/{id}", Perm: auth.ManageCRM, Record: "field_group",
		Doc: "Change the label or the place of a group of custom fields."}, s.UpdateGroup)
	op.Add(set, op.Op{ID: "delete-field-group", Route: "DELETE /field-groups/{id}", Perm: auth.ManageCRM, Record: "field_group",
		Doc: "Delete a group; its fields stay, without a group."}, s.DeleteGroup)

	op.Add(set, op.Op{ID: "list-tags", Route: "GET /tags", Perm: auth.ViewContacts, Record: "tag",
		Doc: "List all tags with their slugs."}, s.ListTags)
	op.Add(set, op.Op{ID: "create-tag", Route: "POST /tags", Perm: auth.EditContacts, Record: "tag", Status: http.StatusCreated, Also: http.StatusOK,
		Doc: "Create a tag, or get the one with the same slug."}, s.CreateTag)
	return set
}
