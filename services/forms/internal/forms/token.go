package forms

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Token is a fresh time token.
type Token struct {
	Token string `json:"token" doc:"The part before a dot, if there is one, changes with the words of the form's consents: a page that shows others has to load the form again."`
}

func (s *service) formToken(ctx context.Context, tx *db.Tx, in formID) (Token, error) {
	f, err := s.publishedForm(ctx, tx, in.ID)
	if err != nil {
		return Token{}, err
	}
	return Token{s.newToken(f)}, nil
}

// newToken makes a time token for the form with the consents of now.
func (s *service) newToken(p published) string {
	return s.token.Make(formKey(p.id), p.consents, s.DB.Now())
}

// checkToken refuses a token that newToken did not make for this form, or made for consents in other words than those of now.
func (s *service) checkToken(p published, token string) error {
	seen, err := s.token.Check(formKey(p.id), token, s.DB.Now())
	if err == nil && p.consents != "" && seen != p.consents {
		err = fault.InvalidToken("The words of the form have changed. Load it again.")
	}
	return err
}
