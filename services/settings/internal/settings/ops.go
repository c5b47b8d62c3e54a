package settings

import (
	_ "embed"

	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// ops are the operations, in the order of the interface.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)

	set.Under("Signing in", "Sessions of people, second factors and passkeys. Integrations do not need them: they send an application password with each call.")
	s.signinOps(set)
	s.sessionsOps(set)
	s.twofactorOps(set)
	s.passwordsOps(set)
	s.acceptOps(set)
	s.passkeysOps(set)

	set.Under("Me and my keys", "The caller, and the application passwords by which integrations call in their name.")
	s.meOps(set)
	s.keysOps(set)

	set.Under("Connected assistants", "Assistants that were connected by OAuth.")
	s.connectionsOps(set)

	set.Under("Audit log and mails", "Who did what through which channel, and what was mailed.")
	s.auditLog(set)
	s.mailOps(set)

	set.Under("Team", "People of the team: their hours, time off, roles and access.")
	s.teamOps(set)

	set.Under("Site settings", "What holds for the whole site: the business, how forms look, the portal, privacy, roles.")
	s.siteSettings(set)
	s.rolesOps(set)
	s.telemetryOps(set)

	set.Under("Apps and setup", "Apps that can be switched on and off, the guide for a new site, support.")
	s.appsOps(set)
	s.exposureOps(set)
	s.supportOps(set)

	set.Under("Site and changes", "Facts about the site that everybody of the team may read, and a stream of what changes.")
	s.siteFacts(set)
	op.AddEvents(set, op.Op{ID: "get-live", Route: "GET /live", Perm: auth.ViewContacts, Ability: "-",
		Doc: "Follow changes as server-sent events: which kind of record changed, and if the caller may see it its id and version, and by whom."}, s.live.Listen)

	set.Under("Pictures", "Pictures of the site's own, such as its logo.")
	s.mediaOps(set)

	set.Under("Pages", "The site's own pages.")
	s.pageOps(set)

	set.Under("Abilities", "The operations as assistants call them: by name, with one input and a bare answer.")
	s.abilitiesOps(set)
	return set
}
