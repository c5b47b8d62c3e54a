package joining

import (
	_ "embed"

	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/people"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Merges declares how two contacts become one.
func (r *Room) Merges(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "merge-contacts", Route: "POST /contacts/{id}/merge", Perm: auth.DeleteContacts, Record: "contact", Destructive: true,
		Doc: "Merge another contact into this one; the other is deleted for good.",
		Use: "Use it when two contacts are one person: id stays, other_id goes and cannot be brought back. Values of id win; those of other_id fill its gaps, and what differs is kept in the timeline. Show both to the person you work for first.",
		Fails: op.Fails{
			"svc_duplicate":      people.FailTaken,
			"svc_conflict email": people.FailInUse,
			"svc_invalid_status": "One of the two is in the trash. Restore it first."}}, r.mergeContacts)
}
