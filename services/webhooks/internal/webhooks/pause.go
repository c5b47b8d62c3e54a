package webhooks

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/services/webhooks/internal/signature"
)

// streak is how many attempts in a row have failed at a webhook, and what came of it.
type streak struct {
	id       uuid.UUID
	name     string
	url      string
	failures int
	paused   *string
	changed  bool
	// stopped is the reason of a pause that begins now.
	stopped string
}

// lockStreaks locks the webhooks of a batch, by id.
func lockStreaks(ctx context.Context, tx *db.Tx, batch []result) (map[uuid.UUID]*streak, error) {
	var ids []uuid.UUID
	for _, r := range batch {
		ids = append(ids, r.to.id)
	}
	rows, err := tx.Query(ctx, `select id, name, url, failures, paused from webhook where id = any($1) order by id for no key update`, ids)
	if err != nil {
		return nil, err
	}
	hooks := map[uuid.UUID]*streak{}
	var s streak
	_, err = pgx.ForEachRow(rows, []any{&s.id, &s.name, &s.url, &s.failures, &s.paused}, func() error {
		hook := s
		hooks[s.id] = &hook
		return nil
	})
	return hooks, err
}

// count adds a result, in the order in which they came. A pause ends only by switching the webhook on.
func (s *streak) count(r result) {
	switch {
	case s.paused != nil:
	case r.sealed:
		s.pause("secret")
	case r.ok():
		s.changed = s.changed || s.failures > 0
		s.failures = 0
	default:
		s.changed = true
		if s.failures++; s.failures >= signature.PauseAfter {
			s.pause("failures")
		}
	}
}

func (s *streak) pause(reason string) {
	s.paused, s.stopped, s.changed = &reason, reason, true
}

// keep writes a streak down; a pause that begins is told to the administrators, once.
func (s *service) keep(ctx context.Context, tx *db.Tx, hook *streak) error {
	if !hook.changed {
		return nil
	}
	_, err := tx.Exec(ctx, `update webhook set failures = $2, paused = $3 where id = $1`, hook.id, hook.failures, hook.paused)
	if err != nil || hook.stopped == "" {
		return err
	}
	for _, u := range s.Identity.Users() {
		if !slices.Contains(u.GetRoles(), auth.SiteAdmin) || u.GetEmail() == "" {
			continue
		}
		m, err := mail.Render(s.pausedMail(hook, mail.Person{Name: u.GetName(), Address: u.GetEmail()}))
		if err != nil {
			return err
		}
		if err := tx.Mail(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) pausedMail(hook *streak, to mail.Person) mail.Content {
	general := struct {
		Business struct {
			Name string `json:"name"`
		} `json:"business"`
	}{}
	s.Site.Read("general", &general)
	c := mail.Content{
		Kind: "webhook.paused", To: to, Business: general.Business.Name,
		Subject: "Webhook paused: " + hook.name,
		Rows:    []mail.Row{{Label: "Webhook", Value: hook.name}, {Label: "Address", Value: hook.url}},
		Closing: []string{"Events go on being kept for it. Switch the webhook on again to send what waits."},
		Footer:  []string{"You get this mail because you administer this site."},
	}
	if c.Business == "" {
		c.Business = "Frontdesk"
	}
	if hook.stopped == "secret" {
		c.Paragraphs = []string{"The signing secret of a webhook can no longer be read: the site's master key has changed. Nothing is sent to it until it has a new secret."}
	} else {
		c.Paragraphs = []string{"The last 20 attempts to reach a webhook failed, one after the other. It is paused, and nothing is sent to it."}
	}
	return c
}
