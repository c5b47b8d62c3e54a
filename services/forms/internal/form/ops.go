package form

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

// AppID is the app that all operations belong to.
const AppID = "forms"

// Forms declares what the team does with forms.
func (r *Room) Forms(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-forms", Route: "GET /forms", Perm: auth.ViewContacts, App: AppID,
		Doc: "List all forms, or those in the trash, with their definition, the pages that show them, and counts of the last 30 days.",
		Use: "Use it to find the id of a form and whether it is published."}, r.list)
	op.Add(set, op.Op{ID: "create-form", Undo: op.Undo{By: "delete-form"}, Route: "POST /forms", Perm: auth.ManageForms, App: AppID, Status: 201, Record: "form",
		Doc: "Create a form from a definition or from a template; it is a draft unless status is publish.",
		Use: "Give exactly one of definition and template; list-form-templates names the templates. Visitors see it once it is published and stands in a page. Answers with the form."}, r.create)
	op.Add(set, op.Op{ID: "list-form-templates", Route: "GET /forms/templates", Perm: auth.ManageForms, App: AppID,
		Doc: "List the forms to start from.",
		Use: "Use it before create-form, whose template takes a key of this list."}, templates)
	op.Add(set, op.Op{ID: "preview-form", Route: "POST /forms/preview", Perm: auth.ManageForms, App: AppID, Reads: true,
		Doc: "Get a form as visitors would see it; nothing is stored, and nothing can be sent with it.",
		Use: "Use it to check a definition before create-form or update-form: what is wrong is named as they name it. Answers with HTML for people to look at."}, r.preview)
	op.Add(set, op.Op{ID: "get-form", Route: "GET /forms/{id}", Perm: auth.ViewContacts, App: AppID,
		Doc: "Get one form with its definition, also from the trash.",
		Use: "Use it before update-form, because a definition is replaced whole. deleted_at tells that it is in the trash."}, r.get)
	op.Add(set, op.Op{ID: "update-form", Undo: op.Undo{By: "update-form"}, Versioned: true, Route: "PATCH /forms/{id}", Perm: auth.ManageForms, App: AppID, Record: "form", Idempotent: true,
		Doc:   "Change a form; a definition replaces the one before whole, and can keep or remove addresses for notifications but not add any.",
		Use:   "status publish shows it to visitors, draft hides it. Answers with the form.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, r.update)
	op.Add(set, op.Op{ID: "delete-form", Undo: op.Undo{By: "restore-form"}, Versioned: true, Route: "DELETE /forms/{id}", Perm: auth.ManageForms, App: AppID, Record: "form",
		Doc:   "Move a form to the trash; its submissions stay, pages no longer show it.",
		Use:   "restore-form brings it back; update-form with status draft hides it as well.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, trash)
	op.Add(set, op.Op{ID: "restore-form", Undo: op.Undo{By: "delete-form"}, Route: "POST /forms/{id}/restore", Perm: auth.ManageForms, App: AppID, Record: "form",
		Doc:   "Take a form out of the trash; pages that have it show it again if it was published.",
		Use:   "Use it to undo delete-form; list-forms with deleted names what is in the trash. Answers with the form.",
		Fails: op.Fails{"svc_invalid_status": failNotTrashed}}, r.restore)
	op.Add(set, op.Op{ID: "duplicate-form", Undo: op.Undo{By: "delete-form"}, Route: "POST /forms/{id}/duplicate", Perm: auth.ManageForms, App: AppID, Status: 201, Record: "form",
		Doc:   "Create a draft copy of a form.",
		Use:   "Use it to try a change without touching the form that visitors see. Answers with the copy.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, r.duplicate)
	op.Add(set, op.Op{ID: "get-embed", Route: "GET /forms/{id}/embed", Perm: auth.ViewContacts, App: AppID,
		Doc:   "Get what shows the form on a page of this site, or on any other site.",
		Use:   "Answers with a shortcode for pages of this site and a snippet for others. get-form names the pages that show it now.",
		Fails: op.Fails{"svc_invalid_status": failTrashed}}, r.embed)
	op.AddOutside(set, op.Op{ID: "embed-in-page", Undo: op.Undo{Never: op.ByHand}, Route: "POST /forms/{id}/embed-in-page", Perm: auth.ManageForms, App: AppID, Also: 201, Record: "form",
		Doc:   "Add the form to a page of this site, or to a new draft.",
		Use:   "It is added at the end of the page; a new page is a draft that a person has to publish. Answers with page and address to edit.",
		Fails: op.Fails{"svc_not_found": "There is no such form or page.", "svc_conflict page_full": "The page has no room for it.", "svc_invalid_status": failTrashed}}, r.embedInPage)
}

// ForVisitors declares what a form on a page calls before it is sent.
func (r *Room) ForVisitors(set *op.Set) {
	op.Add(set, op.Op{ID: "get-form-token", Route: "GET /forms/{id}/token", Perm: op.Public, App: AppID, Channel: db.ChannelForm,
		Limits: []db.Limit{{N: 10, Per: time.Minute}},
		Doc:    "Get a fresh time token for a published form, for pages that are cached."}, r.freshToken)
}
