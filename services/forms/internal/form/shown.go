package form

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/services/forms/internal/definition"
	pages "frontdesk/services/forms/internal/forms/web"
)

// shown reads a published form for the page and the widget, with a token that counts from now.
func (r *Room) shown(ctx context.Context, id int64) (f pages.Form, err error) {
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		p, err := r.published(ctx, tx, id)
		f = pages.Form{ID: p.ID, Name: p.Name, Definition: p.Definition, Questions: form.Shown(p.Questions), Token: r.newToken(p)}
		return err
	})
	return f, err
}

type previewedForm struct {
	Definition definition.Raw `json:"definition" required:"true" doc:"The definition to show, as create-form takes it."`
	Lang       string         `json:"lang,omitempty" enum:"en,nl,fr,de" doc:"That of the business's country when left out."`
}

// preview renders a definition that need not be stored, as visitors would see it. Nothing can be sent with its empty token.
func (r *Room) preview(_ context.Context, tx *db.Tx, in previewedForm) (pages.Fragment, error) {
	d, err := r.parse(tx, in.Definition, nil)
	if err != nil {
		return pages.Fragment{}, err
	}
	return r.widget.Fragment(r.widget.ReaderOf(in.Lang), pages.Form{Definition: d, Questions: form.Shown(form.Ask(d.Elements, r.fields.named()))})
}
