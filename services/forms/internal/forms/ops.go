package forms

import (
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

const appID = "forms"

// maxSubmission bounds what a visitor may send, so that the events and mails made of it stay below what a
// broker takes in one message.
const maxSubmission = 128 << 10

func (s *service) ops() *op.Set {
	set := s.NewSet()
	op.AddDownload(set, op.Op{ID: "export-submissions", Route: "GET /exports/submissions.csv", Perm: auth.ManageForms, App: appID, Audited: true, Record: "submission",
		Doc: "Export submissions as CSV, with a column for each answer over all versions of a form."}, exportSubmissions)
	op.Add(set, op.Op{ID: "list-forms", Route: "GET /forms", Perm: auth.ViewContacts, App: appID,
		Doc: "List all forms with their definition, the pages that show them, and counts of the last 30 days."}, s.listForms)
	op.Add(set, op.Op{ID: "create-form", Route: "POST /forms", Perm: auth.ManageForms, App: appID, Status: 201, Record: "form",
		Doc: "Create a form from a definition or from a template; it is a draft unless status is publish."}, s.createForm)
	op.Add(set, op.Op{ID: "list-form-templates", Route: "GET /forms/templates", Perm: auth.ManageForms, App: appID,
		Doc: "List the forms to start from."}, listTemplates)
	op.Add(set, op.Op{ID: "get-form", Route: "GET /forms/{id}", Perm: auth.ViewContacts, App: appID,
		Doc: "Get one form with its definition."}, s.getForm)
	op.Add(set, op.Op{ID: "update-form", Route: "PATCH /forms/{id}", Perm: auth.ManageForms, App: appID, Record: "form", Idempotent: true,
		Doc: "Change a form; a definition replaces the one before whole, and can keep or remove addresses for notifications but not add any."}, s.updateForm)
	op.Add(set, op.Op{ID: "delete-form", Route: "DELETE /forms/{id}", Perm: auth.ManageForms, App: appID, Record: "form",
		Doc: "Move a form to the trash; its submissions stay, pages no longer show it."}, deleteForm)
	op.Add(set, op.Op{ID: "duplicate-form", Route: "POST /forms/{id}/duplicate", Perm: auth.ManageForms, App: appID, Status: 201, Record: "form",
		Doc: "Create a draft copy of a form."}, s.duplicateForm)
	op.Add(set, op.Op{ID: "get-embed", Route: "GET /forms/{id}/embed", Perm: auth.ViewContacts, App: appID,
		Doc: "Get what shows the form on a page of this site, or on any other site."}, s.getEmbed)
	op.AddOutside(set, op.Op{ID: "embed-in-page", Route: "POST /forms/{id}/embed-in-page", Perm: auth.ManageForms, App: appID, Also: 201, Record: "form",
		Doc: "Add the form to a page of this site, or to a new draft."}, s.embedInPage)
	op.Add(set, op.Op{ID: "submit-form", Route: "POST /forms/{id}/submit", Perm: op.Public, App: appID, Channel: db.ChannelForm, Record: "form",
		Limits: []db.Limit{{N: 5, Per: time.Minute}, {N: 30, Per: time.Hour}}, MaxBody: maxSubmission,
		Doc: "Submit a published form as a visitor; values are keyed by element id or target."}, s.submit)
	op.Add(set, op.Op{ID: "get-form-token", Route: "GET /forms/{id}/token", Perm: op.Public, App: appID, Channel: db.ChannelForm,
		Limits: []db.Limit{{N: 10, Per: time.Minute}},
		Doc:    "Get a fresh time token for a published form, for pages that are cached."}, s.formToken)
	op.Add(set, op.Op{ID: "find-submissions", Route: "GET /submissions", Perm: auth.ViewContacts, App: appID,
		Doc: "List submissions, newest first, by form, status, contact or time."}, findSubmissions)
	op.Add(set, op.Op{ID: "get-submission", Route: "GET /submissions/{id}", Perm: auth.ViewContacts, App: appID,
		Doc: "Get one submission with its values as they were sent."}, getSubmission)
	op.Add(set, op.Op{ID: "delete-submission", Route: "DELETE /submissions/{id}", Perm: auth.ManageForms, App: appID, Record: "submission",
		Doc: "Delete a submission for good; its contact stays."}, deleteSubmission)
	op.Add(set, op.Op{ID: "mark-submission-not-spam", Route: "POST /submissions/{id}/not-spam", Perm: auth.ManageForms, App: appID, Record: "submission", Idempotent: true,
		Doc: "Process spam as a normal submission after all: its contact is made or filled in."}, s.notSpam)
	return set
}
