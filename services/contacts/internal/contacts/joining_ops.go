package contacts

import (
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// joiningOps declares how two contacts become one.
func (s *service) joiningOps(set *op.Set) {
	op.Add(set, op.Op{ID: "merge-contacts", Route: "POST /contacts/{id}/merge", Perm: auth.DeleteContacts, Record: "contact", Destructive: true,
		Doc: "Merge another contact into this one; the other is deleted for good.",
		Use: "Use it when two contacts are one person: id stays, other_id goes and cannot be brought back. Values of id win; those of other_id fill its gaps, and what differs is kept in the timeline. Show both to the person you work for first.",
		Fails: op.Fails{
			"svc_duplicate":      failTaken,
			"svc_conflict email": failInUse,
			"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, s.mergeContacts)
}
