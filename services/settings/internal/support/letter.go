package support

import (
	"context"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/people"
)

// tried is what came of a test of the mails.
type tried struct {
	Sent   bool   `json:"sent" doc:"The server took the mail."`
	Server string `json:"server" doc:"The mail server, as host:port; empty if the installation has none."`
	Answer string `json:"answer" doc:"What the server said, word for word, or why it could not be reached."`
}

// testWithin is how long the server may take to be reached and to take the mail. It may take four seconds more to say so.
const testWithin = 10 * time.Second

// sendTestMail sends the caller one mail, beside the queue.
func (r *Room) sendTestMail(ctx context.Context, d *db.DB, _ op.None) (tried, error) {
	var to people.Person
	var c mail.Content
	err := d.Do(ctx, func(tx *db.Tx) (err error) {
		if to, err = people.ByID(ctx, tx, tx.Who.UserID); err != nil {
			return err
		}
		if c.Business, err = r.site.Letterhead(ctx, tx); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "send-test-mail", "settings", document.General)
	})
	if err != nil {
		return tried{}, err
	}
	out := tried{}
	if out.Server, _ = mail.Server(r.Config.SMTPURL); out.Server == "" {
		out.Answer = say(ctx, "no_mail")
		return out, nil
	}
	c.Kind, c.Language = "account.test", lang.Preferred(op.Header(ctx).Get("Accept-Language"))
	c.To = mail.Person{Name: to.Name, Address: to.Email}
	c.Subject, c.Paragraphs = say(ctx, "test_subject"), []string{say(ctx, "test_text", "business", c.Business.Name)}
	m, err := mail.Render(c)
	if err != nil {
		out.Answer = err.Error() // such as an address that no server takes
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, testWithin)
	defer cancel()
	out.Answer, err = mail.Ask(ctx, r.Config.SMTPURL, m, mail.Sender(r.Config.MailFrom, c.Business.Name))
	out.Sent = err == nil
	return out, nil
}
