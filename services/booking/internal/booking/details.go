package booking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/opt"
)

// DetailsForm is the form of the details step, as a visitor sees it.
type DetailsForm struct {
	ID       int64          `json:"id" doc:"The id of the form."`
	Elements []form.Element `json:"elements" doc:"Fields, texts and consents, in their order."`
}

// plain is asked without a form of the site's own.
var plain = DetailsForm{Elements: form.Details()}

// forms are the published forms that ask for an address, by id.
type forms map[int64]DetailsForm

const selectForms = `select id, elements from form where status = 'publish' and not trashed
	and id in (select form_id from service where not archived union select form_id from settings)`

func collectForms(rows pgx.Rows) (forms, error) {
	all := forms{}
	var id int64
	var raw []byte
	_, err := pgx.ForEachRow(rows, []any{&id, &raw}, func() error {
		f := DetailsForm{ID: id}
		if err := json.Unmarshal(raw, &f.Elements); err != nil {
			return fmt.Errorf("elements of form %d: %w", id, err)
		}
		if form.NeedsEmail(f.Elements) {
			all[id] = f
		}
		return nil
	})
	return all, err
}

// of is the service's own form or the site's; else plain and false.
func (f forms) of(s BookableService, settings Settings) (DetailsForm, bool) {
	for _, id := range []*int64{s.FormID, settings.FormID} {
		if id != nil {
			if found, ok := f[*id]; ok {
				return found, true
			}
		}
	}
	return plain, false
}

// checkForm refuses a form that does not exist or does not ask for an address.
func (s *service) checkForm(ctx context.Context, tx *db.Tx, id opt.Value[int64]) error {
	if !id.Given() {
		return nil
	}
	var elements []form.Element
	err := tx.QueryRow(ctx, `select elements from form where id = $1 and not trashed`, id.V).Scan(&elements)
	if errors.Is(err, pgx.ErrNoRows) {
		return arriving(tx, "form")
	}
	if err != nil {
		return fmt.Errorf("read form %d: %w", id.V, err)
	}
	if !form.NeedsEmail(elements) {
		return fault.Invalid("form_id", fault.NewProblem("needs_email", "must be a form with a required email field"))
	}
	return nil
}

// details are the checked answers of the details step.
type details struct {
	client  client
	answers form.Answers
	raw     []byte // as sent, for forms
}

// readDetails checks the answers to f, named by element id or target. Everything that is wrong is named by its key in one
// svc_invalid_param.
func readDetails(f DetailsForm, fields form.Fields, values map[string]any) (details, error) {
	a, err := form.Check(form.Ask(f.Elements, fields), values)
	if err != nil {
		return details{}, err
	}
	out := details{client: client{firstName: a.Contact.FirstName, lastName: a.Contact.LastName, email: a.Contact.Email, phone: a.Contact.Phone},
		answers: a}
	out.raw, err = json.Marshal(values)
	return out, err
}
