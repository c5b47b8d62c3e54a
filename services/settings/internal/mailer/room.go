package mailer

import (
	"context"
	_ "embed"
	"log/slog"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/site"
)

// Room keeps mails and the links in them.
type Room struct {
	*app.Kit
	site *site.Room
}

func New(k *app.Kit, s *site.Room) *Room { return &Room{k, s} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	workers := []app.Worker{{Name: "mail", AtOnce: senders, Pause: 250 * time.Millisecond, Slice: r.sendNext}}
	if r.Config.SMTPURL == "" {
		slog.Warn("no SVC_SMTP_URL: mails wait in the queue")
		workers = nil
	}
	for _, status := range outcomes {
		endedMails.Add(context.Background(), status, 0) // a count that begins with its first mail has no increase
	}
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.MailTopic, Handle: bus.On(proto.KindMail, r.onMail)}},
		Personal: app.Personal{Holds: map[string]app.Holds{"mail": app.People, "link": app.Nobody}, Forget: forget},
		Restored: r.cancelWaiting,
		Jobs:     []app.Job{{Name: "mails", Every: 30 * time.Second, Run: r.endSending}},
		Workers:  workers,
		Gauges: []app.Gauge{
			{Name: "mail.waiting", Unit: "{mail}", Doc: "mails that wait, by status", Label: "status",
				SQL: `select s, (select count(*) from mail where status = s and status in ('queued', 'retrying')) from unnest(array['queued', 'retrying']) s`},
			{Name: "mail.age", Unit: "s", Doc: "age of the oldest mail that waits",
				SQL: `select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0) from mail where status in ('queued', 'retrying')`},
			{Name: "mail.unknown", Unit: "{mail}", Doc: "mails of the last day of which nobody can say whether they arrived",
				SQL: `select count(*) from mail where status = 'unknown' and created_at > now() - interval '1 day'`},
		},
	}
}

//go:embed examples.json
var examples []byte

// Operations declares the operations on mails.
func (r *Room) Operations(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-mails", Route: "GET /mails", Perm: auth.ManageCRM, Ability: "-", Doc: "List the mails of the last 30 days and their outcome, newest first."}, list)
	op.Add(set, op.Op{ID: "get-mail", Route: "GET /mails/{id}", Perm: auth.ManageCRM, Ability: "-",
		Doc: "Get a mail with what it said, as long as it is listed. The tokens of its links are not shown, nor the text of a mail about an account."}, see)
	op.Add(set, op.Op{ID: "resend-mail", Undo: op.Undo{Never: op.WentOut}, Route: "POST /mails/{id}/resend", Perm: auth.ManageCRM, Ability: "-", Record: "mail", Outside: true,
		Doc:   "Send a mail once more, as it was. Its links get new tokens.",
		Fails: op.Fails{"svc_invalid_status": "The mail is on its way.", "svc_conflict no_text": failNoText, "svc_conflict ask_again": failAsk, "svc_conflict expired": failPurpose}}, resend)
}
