package submission

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
	"frontdesk/services/forms/internal/form"
)

//go:embed text/*.json
var texts embed.FS

// readers gives the texts of mails in a language.
var readers = web.Readers(texts)

// kindSpamDigest is the kind of the mail about new spam.
const kindSpamDigest = "form.spam_digest"

const (
	// digestFrom is the hour of the business's day from which the digest goes out.
	digestFrom = 7
	// digestRows is how many submissions one digest lists.
	digestRows = 20
	// settles is for how long a submission may still be on its way into the table after the time that it has.
	settles = time.Minute
)

// heldBack is a submission that was taken for spam.
type heldBack struct {
	FormID    int64
	Form      string
	Email     string
	Reason    string
	CreatedAt time.Time
}

// mailSpam mails the team what was taken for spam since the last digest, once a day and only if there is any: to the addresses that the form
// notifies, else to those who may sort it.
func (r *Room) mailSpam(ctx context.Context) error {
	if !r.Apps.On(form.AppID) {
		return nil
	}
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		found, err := r.newSpam(ctx, tx)
		if err != nil || len(found) == 0 {
			return err
		}
		to, err := r.readersOf(ctx, tx, found)
		if err != nil {
			return err
		}
		for email, theirs := range to {
			m, err := mail.Render(r.spamDigest(email, theirs))
			if errors.Is(err, mail.ErrContent) {
				slog.WarnContext(ctx, "digest of spam is not sent", "error", err)
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
	})
}

// newSpam is the spam since the last digest, and notes that it is in one; nothing if today had its digest.
func (r *Room) newSpam(ctx context.Context, tx *db.Tx) ([]heldBack, error) {
	now := tx.Now.In(r.Config.Zone)
	if now.Hour() < digestFrom {
		return nil, nil
	}
	today, until := now.Format(time.DateOnly), tx.Now.Add(-settles)
	if _, err := tx.Exec(ctx, `insert into spam_digest (day, until) values ($1::date - 1, $2) on conflict do nothing`, today, until.AddDate(0, 0, -1)); err != nil {
		return nil, err
	}
	var since time.Time
	err := tx.QueryRow(ctx, `select until from spam_digest where day < $1 for update`, today).Scan(&since)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `select h.form_id, f.name as form, h.email, coalesce(h.spam_reason, '') as reason, h.created_at from submission h join form f on f.id = h.form_id
		where h.status = $1 and h.created_at >= $2 and h.created_at < $3 order by h.created_at desc, h.id desc`, statusSpam, since, until)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[heldBack])
	if err != nil || len(found) == 0 {
		return nil, err
	}
	_, err = tx.Exec(ctx, `update spam_digest set day = $1, until = $2`, today, until)
	return found, err
}

// readersOf are those who are mailed about spam, by address.
func (r *Room) readersOf(ctx context.Context, tx *db.Tx, found []heldBack) (map[string][]heldBack, error) {
	of := map[int64][]string{}
	to := map[string][]heldBack{}
	for _, s := range found {
		emails, known := of[s.FormID]
		if !known {
			f, err := r.forms.Any(ctx, tx, s.FormID)
			if err != nil {
				return nil, fmt.Errorf("form %d: %w", s.FormID, err)
			}
			if emails = f.Definition.Notify.Emails; len(emails) == 0 {
				emails = r.sorters()
			}
			of[s.FormID] = emails
		}
		for _, email := range emails {
			key := address.Key(email)
			to[key] = append(to[key], s)
		}
	}
	return to, nil
}

// sorters are the addresses of the people who may say that something is no spam.
func (r *Room) sorters() (emails []string) {
	for _, u := range r.Identity.Team() {
		if !u.GetInvited() && r.Identity.Rights(u.GetId())[auth.ManageForms] {
			emails = append(emails, u.GetEmail())
		}
	}
	return emails
}

// spamDigest is the mail about new spam. What visitors wrote is not in it: a mail with the words of spam is spam to others.
func (r *Room) spamDigest(to string, found []heldBack) mail.Content {
	var general struct {
		Country string `json:"country"`
	}
	r.Site.Read("general", &general)
	portal := struct {
		Path string `json:"path"`
	}{"team"}
	r.Site.Read("portal", &portal)
	t := readers(lang.OfCountry(general.Country), general.Country, r.Config.Zone)
	c := mail.Content{
		Kind: kindSpamDigest, To: mail.Person{Address: to}, Language: t.Language, Business: r.Site.Business(),
		Subject: t.N("spam_subject", len(found)), Paragraphs: []string{t.N("spam_text", len(found))},
		Buttons: []mail.Link{{Text: t.T("spam_see"), URL: r.Config.PublicURL + "/" + portal.Path + "/submissions?status=spam"}},
		Footer:  []string{t.T("spam_why")},
	}
	for _, s := range found[:min(len(found), digestRows)] {
		rule, _, _ := strings.Cut(s.Reason, ":")
		c.Rows = append(c.Rows, mail.Row{Label: t.Date(s.CreatedAt) + ", " + t.Clock(s.CreatedAt),
			Value: strings.Join(strings.FieldsFunc(s.Form+"\n"+mail.Unlinked(s.Email)+"\n"+t.T("spam_rule_"+rule), func(r rune) bool { return r == '\n' }), " · ")})
	}
	if more := len(found) - digestRows; more > 0 {
		c.Closing = []string{t.N("spam_more", more)}
	}
	return c
}
