package mailer

import (
	"context"
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
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.MailTopic, Handle: bus.On(proto.KindMail, r.onMail)}},
		Personal: app.Personal{Holds: map[string]app.Holds{"mail": app.People, "link": app.Nobody}, Forget: forget},
		Restored: r.cancelWaiting,
		Jobs:     []app.Job{{Name: "mails", Every: 30 * time.Second, Run: r.endSending}},
		Run:      []func(context.Context){r.send},
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

// Operations declares the operations on mails.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "list-mails", Route: "GET /mails", Perm: auth.ManageCRM, Ability: "-", Doc: "List the mails of the last 30 days and their outcome, newest first."}, list)
}
