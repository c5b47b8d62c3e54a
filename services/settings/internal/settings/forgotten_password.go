package settings

import (
	"context"
	"fmt"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
)

// Done is the answer of operations that tell nothing more than that they ran.
type Done struct {
	OK bool `json:"ok"`
}

// forgotPassword answers alike whether the address exists or not.
func (s *service) forgotPassword(ctx context.Context, tx *db.Tx, in struct {
	Email string `json:"email" required:"true" maxLength:"190"`
}) (Done, error) {
	p, err := onePerson(ctx, tx, `select `+personColumns+` from person where lower(email) = lower($1) for update`, in.Email)
	if err != nil {
		return Done{true}, unlessRefused(err)
	}
	tx.Who = db.Actor{UserID: p.ID, Label: p.Name, Channel: db.ChannelEmail}
	// A mailbox must not be filled by whoever knows the address.
	var recent bool
	err = tx.QueryRow(ctx, `select exists (select from link where kind = $1 and person_id = $2 and created_at > $3::timestamptz - interval '1 minute')`,
		linkPassword, p.ID, tx.Now).Scan(&recent)
	if err != nil {
		return Done{}, fmt.Errorf("look for a recent link: %w", err)
	}
	if recent {
		return Done{true}, nil
	}
	token, _, err := newLink(ctx, tx, linkPassword, p.ID, "", passwordLife)
	if err != nil {
		return Done{}, err
	}
	return Done{true}, s.queueMail(ctx, tx, mail.Content{
		Kind: "account.password", To: mail.Person{Name: p.Name, Address: p.Email}, Subject: "Choose a new password", Greeting: "Hello " + p.Name + ",",
		Paragraphs: []string{"Somebody, most likely you, asked for a new password. The link works for two hours and once."},
		Buttons:    []mail.Link{{Text: "Choose a new password", URL: s.Config.PublicURL + "/account/password#token=" + token}},
		Closing:    []string{"If it was not you, there is nothing to do: your password stays as it is."},
	})
}

// resetPassword sets a password with the token of a mail, and signs the person out everywhere.
func (s *service) resetPassword(ctx context.Context, tx *db.Tx, in struct {
	Token    string `json:"token" required:"true" maxLength:"200"`
	Password string `json:"password" required:"true" maxLength:"1024"`
}) (op.None, error) {
	_, err := s.choosePassword(ctx, tx, linkPassword, in.Token, in.Password)
	return op.None{}, err
}

// choosePassword gives the person whom a link of kind was mailed to a password, ends the link and all others of theirs, and
// signs them out everywhere. Errors: 400 for a short password and an unknown token, 410 for a link that has ended.
func (s *service) choosePassword(ctx context.Context, tx *db.Tx, kind, token, password string) (person, error) {
	if len([]rune(password)) < shortestPassword {
		return person{}, fault.Invalid("password", fault.TooShort(shortestPassword))
	}
	l, err := useLink(ctx, tx, kind, token)
	if err != nil {
		return person{}, err
	}
	p, err := lockPerson(ctx, tx, *l.PersonID)
	if err != nil {
		return p, err
	}
	tx.Who = db.Actor{UserID: p.ID, Label: p.Name, Channel: db.ChannelEmail}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return p, err
	}
	// The person has the account now: no other link of either kind may still work.
	for _, kind := range []string{linkInvitation, linkPassword} {
		if err := endLinks(ctx, tx, kind, p.ID); err != nil {
			return p, err
		}
	}
	if err := endSessions(ctx, tx, p.ID, nil); err != nil {
		return p, err
	}
	p, err = onePerson(ctx, tx, `update person set password = $2, version = version + 1, updated_at = $3 where id = $1 returning `+personColumns, p.ID, hash, tx.Now)
	if err != nil {
		return p, err
	}
	return p, publishPerson(ctx, tx, p)
}
