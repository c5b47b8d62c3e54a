package forms

import (
	"context"

	"frontdesk/libs/db"
	pages "frontdesk/services/forms/internal/forms/web"
)

// shown is a published form for the page and the widget, with a token that starts to count now.
func (s *service) shown(ctx context.Context, id int64) (f pages.Form, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		p, err := s.publishedForm(ctx, tx, id)
		f = pages.Form{ID: p.id, Name: p.name, Definition: p.definition, Token: s.token.Make(formKey(p.id), s.DB.Now())}
		return err
	})
	return f, err
}
