package endpoint

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
)

//go:embed text/*.json
var folder embed.FS

// readers gives the texts of mails in a language.
var readers = web.Readers(folder)

// The reasons of a pause.
const (
	pausedFailures = "failures" // too many failed attempts in a row
	pausedSecret   = "secret"   // the signing secret cannot be read
)

// Outcome is how an attempt ended, for the count of failures in a row.
type Outcome int

// The outcomes of an attempt.
const (
	Succeeded Outcome = iota
	Failed
	Unsigned // nothing was sent, because the secret cannot be read
)

// Streak counts the attempts in a row that failed at a webhook.
type Streak struct {
	id       uuid.UUID
	name     string
	url      string
	failures int
	paused   *string
	changed  bool
	// begun is the reason of a pause that begins with this batch.
	begun string
}

// LockStreaks locks webhooks in the order of their ids and returns their streaks by id. One that was deleted is left out.
func LockStreaks(ctx context.Context, tx *db.Tx, ids []uuid.UUID) (map[uuid.UUID]*Streak, error) {
	rows, err := tx.Query(ctx, `select id, name, url, failures, paused from webhook where id = any($1) order by id for no key update`, ids)
	if err != nil {
		return nil, fmt.Errorf("lock webhooks: %w", err)
	}
	streaks := map[uuid.UUID]*Streak{}
	var s Streak
	_, err = pgx.ForEachRow(rows, []any{&s.id, &s.name, &s.url, &s.failures, &s.paused}, func() error {
		found := s
		streaks[s.id] = &found
		return nil
	})
	return streaks, err
}

// Count adds an attempt; the caller adds them in the order in which they came. While a webhook is paused nothing counts: a
// pause ends only when a person switches the webhook on.
func (s *Streak) Count(o Outcome) {
	switch {
	case s.paused != nil:
	case o == Unsigned:
		s.pause(pausedSecret)
	case o == Succeeded:
		s.changed = s.changed || s.failures > 0
		s.failures = 0
	default:
		s.changed = true
		if s.failures++; s.failures >= signature.PauseAfter {
			s.pause(pausedFailures)
		}
	}
}

// EndStreaks queues the statement that sets the failures of webhooks to 0 at which an attempt succeeded. Those that are paused stay as
// they are.
func EndStreaks(b *pgx.Batch, ids []uuid.UUID) {
	b.Queue(`update webhook set failures = 0 where failures > 0 and paused is null and id = any($1)`, ids)
}

func (s *Streak) pause(reason string) {
	s.paused, s.begun, s.changed = &reason, reason, true
}

// SaveStreak writes a streak that changed. A pause that begins is mailed to every administrator, once.
func (r *Room) SaveStreak(ctx context.Context, tx *db.Tx, hook *Streak) error {
	if !hook.changed {
		return nil
	}
	_, err := tx.Exec(ctx, `update webhook set failures = $2, paused = $3 where id = $1`, hook.id, hook.failures, hook.paused)
	if err != nil || hook.begun == "" {
		return err
	}
	for _, u := range r.Identity.Users() {
		if !slices.Contains(u.GetRoles(), auth.SiteAdmin) || u.GetEmail() == "" {
			continue
		}
		m, err := mail.Render(r.pausedMail(hook, u))
		if err != nil {
			// The pause counts without its mail.
			slog.WarnContext(ctx, "mail about a paused webhook cannot be sent", "webhook", hook.id, "error", err)
			continue
		}
		if err := tx.Mail(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (r *Room) pausedMail(hook *Streak, to *proto.User) mail.Content {
	language, country := r.Site.Language(to)
	t := readers(language, country, r.Config.Zone)
	c := mail.Content{
		Kind: "webhook.paused", To: mail.Person{Name: to.GetName(), Address: to.GetEmail()}, Language: t.Language, Business: r.Site.Business(),
		Subject: t.T("paused_subject", "name", hook.name), Paragraphs: []string{t.T("paused_failures", "n", signature.PauseAfter)},
		Rows:    []mail.Row{{Label: t.T("paused_webhook"), Value: hook.name}, {Label: t.T("paused_address"), Value: hook.url}},
		Closing: []string{t.T("paused_closing")}, Footer: []string{t.T("paused_why")},
	}
	if hook.begun == pausedSecret {
		c.Paragraphs = []string{t.T("paused_secret")}
	}
	return c
}
