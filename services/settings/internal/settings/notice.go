package settings

import (
	"context"
	"fmt"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/mail"
)

// notice mails a user what has just happened to their account, and what to do if it was not them.
func (s *service) notice(ctx context.Context, tx *db.Tx, p person, kind, subject string, paragraphs ...string) error {
	return s.queueMail(ctx, tx, mail.Content{
		Kind: "account." + kind, To: mail.Person{Name: p.Name, Address: p.Email}, Subject: subject, Greeting: "Hello " + p.Name + ",",
		Paragraphs: append(paragraphs, "It happened on "+tx.Now.In(s.Config.Zone).Format("Monday 2 January 2006 at 15:04")+origin(ctx, tx)+"."),
		Closing:    []string{"If it was not you, choose a new password at once, and tell an administrator."},
		Buttons:    []mail.Link{{Text: "Look at your account", URL: s.Config.PublicURL + "/account"}},
	})
}

// origin says from where the actor acts, as far as that is known.
func origin(ctx context.Context, tx *db.Tx) string {
	var parts []string
	if name := browserName(ctx); name != "" {
		parts = append(parts, " with "+name)
	}
	if tx.Who.Address != "" {
		parts = append(parts, " from "+tx.Who.Address)
	}
	return strings.Join(parts, "")
}

func (s *service) noticeBrowser(ctx context.Context, tx *db.Tx, p person) error {
	return s.notice(ctx, tx, p, "new_browser", "You signed in with another browser", "Somebody signed in as you with a browser that was not used here before.")
}

func (s *service) noticeWrongCodes(ctx context.Context, tx *db.Tx, p person) error {
	return s.notice(ctx, tx, p, "wrong_codes", "Wrong codes for your account",
		"Somebody typed several wrong codes of your second factor. Whoever gets to that step knows your password.")
}

// noticeTwoFactor says whether the second factor of p is on.
func (s *service) noticeTwoFactor(ctx context.Context, tx *db.Tx, p person) error {
	if p.TwoFactor {
		return s.notice(ctx, tx, p, "two_factor", "Your second factor is on", "Signing in now asks for a code of your authenticator.")
	}
	return s.notice(ctx, tx, p, "two_factor", "Your second factor is off", "Signing in asks for your password only.")
}

func (s *service) noticePassword(ctx context.Context, tx *db.Tx, p person) error {
	return s.notice(ctx, tx, p, "new_password", "Your password has changed", "Your account has a new password. All browsers were signed out.")
}

func (s *service) noticeKey(ctx context.Context, tx *db.Tx, p person, name string) error {
	return s.notice(ctx, tx, p, "new_key", "A new application password", "Your account has a new application password, called “"+name+"”. It reaches the API in your name.")
}

func (s *service) noticeConnection(ctx context.Context, tx *db.Tx, p person, name, host string) error {
	return s.notice(ctx, tx, p, "new_connection", "An assistant is connected", "You have connected an assistant that calls itself “"+name+"”, at "+host+
		". It acts in your name, as far as you have agreed. Your account shows all that are connected, and ends them.")
}

func (s *service) noticeStolen(ctx context.Context, tx *db.Tx, p person, name string) error {
	return s.notice(ctx, tx, p, "connection_reused", "An assistant was disconnected", "A secret of the assistant “"+name+"” was used twice, so somebody may have stolen it. "+
		"The assistant is disconnected. Connect it again if you trust it.")
}

// noticeAdministrator mails all other administrators that p has become one.
func (s *service) noticeAdministrator(ctx context.Context, tx *db.Tx, p person) error {
	others, err := many[person](ctx, tx, `select `+personColumns+` from person where $1 = any(roles) and id <> $2 and password is not null order by id`, roleSiteAdmin, p.ID)
	if err != nil {
		return fmt.Errorf("read administrators: %w", err)
	}
	maker, err := personByID(ctx, tx, tx.Who.UserID)
	if err != nil {
		return fmt.Errorf("read who made an administrator: %w", err)
	}
	// The name of a key is whatever its maker called it.
	by := maker.Name + " (" + maker.Email + ")"
	if !tx.Who.Session {
		by += ", by the key or assistant “" + tx.Who.Label + "”,"
	}
	for _, to := range others {
		err := s.queueMail(ctx, tx, mail.Content{
			Kind: "account.new_administrator", To: mail.Person{Name: to.Name, Address: to.Email}, Subject: "There is a new administrator", Greeting: "Hello " + to.Name + ",",
			Paragraphs: []string{p.Name + " (" + p.Email + ") is an administrator now and may do everything. " + by + " made it so on " +
				tx.Now.In(s.Config.Zone).Format("Monday 2 January 2006 at 15:04") + origin(ctx, tx) + "."},
			Closing: []string{"If that should not be, take the role away and end the keys and sessions of both."},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
