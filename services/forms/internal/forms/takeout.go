package forms

import (
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// lists are what the service has of the business: forms with their trash, and all that was sent with them, spam too.
var lists = []op.List{
	{Name: "forms", Query: `select id, name, status, definition, created_at, updated_at, deleted_at from form order by id`},
	{Name: "submissions", Query: `select s.id, s.form_id, s.status, s.result, s.contact_id, s.appointment_id, s.values, s.answers, s.page, s.email, s.spam_reason, s.error, s.created_at from submission s order by s.created_at, s.id`},
}

func takeout(set *op.Set) {
	op.AddTakeout(set, op.Op{ID: "export-all-of-forms", Route: "GET /exports/forms.zip", Perm: auth.ManageCRM, PersonOnly: true, Audited: true, Ability: "-", Record: "takeout",
		Doc: "Export forms and submissions as a zip file, with what is in the trash and what was taken for spam."}, lists...)
}
