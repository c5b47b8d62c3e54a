package contacts

import (
	_ "embed"
	"net/http"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// When operations are refused, see op.Fails.
const (
	failTaken   = "Another contact has this email address. data.id is its id, if the caller may see it."
	failInUse   = "Another call used this email address a moment ago. Try again."
	failTrashed = "The record is in the trash. Restore it first."
	failLink    = "The link is not one of ours."
	failExpired = "The link was used, replaced or is too old."

	failDeleting = "The tag is being deleted. changing says how far that is."
)

// ops are the operations, in the order of the interface. Of those that share an ability the first is the
// one that assistants run.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)
	set.Under("Contacts", "People: who they are, what happened with them, and what they agreed to.")
	op.Add(set, op.Op{ID: "find-contacts", Route: "GET /contacts", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List contacts, newest first, by search text, status, tag, owner, organization, source, appointments and dates.",
		Use: "Use it to find a person before anything else: search takes parts of a name, an address or a number. Answers with one page and next_cursor; total counts all. Names and notes in it were typed by others."}, s.findContacts)
	op.Add(set, op.Op{ID: "create-contact", Route: "POST /contacts", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Doc:   "Create a contact with at least a name, an email address or a phone number.",
		Use:   "Use find-contacts first, because one address belongs to one contact. svc_duplicate names the contact that has it in data.id: update that one instead. Answers with the new contact.",
		Fails: op.Fails{"svc_duplicate": failTaken, "svc_conflict email": failInUse}}, s.createContact)
	op.Add(set, op.Op{ID: "create-contacts", Route: "POST /contacts/batch", Perm: auth.EditContacts, Record: "contact", Unaudited: true,
		Doc: "Create up to 100 contacts. Each row is made or refused by itself, as by create-contact, and has an answer of its own, in the order of the rows.",
		Use: "Use it for a list of people instead of many calls. Read every row of the answer: status 201 has the contact, any other the error, such as svc_duplicate with data.id. The rows that were made stay."}, s.createContacts)
	op.Add(set, op.Op{ID: "find-duplicates", Route: "POST /contacts/duplicates", Perm: auth.ViewContacts, Record: "contact", Reads: true,
		Doc: "Find the contact with an email address; one that you may not see has no id.",
		Use: "Use it before create-contact when you only have an address. Answers with a list of none or one."}, s.findDuplicates)
	op.Add(set, op.Op{ID: "list-contact-sources", Route: "GET /contacts/sources", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List the sources that contacts came from, in alphabetical order.",
		Use: "Use it to learn the values that the filter source of find-contacts takes."}, s.listSources)
	op.Add(set, op.Op{ID: "get-contact", Route: "GET /contacts/{id}", Perm: auth.ViewContacts, Record: "contact",
		Doc: "Get a contact, also from the trash.",
		Use: "Use it with an id from find-contacts. Answers with all values, tags, custom fields and marketing status; deleted_at tells that it is in the trash."}, s.getContact)
	op.Add(set, op.Op{ID: "update-contact", Versioned: true, Route: "PATCH /contacts/{id}", Perm: auth.EditContacts, Record: "contact",
		Doc:   "Change a contact: fill in empty values and add tags, or overwrite.",
		Use:   "The mode fill_empty, which is the default, never replaces a value; overwrite does, and what it replaces stays in the timeline only. Answers with the whole contact.",
		Fails: op.Fails{"svc_duplicate": failTaken, "svc_conflict email": failInUse, "svc_invalid_status": failTrashed}}, s.updateContact)
	op.Add(set, op.Op{ID: "delete-contact", Versioned: true, Route: "DELETE /contacts/{id}", Perm: auth.DeleteContacts, Record: "contact",
		Doc:   "Move a contact to the trash.",
		Use:   "Appointments and submissions stay. restore-contact brings it back for 30 days; after that it is erased.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, s.deleteContact)
	op.Add(set, op.Op{ID: "get-contact-timeline", Route: "GET /contacts/{id}/activities", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List what happened to a contact, newest first.",
		Use: "Use it to see notes, changes with old and new values, appointments and who did what. Answers with one page and next_cursor."}, s.contactTimeline)
	op.Add(set, op.Op{ID: "get-contact-consents", Route: "GET /contacts/{id}/consents", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List what a contact consented to, oldest first.",
		Use: "Use it to show which words a person agreed to, when, and whether the address was verified."}, s.listConsents)
	op.Add(set, op.Op{ID: "request-marketing-consent", Route: "POST /contacts/{id}/marketing/request", Perm: auth.EditContacts, Record: "contact",
		Outside: true, Doc: "Mail a contact the question whether they want marketing mails; only their confirmation subscribes them.",
		Use: "The person gets a mail, at most one a day. A contact that has unsubscribed needs a reason. Ask before you use it. Answers with the contact, whose marketing status becomes pending.",
		Fails: op.Fails{
			"svc_invalid_status": "The contact is subscribed already, or in the trash.",
			"svc_rate_limited":   "The contact was asked within the last day."}}, s.requestMarketing)
	op.Add(set, op.Op{ID: "unsubscribe-contact", Route: "POST /contacts/{id}/marketing/unsubscribe", Perm: auth.EditContacts, Record: "contact",
		Doc:   "Unsubscribe a contact from all marketing at once.",
		Use:   "Use it when a person asks to get no more mails. Only the person can undo it, by confirming a mail. Answers with the contact.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, s.unsubscribeContact)
	op.Add(set, op.Op{ID: "merge-contacts", Route: "POST /contacts/{id}/merge", Perm: auth.DeleteContacts, Record: "contact", Destructive: true,
		Doc: "Merge another contact into this one; the other is deleted for good.",
		Use: "Use it when two contacts are one person: id stays, other_id goes and cannot be brought back. Values of id win; those of other_id fill its gaps, and what differs is kept in the timeline. Show both to the person you work for first.",
		Fails: op.Fails{
			"svc_duplicate":      failTaken,
			"svc_conflict email": failInUse,
			"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, s.mergeContacts)
	op.Add(set, op.Op{ID: "add-note", Route: "POST /contacts/{id}/notes", Perm: auth.EditContacts, Record: "contact", Status: http.StatusCreated,
		Doc:   "Add a note in plain text to a contact's timeline.",
		Use:   "Use it to record what was said or agreed. The team reads it, the contact never does. Answers with the timeline entry; a note cannot be changed afterwards.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, s.addNote)
	op.Add(set, op.Op{ID: "restore-contact", Route: "POST /contacts/{id}/restore", Perm: auth.DeleteContacts, Record: "contact",
		Doc:   "Take a contact out of the trash with its values, tags, links and timeline.",
		Use:   "Use it to undo delete-contact. svc_duplicate means that another contact has the address by now. Answers with the contact.",
		Fails: op.Fails{"svc_duplicate": failTaken, "svc_conflict email": failInUse, "svc_invalid_status": "The contact is not in the trash."}}, s.restoreContact)

	op.Add(set, op.Op{ID: "list-contact-organizations", Ability: "get-contact", Route: "GET /contacts/{id}/organizations", Perm: auth.ViewContacts,
		Record: "contact", Doc: "List the organizations of a contact with the person's role."}, s.contactOrganizations)

	set.Under("Organizations", "Companies and associations, and the people linked with them.")
	op.Add(set, op.Op{ID: "find-organizations", Route: "GET /organizations", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List organizations, newest first, by search text, owner and date of change.",
		Use: "Use it to find a company by parts of its name, VAT number, address or city. Answers with one page and next_cursor."}, s.findOrganizations)
	op.Add(set, op.Op{ID: "create-organization", Route: "POST /organizations", Perm: auth.EditContacts, Record: "organization", Status: http.StatusCreated,
		Doc: "Create an organization. Look for similar ones first.",
		Use: "find-organization-duplicates shows whether it exists already. Answers with the new organization."}, s.createOrganization)
	op.Add(set, op.Op{ID: "find-organization-duplicates", Route: "POST /organizations/duplicates", Perm: auth.ViewContacts, Record: "organization", Reads: true,
		Doc: "Find organizations with the same name (whatever its legal form), VAT number or email address.",
		Use: "Use it before create-organization. Each match says in reasons what is the same."}, s.findSimilar)
	op.Add(set, op.Op{ID: "list-organization-duplicates", Route: "GET /organizations/possible-duplicates", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List pairs of organizations that may be one.",
		Use: "Use it to clean up: merge-organizations joins a pair, dismiss-organization-duplicate takes it from the list. Answers with at most 100 pairs, the oldest first."}, s.possibleDuplicates)
	op.Add(set, op.Op{ID: "get-organization", Route: "GET /organizations/{id}", Perm: auth.ViewContacts, Record: "organization",
		Doc: "Get an organization, also from the trash.",
		Use: "Use it with an id from find-organizations. deleted_at tells that it is in the trash."}, s.getOrganization)
	op.Add(set, op.Op{ID: "update-organization", Versioned: true, Route: "PATCH /organizations/{id}", Perm: auth.EditContacts, Record: "organization",
		Doc:   "Change an organization: fill in empty values, or overwrite.",
		Use:   "The mode fill_empty, which is the default, never replaces a value; overwrite does. Answers with the whole organization.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, s.updateOrganization)
	op.Add(set, op.Op{ID: "delete-organization", Versioned: true, Route: "DELETE /organizations/{id}", Perm: auth.DeleteContacts, Record: "organization",
		Doc:   "Move an organization to the trash; its people stay.",
		Use:   "restore-organization brings it back. Its contacts keep their own data.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, s.deleteOrganization)
	op.Add(set, op.Op{ID: "get-organization-timeline", Route: "GET /organizations/{id}/activities", Perm: auth.ViewContacts, Record: "organization",
		Doc: "List what happened to an organization and its people, newest first.",
		Use: "Use it to see notes and changes of the company and of the people linked with it. Answers with one page and next_cursor."}, s.organizationTimeline)
	op.Add(set, op.Op{ID: "list-organization-contacts", Ability: "get-organization", Route: "GET /organizations/{id}/contacts", Perm: auth.ViewContacts,
		Record: "organization", Doc: "List the people of an organization with their role."}, s.organizationContacts)
	op.Add(set, op.Op{ID: "link-contact-organization", Route: "PUT /organizations/{id}/contacts/{contact_id}", Perm: auth.EditContacts, Record: "organization",
		Doc:   "Link a person with an organization, or change the link.",
		Use:   "is_primary makes it the person's main organization, in place of the one before. Repeating it changes nothing more.",
		Fails: op.Fails{"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, s.linkContact)
	op.Add(set, op.Op{ID: "unlink-contact-organization", Route: "DELETE /organizations/{id}/contacts/{contact_id}", Perm: auth.EditContacts, Record: "organization",
		Doc:   "End the link between a person and an organization; both stay.",
		Use:   "Both timelines keep a record of the link. link-contact-organization brings it back.",
		Fails: op.Fails{"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, s.unlinkContact)
	op.Add(set, op.Op{ID: "merge-organizations", Route: "POST /organizations/{id}/merge", Perm: auth.DeleteContacts, Record: "organization", Destructive: true,
		Doc:   "Merge another organization into this one; the other is deleted for good.",
		Use:   "Use it when two organizations are one company: id stays, other_id goes and cannot be brought back. People, timeline and submissions move to id. Show both to the person you work for first.",
		Fails: op.Fails{"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, s.mergeOrganizations)
	op.Add(set, op.Op{ID: "dismiss-organization-duplicate", Route: "POST /organizations/{id}/not-duplicate", Perm: auth.EditContacts, Record: "organization",
		Doc: "Remember that two organizations are not the same.",
		Use: "Use it when a pair of list-organization-duplicates is two companies. The pair is not shown again."}, s.dismissDuplicate)
	op.Add(set, op.Op{ID: "restore-organization", Route: "POST /organizations/{id}/restore", Perm: auth.DeleteContacts, Record: "organization",
		Doc:   "Take an organization out of the trash.",
		Use:   "Use it to undo delete-organization. Answers with the organization.",
		Fails: op.Fails{"svc_invalid_status": "The organization is not in the trash."}}, s.restoreOrganization)

	set.Under("Custom fields", "The site's own fields of contacts, organizations and submissions, and the groups that they stand under.")
	op.Add(set, op.Op{ID: "list-fields", Route: "GET /fields", Perm: auth.ViewContacts, Record: "field",
		Doc: "List the custom fields of contacts, organizations or submissions.",
		Use: "Use it to learn the keys and types that fields of contacts, organizations and submissions take. entity is required."}, s.listFields)
	op.Add(set, op.Op{ID: "create-field", Route: "POST /fields", Perm: auth.ManageCRM, Record: "field", Status: http.StatusCreated,
		Doc:   "Create a custom field. Its key is derived from the label and never changes.",
		Use:   "dropdown and choices need options. Neither key nor type can be changed afterwards. Answers with the field.",
		Fails: op.Fails{"svc_not_found": "There is no such group."}}, s.createField)
	op.Add(set, op.Op{ID: "update-field", Route: "PATCH /fields/{id}", Perm: auth.ManageCRM, Record: "field",
		Doc: "Change a custom field's label, options, group or place, or archive it.",
		Use: "Archiving hides the field and keeps its values; archived false shows it again. Answers with the field."}, s.updateField)
	op.Add(set, op.Op{ID: "archive-field", Ability: "update-field", Route: "DELETE /fields/{id}", Perm: auth.ManageCRM, Record: "field",
		Doc: "Archive a custom field; its values are kept."}, s.archiveField)
	op.Add(set, op.Op{ID: "list-field-groups", Ability: "list-fields", Route: "GET /field-groups", Perm: auth.ViewContacts, Record: "field_group",
		Doc: "List the groups that custom fields stand under."}, s.listGroups)
	op.Add(set, op.Op{ID: "create-field-group", Route: "POST /field-groups", Perm: auth.ManageCRM, Record: "field_group", Status: http.StatusCreated,
		Doc: "Create a group of custom fields.",
		Use: "Use it to order many custom fields under a heading. Answers with the group."}, s.createGroup)
	op.Add(set, op.Op{ID: "update-field-group", Route: "PATCH /field-groups/{id}", Perm: auth.ManageCRM, Record: "field_group",
		Doc: "Change the label or the place of a group of custom fields.",
		Use: "Answers with the group. sort_order decides the place among the groups."}, s.updateGroup)
	op.Add(set, op.Op{ID: "delete-field-group", Route: "DELETE /field-groups/{id}", Perm: auth.ManageCRM, Record: "field_group",
		Doc: "Delete a group; its fields stay, without a group.",
		Use: "The group itself does not come back; make it again with create-field-group."}, s.deleteGroup)

	set.Under("Exports and imports", "CSV files out and in. An import is uploaded, looked at, started, and runs in the background.")
	op.AddDownload(set, op.Op{ID: "export-contacts", Route: "GET /exports/contacts.csv", Perm: auth.ExportContacts, Record: "contact", Audited: true,
		Doc: "Export contacts as CSV, with the filters of find-contacts.",
		Use: "Use it for a file that the person asked for; to read or count, find-contacts is better. Answers with the CSV as text, at most 4 MiB, and is itself in the audit log."}, s.exportContacts)
	op.AddDownload(set, op.Op{ID: "export-organizations", Route: "GET /exports/organizations.csv", Perm: auth.ExportContacts, Record: "organization",
		Audited: true, Doc: "Export organizations as CSV.",
		Use: "Use it for a file that the person asked for; to read, find-organizations is better. Answers with the CSV as text, at most 4 MiB, and is itself in the audit log."}, s.exportOrganizations)

	op.Add(set, op.Op{ID: "create-import", Route: "POST /imports", Perm: auth.ImportContacts, Record: "import", Status: http.StatusCreated, MaxBody: 32 << 20,
		Doc: "Upload a CSV file of contacts. Nothing is imported yet: the answer shows columns, a guessed mapping and the first rows.",
		Use: "Use it first, with the whole file as text in csv. Then check mapping and preview with the person, and run start-import. Answers with the import."}, s.createImport)
	op.Add(set, op.Op{ID: "find-imports", Route: "GET /imports", Perm: auth.ImportContacts, Record: "import",
		Doc: "List imports, newest first, without their rows.",
		Use: "Use it to find an import that runs, or what was imported before; get-import has the rows that failed. Answers with one page and next_cursor."}, s.findImports)
	op.Add(set, op.Op{ID: "get-import", Route: "GET /imports/{id}", Perm: auth.ImportContacts, Record: "import",
		Doc: "Get an import and how far it came.",
		Use: "Use it after start-import until status is completed or failed. totals counts created, updated, skipped and failed rows; errors names the first hundred."}, s.getImport)
	op.Add(set, op.Op{ID: "start-import", Route: "POST /imports/{id}/start", Perm: auth.ImportContacts, Record: "import",
		Doc:   "Start an import, with a corrected mapping and options if needed. It runs in the background.",
		Use:   "Use it after create-import. duplicates says what happens to contacts that exist: fill_empty, skip or overwrite. Rows that are done stay, and there is no undo: give tag a name by which you find them. Answers with the import.",
		Fails: op.Fails{"svc_invalid_status": "The import has started already."}}, s.startImport)
	op.Add(set, op.Op{ID: "update-import", Ability: "start-import", Route: "PATCH /imports/{id}", Perm: auth.ImportContacts, Record: "import",
		Doc:   "Save the mapping and the options of an import that has not started.",
		Fails: op.Fails{"svc_invalid_status": "The import has started already."}}, s.updateImport)
	op.AddDownload(set, op.Op{ID: "download-import-errors", Ability: "get-import", Route: "GET /imports/{id}/errors.csv", Perm: auth.ImportContacts,
		Record: "import", Doc: "Download the rows that were not imported, with the reason."}, s.importErrors)

	tokens := []db.Limit{{N: 10, Per: time.Minute}}
	set.Under("Marketing", "Links in mails, by which people confirm marketing mails or end them.")
	op.Add(set, op.Op{ID: "confirm-marketing", Route: "POST /marketing/confirm", Perm: op.Public, Record: "contact", Channel: db.ChannelEmail,
		Limits: tokens, LimitKey: "tokens", Doc: "Subscribe with the token of the confirmation mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired, "svc_not_found": "The contact is gone by now."}}, s.confirmMarketing)
	op.Add(set, op.Op{ID: "leave-marketing", Route: "POST /marketing/unsubscribe", Perm: op.Public, Record: "contact", Channel: db.ChannelEmail,
		Limits: tokens, LimitKey: "tokens", Doc: "Unsubscribe with the token of a marketing mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_not_found": "The contact is gone by now."}}, s.leaveMarketing)

	set.Under("Overview", "What waits today, and numbers by week.")
	op.Add(set, op.Op{ID: "get-overview", Route: "GET /overview", Perm: auth.ViewContacts, Record: "overview",
		Doc: "Sum up today's appointments, requests, new contacts and submissions, and what happened last.",
		Use: "Use it for a question such as what is on today. Answers with the five soonest requests and the ten newest timeline entries."}, s.getOverview)
	op.Add(set, op.Op{ID: "get-contact-statistics", Route: "GET /statistics/contacts", Perm: auth.ViewContacts, Record: "contact",
		Doc: "Get how many contacts were made in each of the last weeks, and where they came from.",
		Use: "Use it for trends. For the contacts themselves use find-contacts. Weeks begin on Monday; the present one is not over."}, s.statistics)
	set.Under("Privacy", "All that is stored about an address: as one answer, or gone for good.")
	op.Add(set, op.Op{ID: "erase-personal-data", Route: "POST /privacy/erase", Perm: auth.ManageCRM, Record: "privacy", Destructive: true,
		Doc: "Erase the person with an email address and everything about them, for good.",
		Use: "Use it only when a person has asked to be forgotten, and the one you work for confirms the address. Contact, timeline, appointments, submissions and mails go in all services; nothing brings them back. Answers with how many were erased."}, s.erasePersonalData)
	op.Add(set, op.Op{ID: "export-personal-data", Route: "POST /privacy/personal-data", Perm: auth.ManageCRM, Record: "privacy", Reads: true, Audited: true,
		Doc: "Get everything that is kept about the person with an email address.",
		Use: "Use it when a person asks for their data. Answers with contacts, timeline, consents, appointments and submissions, at most 4 MiB; it is itself in the audit log."}, s.exportPersonalData)

	set.Under("Tags", "Words by which contacts are grouped.")
	op.Add(set, op.Op{ID: "list-tags", Route: "GET /tags", Perm: auth.ViewContacts, Record: "tag",
		Doc: "List all tags with their slugs.",
		Use: "Use it before you tag, so that you take the name that is used already. changing is there while a rename, a merge or a deletion reaches the contacts."}, s.listTags)
	op.Add(set, op.Op{ID: "create-tag", Route: "POST /tags", Perm: auth.EditContacts, Record: "tag", Status: http.StatusCreated, Also: http.StatusOK,
		Doc:   "Create a tag, or get the one with the same name.",
		Use:   "Tagging a contact makes the tag too, so this is rarely needed. Answers with the tag.",
		Fails: op.Fails{"svc_conflict deleting": failDeleting}}, s.createTag)
	op.Add(set, op.Op{ID: "update-tag", Route: "PATCH /tags/{slug}", Perm: auth.ManageCRM, SeesAll: true, Idempotent: true, Record: "tag",
		Doc: "Change the name of a tag on every contact that has it. Its slug stays, and the former name still means the tag.",
		Use: "Use it to correct a tag for everybody. svc_duplicate names the tag that has the name in data.id: merge-tags makes the two one. Answers with the tag; the contacts follow in the background, see changing.",
		Fails: op.Fails{"svc_duplicate": "Another tag has this name. data.id is its slug.",
			"svc_conflict deleting": failDeleting}}, s.updateTag)
	op.Add(set, op.Op{ID: "merge-tags", Route: "POST /tags/{slug}/merge", Perm: auth.ManageCRM, SeesAll: true, Destructive: true, Record: "tag",
		Doc:   "Make another tag this one, on every contact that has it. The names of the other mean this one then.",
		Use:   "Use it when two tags mean the same: slug stays, other_slug goes, and which contacts had it is in their timelines only. Ask the person you work for first. Answers with the tag; the contacts follow in the background, see changing.",
		Fails: op.Fails{"svc_conflict deleting": failDeleting}}, s.mergeTags)
	op.Add(set, op.Op{ID: "delete-tag", Route: "DELETE /tags/{slug}", Perm: auth.ManageCRM, SeesAll: true, Record: "tag",
		Doc: "Delete a tag and take it off every contact. It is in list-tags until the last contact has lost it.",
		Use: "The contacts stay; which of them had the tag is in their timelines only. Count them with find-contacts and ask the person you work for first."}, s.deleteTag)
	return set
}
