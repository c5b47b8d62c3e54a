package overview

import (
	_ "embed"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// Room sums up.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

//go:embed examples.json
var examples []byte

// Parts are what the service runs of the room.
func (*Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"news_seen": app.Nobody}}}
}

// Overview declares what is summed up.
func (r *Room) Overview(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "get-overview", Route: "GET /overview", Perm: auth.ViewContacts, Record: "overview",
		Doc: "Sum up today's appointments, requests, your tasks, new contacts and submissions, and what happened last.",
		Use: "Use it for a question such as what is on today. Answers with the five soonest requests and the ten newest timeline entries."}, r.getOverview)
	op.Add(set, op.Op{ID: "get-news", Route: "GET /me/news", Perm: auth.ViewContacts, Ability: "-",
		Doc: "Sum up what others made since the caller last looked, as far as the caller may see it."}, r.getNews)
	op.Add(set, op.Op{ID: "see-news", Undo: op.Undo{Never: op.OwnChoice}, Route: "POST /me/news/seen", Perm: auth.ViewContacts, Ability: "-", Unaudited: true,
		Doc: "Remember that the caller has looked at what is new."}, r.seeNews)
	op.Add(set, op.Op{ID: "get-contact-statistics", Route: "GET /statistics/contacts", Perm: auth.ViewContacts, Record: "contact",
		Doc: "Get how many contacts were made in each of the last weeks, and where they came from.",
		Use: "Use it for trends. For the contacts themselves use find-contacts. Weeks begin on Monday; the present one is not over."}, r.statistics)
}
