package passwords

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/assistants"
	"frontdesk/services/settings/internal/keys"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/passkeys"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/site"
)

// forgot answers alike, and as fast, whether the address exists or not: a worker looks it up, see sendPasswordLink.
func forgot(ctx context.Context, tx *db.Tx, in struct {
	Email string `json:"email" required:"true" maxLength:"190" doc:"The address of the person."`
}) (mailer.Done, error) {
	if _, err := tx.Exec(ctx, `insert into password_request (email, created_at) values ($1, $2)`, in.Email, tx.Now); err != nil {
		return mailer.Done{}, fmt.Errorf("store request for a password: %w", err)
	}
	return mailer.Done{OK: true}, nil
}

// sendPasswordLink handles the oldest request for a new password, and reports whether there was one.
func (r *Room) sendPasswordLink(ctx context.Context) (worked bool, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		worked = false
		var email string
		err := tx.QueryRow(ctx, `delete from password_request where id = (select id from password_request order by id limit 1 for update skip locked) returning email`).Scan(&email)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("take a request for a password: %w", err)
		}
		worked = true
		p, err := people.LockByEmail(ctx, tx, email)
		if err != nil {
			return row.UnlessRefused(err)
		}
		// Only an invitation lets somebody in who has no password yet, and it ends. Who signs in elsewhere has their password there.
		if p.Invited || !p.HasPassword && p.Issuer == r.Config.OIDCIssuer || !r.On(p) {
			return nil
		}
		tx.Who = db.Actor{UserID: p.ID, Label: p.Name, Channel: db.ChannelEmail}
		return r.mailPasswordLink(ctx, tx, p)
	})
	return worked, err
}

// linkLife is for how long a link to choose a new password works.
const linkLife = 2 * time.Hour

// mailPasswordLink mails the locked user a link to choose a new password, at most once a minute.
func (r *Room) mailPasswordLink(ctx context.Context, tx *db.Tx, p people.Person) error {
	// A mailbox must not be filled by whoever knows the address.
	if recent, err := mailer.HaveLinkSince(ctx, tx, mailer.Password, p.ID, tx.Now.Add(-time.Minute)); err != nil || recent {
		return err
	}
	link, err := r.newLink(ctx, tx, p)
	if err != nil {
		return err
	}
	c, t := r.people.Letter(p, "password")
	c.Buttons, c.Closing = []mail.Link{{Text: t.T("password_button"), URL: link}}, []string{t.T("password_not_you")}
	return r.mails.Queue(ctx, tx, c)
}

// newLink makes the locked user a link to choose a new password. Those of before end.
func (r *Room) newLink(ctx context.Context, tx *db.Tx, p people.Person) (string, error) {
	token, _, err := mailer.NewLink(ctx, tx, mailer.Password, p.ID, "", linkLife)
	if err != nil {
		return "", err
	}
	return r.Config.PublicURL + "/account/password#token=" + token, op.Audit(ctx, tx, "forgot-password", "user", row.Key(p.ID))
}

// NewLink makes a link by which the person with a login or an address chooses a new password, for an operator to hand over. The
// error says that nobody has the login, or that the person has yet to accept an invitation.
func (r *Room) NewLink(ctx context.Context, login string) (link string, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		p, err := people.LockByAddress(ctx, tx, login)
		switch {
		case fault.From(err).Status == http.StatusNotFound:
			return fmt.Errorf("nobody has the login or address %q", login)
		case err != nil:
			return err
		case p.Invited:
			return fmt.Errorf("%s was invited and has not accepted: invite them again, the link stands in that mail", login)
		}
		if !r.On(p) {
			return fmt.Errorf("%s signs in at %s: with SVC_OIDC_ONLY a password lets in only the administrator whose login is SVC_ADMIN_LOGIN, which is %q", login, r.Config.OIDCName, r.Config.AdminLogin)
		}
		tx.Who = db.Actor{Label: "reset-password at the server", Channel: db.ChannelSystem}
		link, err = r.newLink(ctx, tx, p)
		return err
	})
	return link, err
}

// NewPassword is a password and the token of the mail that lets the person choose it.
type NewPassword struct {
	Token    string `json:"token" required:"true" maxLength:"200" doc:"The token of the link in the mail."`
	Password string `json:"password" required:"true" maxLength:"1024" doc:"At least 8 characters, and not one of those that are guessed first."`
}

// reset sets a password with the token of a mail, and signs the person out everywhere.
func (r *Room) reset(ctx context.Context, d *db.DB, in struct {
	NewPassword
	EndKeys bool `json:"end_keys,omitempty" doc:"End the application passwords and passkeys as well."`
}) (op.None, error) {
	_, err := r.Choose(ctx, d, mailer.Password, in.NewPassword, func(tx *db.Tx, p people.Person) error {
		if err := r.noticePassword(ctx, tx, p); err != nil {
			return err
		}
		if in.EndKeys {
			if err := errors.Join(keys.EndAll(ctx, tx, p.ID), assistants.EndAll(ctx, tx, p.ID), passkeys.EndAll(ctx, tx, p.ID)); err != nil {
				return err
			}
		}
		return op.Audit(ctx, tx, "reset-password", "user", row.Key(p.ID))
	})
	return op.None{}, err
}

// Choose gives the person whom a link of kind was mailed to a password, ends the link and all others of theirs, signs
// them out everywhere, and runs then in the same transaction. Errors: 400 for a password that is too short or too common and
// for an unknown token, 410 for a link that has ended.
func (r *Room) Choose(ctx context.Context, d *db.DB, kind string, in NewPassword, then func(*db.Tx, people.Person) error) (people.Person, error) {
	if utf8.RuneCountInString(in.Password) < Shortest {
		return people.Person{}, fault.Invalid("password", fault.TooShort(Shortest))
	}
	var p people.Person
	var business site.Business
	err := d.Read(ctx, func(tx *db.Tx) error {
		l, err := mailer.FindLink(ctx, tx, kind, in.Token)
		if err != nil {
			return err
		}
		if business, err = site.ReadBusiness(ctx, tx); err != nil {
			return err
		}
		p, err = people.ByID(ctx, tx, *l.PersonID)
		return err
	})
	if err != nil {
		return p, err
	}
	problem, err := checkNewPassword(in.Password, p, business.Name)
	if err != nil {
		return p, err
	}
	if !problem.IsZero() {
		return p, fault.Invalid("password", problem)
	}
	// Outside the transaction, because it takes tens of milliseconds and waits for its turn.
	hash, err := r.hasher.hash(ctx, in.Password)
	if err != nil {
		return p, err
	}
	err = d.Do(people.Acting(ctx, p), func(tx *db.Tx) error {
		// The user is locked before their links, as everywhere.
		if _, err := people.Lock(ctx, tx, p.ID); err != nil {
			return err
		}
		if _, err := mailer.UseLink(ctx, tx, kind, in.Token); err != nil {
			return err
		}
		p, err = people.SetPassword(ctx, tx, p.ID, hash)
		if err != nil {
			return err
		}
		// The person has the account now: no other link of either kind may still work.
		for _, kind := range []string{mailer.Invitation, mailer.Password} {
			if err := mailer.EndLinks(ctx, tx, kind, p.ID); err != nil {
				return err
			}
		}
		if err := sessions.EndAll(ctx, tx, p.ID, nil); err != nil {
			return err
		}
		if err := people.Publish(tx, p); err != nil {
			return err
		}
		return then(tx, p)
	})
	return p, err
}

func (r *Room) noticePassword(ctx context.Context, tx *db.Tx, p people.Person) error {
	return r.people.Notice(ctx, tx, p, "new_password")
}
