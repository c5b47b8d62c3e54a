package contacts

import (
	_ "embed"

	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// ops are the operations, in the order of the interface. Of those that share an ability the first is the
// one that assistants run.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)
	set.Under("Contacts", "People: who they are, what happened with them, and what they agreed to.")
	s.searchContacts(set)
	s.peopleOps(set)
	s.consentOps(set)
	s.joiningOps(set)
	s.ofContactOps(set)
	set.Under("Organizations", "Companies and associations, and the people linked with them.")
	s.organizationOps(set)
	set.Under("Custom fields", "The site's own fields of contacts, organizations and submissions, and the groups that they stand under.")
	s.fieldOps(set)
	set.Under("Exports and imports", "CSV files out and in. An import is uploaded, looked at, started, and runs in the background.")
	s.exportOps(set)
	s.organizationExportOps(set)
	s.importOps(set)
	set.Under("Marketing", "Links in mails, by which people confirm marketing mails or end them.")
	s.linkOps(set)
	set.Under("Overview", "What waits today, and numbers by week.")
	s.overviewOps(set)
	set.Under("Privacy", "All that is stored about an address: as one answer, or gone for good.")
	s.privacyOps(set)
	set.Under("Tags", "Words by which contacts are grouped.")
	s.tagOps(set)
	return set
}
