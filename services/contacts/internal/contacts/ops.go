package contacts

import "frontdesk/libs/op"

// operations declares all operations, in the order of the interface. Of those that share an ability the first is the one that assistants run.
func (r rooms) operations(set *op.Set) {
	set.Under("Contacts", "People: who they are, what happened with them, and what they agreed to.")
	r.search.Contacts(set)
	r.people.Contacts(set)
	r.history.OfContacts(set)
	r.marketing.OfContact(set)
	r.joining.Merges(set)
	r.link.OfContact(set)
	set.Under("Organizations", "Companies and associations, and the people linked with them.")
	r.organization.Organizations(set)
	r.link.OfOrganizations(set)
	r.history.OfOrganizations(set)
	set.Under("Tasks", "What the team has to do, by when, for whom and about whom.")
	r.task.Tasks(set)
	set.Under("Custom fields", "The site's own fields of contacts, organizations and submissions, and the groups that they stand under.")
	r.field.Fields(set)
	set.Under("Exports and imports", "CSV files out and in. An import is uploaded, looked at, started, and runs in the background.")
	r.search.Exports(set)
	r.organization.Exports(set)
	r.imports.Imports(set)
	takeout(set)
	set.Under("Marketing", "Links in mails, by which people confirm marketing mails or end them.")
	r.marketing.Links(set)
	set.Under("Overview", "What waits today, and numbers by week.")
	r.overview.Overview(set)
	set.Under("Privacy", "All that is stored about an address: as one answer, or gone for good.")
	r.privacy.Privacy(set)
	set.Under("Tags", "Words by which contacts are grouped.")
	r.tag.Tags(set)
	op.AddUndo(set)
}
