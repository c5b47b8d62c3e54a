package notices

import (
	"embed"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/site"
)

//go:embed text/*.json
var texts embed.FS

// readers gives the texts of mails in a language.
var readers = web.Readers(texts)

// Room keeps what people are to be told, and how they want it.
type Room struct {
	*app.Kit
	site *site.Room
}

func New(k *app.Kit, s *site.Room) *Room { return &Room{k, s} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.MailTopic, Handle: bus.On(proto.KindTellTeam, r.onNotice), Later: r.mailNow}},
		Personal: app.Personal{Holds: map[string]app.Holds{"notice": app.People, "notification": app.Nobody}, Forget: forget},
		Restored: r.dropWaiting,
		Jobs: []app.Job{
			{Name: "notices", Every: 3 * time.Second, Run: r.mailDue},
			{Name: "agendas", Every: 30 * time.Second, Run: r.askAgendas},
		},
		Gauges: []app.Gauge{{Name: "notice.waiting", Unit: "{notice}", Doc: "notices to the team that are in no mail yet", SQL: `select count(*) from notice`}},
	}
}

// Mine declares the operations by which callers say what they are told.
func (r *Room) Mine(set *op.Set) {
	op.Add(set, op.Op{ID: "get-notifications", Route: "GET /me/notifications", Perm: auth.ViewContacts, Ability: "-",
		Doc: "Get what the caller is mailed of what others do, and when."}, r.get)
	op.Add(set, op.Op{ID: "update-notifications", Undo: op.Undo{Never: op.OwnChoice}, Versioned: true, Route: "PATCH /me/notifications", Perm: auth.ViewContacts, Ability: "-", Record: "user",
		Doc: "Choose what the caller is mailed of what others do, and when.", Fails: op.Fails{"svc_not_found": "The user is gone by now."}}, r.update)
}
