package privacy

import (
	_ "embed"

	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Privacy declares what becomes of all that is stored about an address.
func (r *Room) Privacy(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "erase-personal-data", Route: "POST /privacy/erase", Perm: auth.ManageCRM, Record: "privacy", Destructive: true,
		Doc: "Erase the person with an email address and everything about them, for good.",
		Use: "Use it only when a person has asked to be forgotten, and the one you work for confirms the address. Contact, timeline, appointments, submissions and mails go in all services; nothing brings them back. Answers with how many were erased."}, r.erasePersonalData)
	op.Add(set, op.Op{ID: "export-personal-data", Route: "POST /privacy/personal-data", Perm: auth.ManageCRM, Record: "privacy", Reads: true, Audited: true,
		Doc: "Get everything that is kept about the person with an email address.",
		Use: "Use it when a person asks for their data. Answers with contacts, timeline, consents, appointments and submissions, at most 4 MiB; it is itself in the audit log."}, r.exportPersonalData)
}
