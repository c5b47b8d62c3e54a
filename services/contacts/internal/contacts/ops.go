package contacts

import (
	"net/http"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// ops are the operations, in the order of the interface. Of those that share an ability the first is the
// one that assistants run.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	op.Add(set, op.Op{ID: "find-contacts", Route: "GET /contacts", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List contacts, newest first, by search text, status, tag, owner, organization, source, appointments and dates."}, s.findContacts)
	op.Add(set, op.Op{ID: "create-contact", Route: "POST /contacts", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Doc: "Create a contact with at least a name, an email address or a phone number."}, s.createContact)
	op.Add(set, op.Op{ID: "find-duplicates", Route: "POST /contacts/duplicates", Perm: auth.ViewContacts, Record: "contact", Reads: true,
		Doc: "Find the contact with an email address; one that you may not see has no id."}, s.findDuplicates)
	op.Add(set, op.Op{ID: "list-contact-sources", Route: "GET /contacts/sources", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List the sources that contacts came from, in alphabetical order."}, s.listSources)
	op.Add(set, op.Op{ID: "get-contact", Route: "GET /contacts/{id}", Perm: auth.ViewContacts, Record: "contact",
		Doc: "Get a contact, also from the trash."}, s.getContact)
	op.Add(set, op.Op{ID: "update-contact", Route: "PATCH /contacts/{id}", Perm: auth.EditContacts, Record: "contact",
		Doc: "Change a contact: fill in empty values and add tags, or overwrite."}, s.updateContact)
	op.Add(set, op.Op{ID: "delete-contact", Route: "DELETE /contacts/{id}", Perm: auth.DeleteContacts, Record: "contact",
		Doc: "Move a contact to the trash."}, s.deleteContact)
	op.Add(set, op.Op{ID: "get-contact-timeline", Route: "GET /contacts/{id}/activities", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List what happened to a contact, newest first."}, s.contactTimeline)
	op.Add(set, op.Op{ID: "get-contact-consents", Route: "GET /contacts/{id}/consents", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List what a contact consented to, oldest first."}, s.listConsents)
	op.Add(set, op.Op{ID: "request-marketing-consent", Route: "POST /contacts/{id}/marketing/request", Perm: auth.EditContacts, Record: "contact",
		Doc: "Mail a contact the question whether they want marketing mails; only their confirmation subscribes them."}, s.requestMarketing)
	op.Add(set, op.Op{ID: "unsubscribe-contact", Route: "POST /contacts/{id}/marketing/unsubscribe", Perm: auth.EditContacts, Record: "contact",
		Doc: "Unsubscribe a contact from all marketing at once."}, s.unsubscribeContact)
	op.Add(set, op.Op{ID: "merge-contacts", Route: "POST /contacts/{id}/merge", Perm: auth.DeleteContacts, Record: "contact", Destructive: true,
		Doc: "Merge another contact into this one; the other is deleted for good."}, s.mergeContacts)
	op.Add(set, op.Op{ID: "add-note", Route: "POST /contacts/{id}/notes", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Doc: "Add a note in plain text to a contact's timeline."}, s.addNote)
	op.Add(set, op.Op{ID: "restore-contact", Route: "POST /contacts/{id}/restore", Perm: auth.DeleteContacts, Record: "contact",
		Doc: "Take a contact out of the trash with its values, tags, links and timeline."}, s.restoreContact)

	op.Add(set, op.Op{ID: "list-contact-organizations", Ability: "get-contact", Route: "GET /contacts/{id}/organizations", Perm: auth.ViewContacts,
		Record: "contact", Doc: "List the organizations of a contact with the person's role."}, s.contactOrganizations)

	op.Add(set, op.Op{ID: "find-organizations", Route: "GET /organizations", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List organizations, newest first, by search text, owner and date of change."}, s.findOrganizations)
	op.Add(set, op.Op{ID: "create-organization", Route: "POST /organizations", Perm: auth.EditContacts, Record: "organization", Status: http.StatusCreated,
		Doc: "Create an organization. Look for similar ones first."}, s.createOrganization)
	op.Add(set, op.Op{ID: "find-organization-duplicates", Route: "POST /organizations/duplicates", Perm: auth.ViewContacts, Record: "organization", Reads: true,
		Doc: "Find organizations with the same name (whatever its legal form), VAT number or email address."}, s.findSimilar)
	op.Add(set, op.Op{ID: "list-organization-duplicates", Route: "GET /organizations/possible-duplicates", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List pairs of organizations that may be one."}, s.possibleDuplicates)
	op.Add(set, op.Op{ID: "get-organization", Route: "GET /organizations/{id}", Perm: auth.ViewContacts, Record: "organization",
		Doc: "Get an organization, also from the trash."}, s.getOrganization)
	op.Add(set, op.Op{ID: "update-organization", Route: "PATCH /organizations/{id}", Perm: auth.EditContacts, Record: "organization",
		Doc: "Change an organization: fill in empty values, or overwrite."}, s.updateOrganization)
	op.Add(set, op.Op{ID: "delete-organization", Route: "DELETE /organizations/{id}", Perm: auth.DeleteContacts, Record: "organization",
		Doc: "Move an organization to the trash; its people stay."}, s.deleteOrganization)
	op.Add(set, op.Op{ID: "get-organization-timeline", Route: "GET /organizations/{id}/activities", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List what happened to an organization and its people, newest first."}, s.organizationTimeline)
	op.Add(set, op.Op{ID: "list-organization-contacts", Ability: "get-organization", Route: "GET /organizations/{id}/contacts", Perm: auth.ViewContacts,
		Record: "organization", Doc: "List the people of an organization with their role."}, s.organizationContacts)
	op.Add(set, op.Op{ID: "link-contact-organization", Route: "PUT /organizations/{id}/contacts/{contact_id}", Perm: auth.EditContacts, Record: "organization",
		Doc: "Link a person with an organization, or change the link."}, s.linkContact)
	op.Add(set, op.Op{ID: "unlink-contact-organization", Route: "DELETE /organizations/{id}/contacts/{contact_id}", Perm: auth.EditContacts, Record: "organization",
		Doc: "End the link between a person and an organization; both stay."}, s.unlinkContact)
	op.Add(set, op.Op{ID: "merge-organizations", Route: "POST /organizations/{id}/merge", Perm: auth.DeleteContacts, Record: "organization", Destructive: true,
		Doc: "Merge another organization into this one; the other is deleted for good."}, s.mergeOrganizations)
	op.Add(set, op.Op{ID: "dismiss-organization-duplicate", Route: "POST /organizations/{id}/not-duplicate", Perm: auth.EditContacts, Record: "organization",
		Doc: "Remember that two organizations are not the same."}, s.dismissDuplicate)
	op.Add(set, op.Op{ID: "restore-organization", Route: "POST /organizations/{id}/restore", Perm: auth.DeleteContacts, Record: "organization",
		Doc: "Take an organization out of the trash."}, s.restoreOrganization)

	op.Add(set, op.Op{ID: "list-fields", Route: "GET /fields", Perm: auth.ViewContacts, Record: "field",
		Doc: "List the custom fields of contacts, organizations or submissions."}, s.listFields)
	op.Add(set, op.Op{ID: "create-field", Route: "POST /fields", Perm: auth.ManageCRM, Record: "field", Status: http.StatusCreated,
		Doc: "Create a custom field. Its key is derived from the label and never changes."}, s.createField)
	op.Add(set, op.Op{ID: "update-field", Route: "PATCH /fields/{id}", Perm: auth.ManageCRM, Record: "field",
		Doc: "Change a custom field's label, options, group or place, or archive it."}, s.updateField)
	op.Add(set, op.Op{ID: "archive-field", Ability: "update-field", Route: "DELETE /fields/{id}", Perm: auth.ManageCRM, Record: "field",
		Doc: "Archive a custom field; its values are kept."}, s.archiveField)
	op.Add(set, op.Op{ID: "list-field-groups", Ability: "list-fields", Route: "GET /field-groups", Perm: auth.ViewContacts, Record: "field_group",
		Doc: "List the groups that custom fields stand under."}, s.listGroups)
	op.Add(set, op.Op{ID: "create-field-group", Route: "POST /field-groups", Perm: auth.ManageCRM, Record: "field_group", Status: http.StatusCreated,
		Doc: "Create a group of custom fields."}, s.createGroup)
	op.Add(set, op.Op{ID: "update-field-group", Route: "PATCH /field-groups/{id}", Perm: auth.ManageCRM, Record: "field_group",
		Doc: "Change the label or the place of a group of custom fields."}, s.updateGroup)
	op.Add(set, op.Op{ID: "delete-field-group", Route: "DELETE /field-groups/{id}", Perm: auth.ManageCRM, Record: "field_group",
		Doc: "Delete a group; its fields stay, without a group."}, s.deleteGroup)

	op.AddDownload(set, op.Op{ID: "export-contacts", Route: "GET /exports/contacts.csv", Perm: auth.ExportContacts, Record: "contact", Audited: true,
		Doc: "Export contacts as CSV, with the filters of find-contacts."}, s.exportContacts)
	op.AddDownload(set, op.Op{ID: "export-organizations", Route: "GET /exports/organizations.csv", Perm: auth.ExportContacts, Record: "organization",
		Audited: true, Doc: "Export organizations as CSV."}, s.exportOrganizations)

	op.Add(set, op.Op{ID: "create-import", Route: "POST /imports", Perm: auth.ImportContacts, Record: "import", Status: http.StatusCreated, MaxBody: 32 << 20,
		Doc: "Upload a CSV file of contacts. Nothing is imported yet: the answer shows columns, a guessed mapping and the first rows."}, s.createImport)
	op.Add(set, op.Op{ID: "get-import", Route: "GET /imports/{id}", Perm: auth.ImportContacts, Record: "import",
		Doc: "Get an import and how far it came."}, s.getImport)
	op.Add(set, op.Op{ID: "start-import", Route: "POST /imports/{id}/start", Perm: auth.ImportContacts, Record: "import",
		Doc: "Start an import, with a corrected mapping and options if needed. It runs in the background."}, s.startImport)
	op.Add(set, op.Op{ID: "update-import", Ability: "start-import", Route: "PATCH /imports/{id}", Perm: auth.ImportContacts, Record: "import",
		Doc: "Save the mapping and the options of an import that has not started."}, s.updateImport)
	op.AddDownload(set, op.Op{ID: "download-import-errors", Ability: "get-import", Route: "GET /imports/{id}/errors.csv", Perm: auth.ImportContacts,
		Record: "import", Doc: "Download the rows that were not imported, with the reason."}, s.importErrors)

	tokens := []db.Limit{{N: 10, Per: time.Minute}}
	op.Add(set, op.Op{ID: "confirm-marketing", Route: "POST /marketing/confirm", Perm: op.Public, Record: "contact", Channel: db.ChannelEmail,
		Limits: tokens, LimitKey: "tokens", Doc: "Subscribe with the token of the confirmation mail."}, s.confirmMarketing)
	op.Add(set, op.Op{ID: "leave-marketing", Route: "POST /marketing/unsubscribe", Perm: op.Public, Record: "contact", Channel: db.ChannelEmail,
		Limits: tokens, LimitKey: "tokens", Doc: "Unsubscribe with the token of a marketing mail."}, s.leaveMarketing)

	op.Add(set, op.Op{ID: "get-overview", Route: "GET /overview", Perm: auth.ViewContacts, Record: "overview",
		Doc: "Sum up today's appointments, requests, new contacts and submissions, and what happened last."}, s.getOverview)
	op.Add(set, op.Op{ID: "erase-personal-data", Route: "POST /privacy/erase", Perm: auth.ManageCRM, Record: "privacy", Destructive: true,
		Doc: "Erase the person with an email address and everything about them, for good."}, s.erasePersonalData)
	op.Add(set, op.Op{ID: "export-personal-data", Route: "POST /privacy/personal-data", Perm: auth.ManageCRM, Record: "privacy", Reads: true, Audited: true,
		Doc: "Get everything that is kept about the person with an email address."}, s.exportPersonalData)

	op.Add(set, op.Op{ID: "list-tags", Route: "GET /tags", Perm: auth.ViewContacts, Record: "tag",
		Doc: "List all tags with their slugs."}, s.listTags)
	op.Add(set, op.Op{ID: "create-tag", Route: "POST /tags", Perm: auth.EditContacts, Record: "tag", Status: http.StatusCreated, Also: http.StatusOK,
		Doc: "Create a tag, or get the one with the same slug."}, s.createTag)
	return set
}
