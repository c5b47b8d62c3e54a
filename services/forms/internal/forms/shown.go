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
