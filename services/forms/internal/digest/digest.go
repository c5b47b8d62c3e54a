package digest

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
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
	Form      string
	Emails    []string // that the form notifies
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
		to, sorters := map[string][]heldBack{}, r.forms.Managers()
		for _, one := range found {
			if len(one.Emails) == 0 {
				one.Emails = sorters
			}
			for _, email := range one.Emails {
				to[address.Key(email)] = append(to[address.Key(email)], one)
			}
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
	rows, err := tx.Query(ctx, `select f.name as form, array(select e #>> '{}' from jsonb_path_query(f.definition, '$.notify.emails[*]') e where jsonb_typeof(e) = 'string') as emails, h.email, coalesce(h.spam_reason, '') as reason, h.created_at from submission h join form f on f.id = h.form_id
		where h.status = 'spam' and h.created_at >= $1 and h.created_at < $2 order by h.created_at desc, h.id desc`, since, until)
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

// spamDigest is the mail about new spam. What visitors wrote is not in it: a mail with the words of spam is spam to others.
func (r *Room) spamDigest(to string, found []heldBack) mail.Content {
	portal := struct {
		Path string `json:"path"`
	}{"team"}
	r.Site.Read("portal", &portal)
	language, country := r.forms.Language(to)
	t := readers(language, country, r.Config.Zone)
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
