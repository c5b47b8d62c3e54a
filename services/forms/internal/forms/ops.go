package forms

import (
	"frontdesk/libs/app"
	"frontdesk/libs/op"
	"frontdesk/services/forms/internal/form"
	"frontdesk/services/forms/internal/submission"
)

const sent = "What visitors sent, as they sent it, and what became of it."

// operations declares all operations, in the order of the interface.
func operations(k *app.Kit, forms *form.Room, submissions *submission.Room) *op.Set {
	set := k.NewSet()
	set.Under("Submissions", sent)
	submissions.Export(set)
	set.Under("Forms", "Questions to visitors: their elements, words and look, and where they stand.")
	forms.Forms(set)
	set.Under("Forms by visitors", "What a form on a page calls: a time token, then the answers. No credential is needed.")
	submissions.ForVisitors(set)
	forms.ForVisitors(set)
	set.Under("Submissions", sent)
	submissions.Submissions(set)
	set.Under("Exports and imports", "CSV files out and in. An import is uploaded, looked at, started, and runs in the background.")
	takeout(set)
	op.AddUndo(set)
	return set
}
