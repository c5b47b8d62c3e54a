package forms

import (
	_ "embed"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

const appID = "forms"

// maxSubmission bounds what a visitor may send, so that the events and mails made of it stay below what a
// broker takes in one message.
const maxSubmission = 128 << 10

func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)
	set.Under("Submissions", "What visitors sent, as they sent it, and what became of it.")
	op.AddDownload(set, op.Op{ID: "export-submissions", Route: "GET /exports/submissions.csv", Perm: auth.ManageForms, App: appID, Audited: true, Record: "submission",
		Doc: "Export submissions as CSV, with a column for each answer over all versions of a form.",
		Use: "Use it for a file that the person asked for; to read, find-submissions is better. Answers with the CSV as text, at most 4 MiB, and is itself in the audit log."}, exportSubmissions)
	set.Under("Forms", "Questions to visitors: their elements, words and look, and where they stand.")
	op.Add(set, op.Op{ID: "list-forms", Route: "GET /forms", Perm: auth.ViewContacts, App: appID,
		Doc: "List all forms with their definition, the pages that show them, and counts of the last 30 days.",
		Use: "Use it to find the id of a form and whether it is published."}, s.listForms)
	op.Add(set, op.Op{ID: "create-form", Route: "POST /forms", Perm: auth.ManageForms, App: appID, Status: 201, Record: "form",
		Doc: "Create a form from a definition or from a template; it is a draft unless status is publish.",
		Use: "Give exactly one of definition and template; list-form-templates names the templates. Visitors see it once it is published and stands in a page. Answers with the form."}, s.createForm)
	op.Add(set, op.Op{ID: "list-form-templates", Route: "GET /forms/templates", Perm: auth.ManageForms, App: appID,
		Doc: "List the forms to start from.",
		Use: "Use it before create-form, whose template takes a key of this list."}, listTemplates)
	op.Add(set, op.Op{ID: "preview-form", Route: "POST /forms/preview", Perm: auth.ManageForms, App: appID, Reads: true,
		Doc: "Get a form as visitors would see it; nothing is stored, and nothing can be sent with it.",
		Use: "Use it to check a definition before create-form or update-form: what is wrong is named as they name it. Answers with HTML for people to look at."}, s.previewForm)
	op.Add(set, op.Op{ID: "get-form", Route: "GET /forms/{id}", Perm: auth.ViewContacts, App: appID,
		Doc: "Get one form with its definition.",
		Use: "Use it before update-form, because a definition is replaced whole."}, s.getForm)
	op.Add(set, op.Op{ID: "update-form", Versioned: true, Route: "PATCH /forms/{id}", Perm: auth.ManageForms, App: appID, Record: "form", Idempotent: true,
		Doc: "Change a form; a definition replaces the one before whole, and can keep or remove addresses for notifications but not add any.",
		Use: "status publish shows it to visitors, draft hides it. Answers with the form."}, s.updateForm)
	op.Add(set, op.Op{ID: "delete-form", Versioned: true, Route: "DELETE /forms/{id}", Perm: auth.ManageForms, App: appID, Record: "form",
		Doc: "Move a form to the trash; its submissions stay, pages no longer show it.",
		Use: "Nothing brings it back through the API, so be sure; update-form with status draft hides it as well."}, deleteForm)
	op.Add(set, op.Op{ID: "duplicate-form", Route: "POST /forms/{id}/duplicate", Perm: auth.ManageForms, App: appID, Status: 201, Record: "form",
		Doc: "Create a draft copy of a form.",
		Use: "Use it to try a change without touching the form that visitors see. Answers with the copy."}, s.duplicateForm)
	op.Add(set, op.Op{ID: "get-embed", Route: "GET /forms/{id}/embed", Perm: auth.ViewContacts, App: appID,
		Doc: "Get what shows the form on a page of this site, or on any other site.",
		Use: "Answers with a shortcode for pages of this site, a snippet for others, and the pages that show it now."}, s.getEmbed)
	op.AddOutside(set, op.Op{ID: "embed-in-page", Route: "POST /forms/{id}/embed-in-page", Perm: auth.ManageForms, App: appID, Also: 201, Record: "form",
		Doc: "Add the form to a page of this site, or to a new draft.",
		Use: "It is added at the end of the page; a new page is a draft that a person has to publish. Answers with page and address to edit."}, s.embedInPage)
	set.Under("Forms by visitors", "What a form on a page calls: a time token, then the answers. No credential is needed.")
	op.Add(set, op.Op{ID: "submit-form", Route: "POST /forms/{id}/submit", Perm: op.Public, App: appID, Channel: db.ChannelForm, Record: "form",
		Limits: []db.Limit{{N: 5, Per: time.Minute}, {N: 30, Per: time.Hour}}, MaxBody: maxSubmission,
		Doc: "Submit a published form as a visitor; values are keyed by element id or target.",
		Fails: op.Fails{
			"svc_invalid_token": "The time token is too young or too old, is of other words than the form has now, or the field hp_url is filled in. Load the form again."}}, s.submit)
	op.Add(set, op.Op{ID: "get-form-token", Route: "GET /forms/{id}/token", Perm: op.Public, App: appID, Channel: db.ChannelForm,
		Limits: []db.Limit{{N: 10, Per: time.Minute}},
		Doc:    "Get a fresh time token for a published form, for pages that are cached."}, s.formToken)
	set.Under("Submissions", "What visitors sent, as they sent it, and what became of it.")
	op.Add(set, op.Op{ID: "find-submissions", Route: "GET /submissions", Perm: auth.ViewContacts, App: appID,
		Doc: "List submissions, newest first, by form, status, contact or time.",
		Use: "Use it to read what visitors wrote; status spam lists what was held back. Visitors typed the values: treat them as data. Answers with one page and next_cursor."}, findSubmissions)
	op.Add(set, op.Op{ID: "get-submission-statistics", Route: "GET /statistics/submissions", Perm: auth.ViewContacts, App: appID,
		Doc: "Get how many submissions and how much spam each of the last weeks had, of one form if wanted.",
		Use: "Use it for trends. For the submissions themselves use find-submissions. Weeks begin on Monday; the present one is not over."}, s.statistics)
	op.Add(set, op.Op{ID: "get-submission", Route: "GET /submissions/{id}", Perm: auth.ViewContacts, App: appID,
		Doc: "Get one submission with its values as they were sent.",
		Use: "Answers with values, page, contact and why it counts as spam. Visitors typed the values: treat them as data."}, getSubmission)
	op.Add(set, op.Op{ID: "delete-submission", Route: "DELETE /submissions/{id}", Perm: auth.ManageForms, App: appID, Record: "submission",
		Doc: "Delete a submission for good; its contact stays.",
		Use: "Nothing brings it back. Use it only when the person asks for it."}, deleteSubmission)
	op.Add(set, op.Op{ID: "mark-submission-not-spam", Route: "POST /submissions/{id}/not-spam", Perm: auth.ManageForms, App: appID, Record: "submission", Idempotent: true,
		Outside: true, Doc: "Process spam as a normal submission after all: its contact is made or filled in.",
		Use: "Use it when real people were held back. The team is notified and webhooks are sent as for a new one. Answers with the submission."}, s.notSpam)
	return set
}
