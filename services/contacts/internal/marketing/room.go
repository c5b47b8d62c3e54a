package marketing

import (
	_ "embed"
	"net/http"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	"frontdesk/services/contacts/internal/contact"
	pages "frontdesk/services/contacts/internal/marketing/web"
)

// Room keeps consents and marketing subscriptions.
type Room struct {
	*app.Kit
	hashKey []byte // of the hashes of addresses that unsubscribed
}

// New makes the room.
func New(k *app.Kit) *Room {
	return &Room{Kit: k, hashKey: k.Keys.Lasting("unsubscribed addresses")}
}

// Parts are what the service runs of the room. Its pages send what visitors press to api, the handler of all operations.
func (r *Room) Parts(api http.Handler) app.Parts {
	return app.Parts{
		PagePaths: pages.Paths,
		Pages:     pages.Pages(web.Site{Read: r.Site.Read, On: r.Apps.On, PublicURL: r.Config.PublicURL, Zone: r.Config.Zone, API: api}),
		Personal:  app.Personal{Holds: map[string]app.Holds{"consent": app.People, "marketing_link": app.People, "unsubscribed": app.People}},
	}
}

//go:embed examples.json
var examples []byte

// When a link is refused, see op.Fails.
const (
	failLink    = "The link is not one of ours."
	failExpired = "The link was used, replaced or is too old."
)

// OfContact declares what the team does with the consents of a contact.
func (r *Room) OfContact(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "get-contact-consents", Route: "GET /contacts/{id}/consents", Perm: auth.ViewContacts, Record: "contact",
		Doc: "List what a contact consented to, oldest first.",
		Use: "Use it to show which words a person agreed to, when, and whether the address was verified."}, r.listConsents)
	op.Add(set, op.Op{ID: "request-marketing-consent", Undo: op.Undo{Never: op.WentOut}, Route: "POST /contacts/{id}/marketing/request", Perm: auth.EditContacts, Record: "contact",
		Outside: true, Doc: "Mail a contact the question whether they want marketing mails; only their confirmation subscribes them.",
		Use: "The person gets a mail, at most one a day. A contact that has unsubscribed needs a reason. Ask before you use it. Answers with the contact, whose marketing status becomes pending.",
		Fails: op.Fails{
			"svc_invalid_status": "The contact is subscribed already, or in the trash.",
			"svc_rate_limited":   "The contact was asked within the last day."}}, r.requestMarketing)
	op.Add(set, op.Op{ID: "unsubscribe-contact", Undo: op.Undo{Never: op.Consent}, Route: "POST /contacts/{id}/marketing/unsubscribe", Perm: auth.EditContacts, Record: "contact",
		Doc:   "Unsubscribe a contact from all marketing at once.",
		Use:   "Use it when a person asks to get no more mails. Only the person can undo it, by confirming a mail. Answers with the contact.",
		Fails: op.Fails{"svc_invalid_status": contact.FailTrashed}}, r.unsubscribeContact)
}

// Links declares what the links in mails do.
func (r *Room) Links(set *op.Set) {
	tokens := []db.Limit{{N: 10, Per: time.Minute}}
	op.Add(set, op.Op{ID: "confirm-marketing", Route: "POST /marketing/confirm", Perm: op.Public, Record: "contact", Channel: db.ChannelEmail,
		Limits: tokens, LimitKey: "tokens", Doc: "Subscribe with the token of the confirmation mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired, "svc_not_found": "The contact is gone by now."}}, r.confirmMarketing)
	op.Add(set, op.Op{ID: "leave-marketing", Route: "POST /marketing/unsubscribe", Perm: op.Public, Record: "contact", Channel: db.ChannelEmail,
		Limits: tokens, LimitKey: "tokens", Doc: "Unsubscribe with the token of a marketing mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_not_found": "The contact is gone by now."}}, r.leaveMarketing)
}
