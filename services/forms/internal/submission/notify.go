package submission

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/libs/mail"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

// notify mails the answers to each of these addresses. An address that no mail can be sent to is left out and logged.
func (r *Room) notify(ctx context.Context, tx *db.Tx, f definition.Published, lines []form.Line, emails []string) error {
	for _, to := range emails {
		m, err := mail.Render(r.forms.Notification(address.Key(to), f.Name, lines))
		if errors.Is(err, mail.ErrContent) {
			slog.WarnContext(ctx, "notification is not sent", "form", f.ID, "error", err)
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

// notifyOwner tells who owns the contact of a completed submission of it, unless the form has mailed it there already.
func (r *Room) notifyOwner(ctx context.Context, tx *db.Tx, formID int64, sub submission) error {
	f, err := r.forms.Any(ctx, tx, formID)
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
	user, _ := r.Identity.User(*owner)
	if slices.ContainsFunc(f.Definition.Notify.Emails, func(had string) bool { return address.Key(had) == address.Key(user.GetEmail()) }) {
		return nil
	}
	sent := &proto.Notice_Sent{Id: sub.ID.String(), Form: f.Name, ContactId: sub.Contact.V.ID.String(), ReplyTo: form.ReplyTo(lines)}
	for _, l := range lines {
		sent.Lines = append(sent.Lines, &proto.Notice_Line{Label: l.Label, Text: l.Text, Long: l.Kind == form.KindLongText})
	}
	return tx.Tell(ctx, "submission/"+sub.ID.String(), &proto.Notice{App: r.Service, Submission: sent,
		To: []*proto.Notice_Addressee{{UserId: *owner, Kind: "team_submission", How: "submitted"}}})
}
