package contacts

import (
	"frontdesk/libs/op"
)

// operations declares all operations, in the order of the interface. Of those that share an ability the first is the one that assistants run.
func (h house) operations(set *op.Set) {
	set.Under("Contacts", "People: who they are, what happened with them, and what they agreed to.")
	h.search.SearchContacts(set)
	h.people.PeopleOps(set)
	h.marketing.ConsentOps(set)
	h.joining.JoiningOps(set)
	h.organization.OfContactOps(set)
	set.Under("Organizations", "Companies and associations, and the people linked with them.")
	h.organization.OrganizationOps(set)
	set.Under("Custom fields", "The site's own fields of contacts, organizations and submissions, and the groups that they stand under.")
	h.field.FieldOps(set)
	set.Under("Exports and imports", "CSV files out and in. An import is uploaded, looked at, started, and runs in the background.")
	h.search.ExportOps(set)
	h.organization.OrganizationExportOps(set)
	h.imports.ImportOps(set)
	set.Under("Marketing", "Links in mails, by which people confirm marketing mails or end them.")
	h.marketing.LinkOps(set)
	set.Under("Overview", "What waits today, and numbers by week.")
	h.overview.OverviewOps(set)
	set.Under("Privacy", "All that is stored about an address: as one answer, or gone for good.")
	h.privacy.PrivacyOps(set)
	set.Under("Tags", "Words by which contacts are grouped.")
	h.tag.TagOps(set)
}
