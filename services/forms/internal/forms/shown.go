package forms

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/form"
	pages "frontdesk/services/forms/internal/forms/web"
)

// shown reads a published form for the page and the widget, with a token that counts from now.
func (s *service) shown(ctx context.Context, id int64) (f pages.Form, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		p, err := s.publishedForm(ctx, tx, id)
		f = pages.Form{ID: p.id, Name: p.name, Definition: p.definition, Questions: form.Shown(p.questions), Token: s.newToken(p)}
		return err
	})
	return f, err
}

type previewedForm struct {
	Definition object `json:"definition" required:"true" doc:"The definition to show, as create-form takes it."`
	Lang       string `json:"lang,omitempty" enum:"en,nl,fr,de" doc:"That of the business's country when left out."`
}

// previewForm renders a definition that need not be stored, as visitors would see it. Nothing can be sent with its empty token.
func (s *service) previewForm(_ context.Context, tx *db.Tx, in previewedForm) (pages.Fragment, error) {
	d, err := s.parse(tx, in.Definition, nil)
	if err != nil {
		return pages.Fragment{}, err
	}
	return s.widget.Fragment(s.widget.ReaderOf(in.Lang), pages.Form{Definition: d, Questions: form.Shown(form.Ask(d.Elements, s.fields.named()))})
}
