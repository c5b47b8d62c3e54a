package contacts

import (
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// privacyOps declares what becomes of all that is stored about an address.
func (s *service) privacyOps(set *op.Set) {
	op.Add(set, op.Op{ID: "erase-personal-data", Route: "POST /privacy/erase", Perm: auth.ManageCRM, Record: "privacy", Destructive: true,
		Doc: "Erase the person with an email address and everything about them, for good.",
		Use: "Use it only when a person has asked to be forgotten, and the one you work for confirms the address. Contact, timeline, appointments, submissions and mails go in all services; nothing brings them back. Answers with how many were erased."}, s.erasePersonalData)
	op.Add(set, op.Op{ID: "export-personal-data", Route: "POST /privacy/personal-data", Perm: auth.ManageCRM, Record: "privacy", Reads: true, Audited: true,
		Doc: "Get everything that is kept about the person with an email address.",
		Use: "Use it when a person asks for their data. Answers with contacts, timeline, consents, appointments and submissions, at most 4 MiB; it is itself in the audit log."}, s.exportPersonalData)
}
