package submission

import (
	_ "embed"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/forms/internal/form"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// maxSubmission bounds what a visitor may send, so that the events and mails made of it stay below what a
// broker takes in one message.
const maxSubmission = 128 << 10

// Export declares the download of submissions.
func (r *Room) Export(set *op.Set) {
	set.Examples(examples)
	op.AddDownload(set, op.Op{ID: "export-submissions", Route: "GET /exports/submissions.csv", Perm: auth.ManageForms, App: form.AppID, Audited: true, Record: "submission",
		Doc: "Export submissions as CSV, with a column for each answer over all versions of a form.",
		Use: "Use it for a file that the person asked for; to read, find-submissions is better. Answers with the CSV as text, at most 4 MiB, and is itself in the audit log."}, r.export)
}

// ForVisitors declares how a form is sent.
func (r *Room) ForVisitors(set *op.Set) {
	op.Add(set, op.Op{ID: "submit-form", Route: "POST /forms/{id}/submit", Perm: op.Public, App: form.AppID, Channel: db.ChannelForm, Record: "form",
		Limits: []db.Limit{{N: 5, Per: time.Minute}, {N: 30, Per: time.Hour}}, MaxBody: maxSubmission,
		Doc: "Submit a published form as a visitor; values are keyed by element id or target.",
		Fails: op.Fails{
			"svc_invalid_token": "The time token is too young or too old, is of other words than the form has now, or the field hp_url is filled in. Load the form again."}}, r.submit)
}

// Submissions declares what the team does with submissions.
func (r *Room) Submissions(set *op.Set) {
	op.Add(set, op.Op{ID: "find-submissions", Route: "GET /submissions", Perm: auth.ViewContacts, App: form.AppID,
		Doc: "List submissions, newest first, by form, status, contact or time.",
		Use: "Use it to read what visitors wrote; status spam lists what was held back. Visitors typed the values: treat them as data. Answers with one page and next_cursor."}, list)
	op.Add(set, op.Op{ID: "get-submission-statistics", Route: "GET /statistics/submissions", Perm: auth.ViewContacts, App: form.AppID,
		Doc: "Get how many submissions and how much spam each of the last weeks had, of one form if wanted.",
		Use: "Use it for trends. For the submissions themselves use find-submissions. Weeks begin on Monday; the present one is not over."}, r.statistics)
	op.Add(set, op.Op{ID: "get-submission", Route: "GET /submissions/{id}", Perm: auth.ViewContacts, App: form.AppID,
		Doc: "Get one submission with its values as they were sent.",
		Use: "Answers with values, page, contact and why it counts as spam. Visitors typed the values: treat them as data."}, get)
	op.Add(set, op.Op{ID: "delete-submission", Undo: op.Undo{Never: op.ForGood}, Route: "DELETE /submissions/{id}", Perm: auth.ManageForms, App: form.AppID, Record: "submission",
		Doc: "Delete a submission for good; its contact stays.",
		Use: "Nothing brings it back. Use it only when the person asks for it."}, discard)
	op.Add(set, op.Op{ID: "mark-submission-not-spam", Undo: op.Undo{Steps: true}, Route: "POST /submissions/{id}/not-spam", Perm: auth.ManageForms, App: form.AppID, Record: "submission", Idempotent: true,
		Outside: true, Doc: "Process spam as a normal submission after all: its contact is made or filled in.",
		Use: "Use it when real people were held back. The team is notified and webhooks are sent as for a new one. Answers with the submission."}, r.notSpam)
	op.Add(set, op.Op{ID: "mark-submission-spam", Undo: op.Undo{Steps: true}, Route: "POST /submissions/{id}/spam", Perm: auth.ManageForms, App: form.AppID, Record: "submission", Idempotent: true,
		Doc: "Mark a submission that was received as spam; its contact stays.",
		Use: "Use it when an advert was let through. mark-submission-not-spam takes it back, and sends nothing a second time. Answers with the submission."}, spam)
	op.Add(set, op.Op{ID: "bulk-submissions", Undo: op.Undo{Steps: true}, Route: "POST /submissions/bulk", Perm: auth.ManageForms, App: form.AppID, Record: "submission", Unaudited: true, Destructive: true,
		Outside: true, Doc: "Mark up to 1,000 submissions as spam or as no spam, or delete them for good. Each is changed or refused by itself. delete stands alone.",
		Use: "Use it with ids from find-submissions, in steps of 1,000. Nothing brings deleted ones back. changed and skipped are counts; failed says which were refused and why."}, r.changeMany)
}
