package form

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/forms/internal/definition"
)

// token is a fresh time token.
type token struct {
	Token string `json:"token" doc:"The part before a dot, if there is one, changes with the words of the form's consents: a page that shows others has to load the form again."`
}

func (r *Room) freshToken(ctx context.Context, tx *db.Tx, in formID) (token, error) {
	f, err := r.published(ctx, tx, in.ID)
	if err != nil {
		return token{}, err
	}
	return token{r.newToken(f)}, nil
}

// newToken makes a time token for the form with the consents of now.
func (r *Room) newToken(p definition.Published) string {
	return r.token.Make(keyOf(p.ID), p.Consents, r.DB.Now())
}

// CheckToken refuses a token that newToken did not make for this form, or made for consents in other words than those of now, with
// 400 svc_invalid_token.
func (r *Room) CheckToken(p definition.Published, token string) error {
	seen, err := r.token.Check(keyOf(p.ID), token, r.DB.Now())
	if err == nil && p.Consents != "" && seen != p.Consents {
		err = fault.InvalidToken("The words of the form have changed. Load it again.")
	}
	return err
}
