package settings

import (
	_ "embed"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// operations are those of all rooms, under the headings of the interface and in its order.
func (r rooms) operations(k *app.Kit) *op.Set {
	set := k.NewSet()
	set.Examples(examples)

	set.Under("Signing in", "Sessions of people, second factors and passkeys. Integrations do not need them: they send an application password with each call.")
	r.signin.Operations(set)
	r.sso.Operations(set)
	r.sessions.Operations(set)
	r.twofactor.Operations(set)
	r.passwords.Operations(set)
	r.team.Invitations(set)
	r.passkeys.Operations(set)

	set.Under("Me and my keys", "The caller, and the application passwords by which integrations call in their name.")
	r.roles.Me(set)
	r.notices.Mine(set)
	r.keys.Operations(set)

	set.Under("Connected assistants", "Assistants that were connected by OAuth.")
	r.assistants.Connections(set)

	set.Under("Approvals", "Calls of application passwords and assistants that wait until a person approves them.")
	r.approvals.Operations(set)

	set.Under("Audit log and mails", "Who did what through which channel, and what was mailed.")
	r.audit.Operations(set)
	r.mails.Operations(set)
	r.templates.Operations(set)
	r.undo.Operations(set)

	set.Under("Team", "People of the team: their hours, time off, roles and access.")
	r.team.Operations(set)
	r.sso.Accounts(set)

	set.Under("Site settings", "What holds for the whole site: the business, how forms look, the portal, privacy, roles.")
	r.site.Settings(set)
	r.roles.Settings(set)
	r.support.Telemetry(set)

	set.Under("Apps and setup", "Apps that can be switched on and off, the guide for a new site, support.")
	r.apps.Operations(set)
	r.assistants.Exposure(set)
	r.support.Support(set)

	set.Under("Site and changes", "Facts about the site that everybody of the team may read, and a stream of what changes.")
	r.site.Facts(set)
	op.AddEvents(set, op.Op{ID: "get-live", Route: "GET /live", Perm: auth.ViewContacts, Ability: "-",
		Doc: "Follow changes as server-sent events: which kind of record changed, and if the caller may see it its id and version, and by whom."}, r.live.Listen)

	set.Under("Views", "Lists as people and the team want to see them again: filters, order and columns under a name.")
	r.views.Operations(set)

	set.Under("Pictures", "Pictures of the site's own, such as its logo.")
	r.media.Operations(set)

	set.Under("Pages", "The site's own pages.")
	r.pages.Operations(set)

	set.Under("Exports and imports", "CSV files out and in. An import is uploaded, looked at, started, and runs in the background.")
	newTakeout(k).operations(set)

	set.Under("Abilities", "The operations as assistants call them: by name, with one input and a bare answer.")
	r.assistants.Abilities(set)
	return set
}
