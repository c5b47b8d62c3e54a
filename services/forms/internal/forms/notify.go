package forms

import (
	"context"
	"errors"
	"log/slog"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/libs/mail"
	"frontdesk/proto"
)

// notify mails the answers to each of these addresses. An address that no mail can be sent to is left out and logged.
func (s *service) notify(ctx context.Context, tx *db.Tx, f published, lines []form.Line, emails []string) error {
	for _, to := range emails {
		content := s.notification(f.name, lines)
		content.To = mail.Person{Address: address.Key(to)}
		m, err := mail.Render(content)
		if errors.Is(err, mail.ErrContent) {
			slog.WarnContext(ctx, "notification is not sent", "form", f.id, "error", err)
			continue
		}
		if err != nil {
			return err
		}
		if err := tx.Mail(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// notifyOwner mails a completed submission to who owns its contact, unless the form has mailed it there already.
func (s *service) notifyOwner(ctx context.Context, tx *db.Tx, formID int64, sub Submission) error {
	f, err := s.anyForm(ctx, tx, formID)
	if err != nil {
		return err
	}
	var owner *int64
	var lines []form.Line
	err = tx.QueryRow(ctx, `select c.owner_user_id, s.answers from submission s left join contact c on c.id = s.contact_id where s.id = $1`, sub.ID).
		Scan(&owner, &lines)
	if err != nil || owner == nil {
		return err
	}
	user, ok := s.Identity.User(*owner)
	if !ok {
		return nil
	}
	for _, had := range f.definition.Notify.Emails {
		if address.Key(had) == address.Key(user.GetEmail()) {
			return nil
		}
	}
	return s.notify(ctx, tx, f, lines, []string{user.GetEmail()})
}

// notification is the mail about a submission, without its addressee. All of it is text for libs/mail, which lets nothing in
// it become a header or markup.
func (s *service) notification(name string, lines []form.Line) mail.Content {
	c := mail.Content{
		Kind: proto.KindFormSubmitted, Business: s.Site.Business(), Subject: "New submission: " + name,
		Paragraphs: []string{"Somebody has sent in the form “" + name + "”."},
		Footer:     []string{"You get this mail because the form notifies this address."},
	}
	for _, l := range lines {
		switch {
		case l.Text == "":
		case l.Kind == form.KindLongText:
			c.Closing = append(c.Closing, l.Label+":\n"+l.Text)
		default:
			c.Rows = append(c.Rows, mail.Row{Label: l.Label, Value: l.Text})
		}
		if l.Target == form.TargetEmail && l.Text != "" {
			c.ReplyTo = address.Key(l.Text)
		}
	}
	return c
}
