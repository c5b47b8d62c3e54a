package support

import (
	"context"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/site"
)

// Room keeps what concerns the makers of the product.
type Room struct {
	*app.Kit
	mails       *mailer.Room
	site        *site.Room
	certificate certificate
}

func New(k *app.Kit, mails *mailer.Room, s *site.Room) *Room {
	return &Room{Kit: k, mails: mails, site: s}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Published: []app.Published{document.Record(proto.SiteTopic, document.Telemetry, document.Telemetry, publishTelemetry)},
		Run:       []func(context.Context){r.watchCertificate},
	}
}

// First are the documents of a new site.
func First() map[string]any {
	return map[string]any{document.Telemetry: telemetryDoc{}, document.Setup: guide{}}
}

// Telemetry declares the operations on what a person has agreed to send.
func (r *Room) Telemetry(set *op.Set) {
	op.Add(set, op.Op{ID: "get-telemetry", Route: "GET /settings/telemetry", Perm: auth.ManageCRM, Doc: "Get what a person has agreed to send, and exactly what that is.",
		Use: "Only a person can change it."}, r.getTelemetry)
	op.Add(set, op.Op{ID: "update-telemetry", Undo: op.Undo{Never: op.OwnChoice}, Versioned: true, Route: "PATCH /settings/telemetry", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "settings",
		Doc: "Agree to statistics or a company profile, or withdraw that. Only a person in the app can."}, r.updateTelemetry)
	op.Add(set, op.Op{ID: "confirm-telemetry", Route: "POST /settings/telemetry/confirm", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "settings",
		Channel: db.ChannelEmail, Limits: secrets.Attempts, LimitKey: "token", Doc: "Confirm the company profile with the token of a mail.",
		Fails: op.Fails{"svc_invalid_token": mailer.FailLink, "svc_token_expired": mailer.FailExpired}}, confirmTelemetry)
}

// Support declares the operations on the guide for a new site and on support.
func (r *Room) Support(set *op.Set) {
	op.Add(set, op.Op{ID: "get-setup", Route: "GET /setup", Perm: auth.ManageCRM, Doc: "Get how far the guide for a new site has come, and whether the installation is set up as it has to be.",
		Use: "Answers with done, dismissed and checks: the public address, the proxy before the site, mail, time zone, disk. hint says what to change, in the caller's language."}, r.getSetup)
	op.Add(set, op.Op{ID: "update-setup", Undo: op.Undo{Never: op.NothingStays}, Route: "PATCH /setup", Perm: auth.ManageCRM, Idempotent: true, Record: "settings", Doc: "Mark the guide for a new site as done or dismissed.",
		Use: "It changes nothing but the guide. Answers as get-setup does."}, r.updateSetup)
	op.AddOutside(set, op.Op{ID: "send-test-mail", Undo: op.Undo{Never: op.WentOut}, Route: "POST /settings/mail-test", Perm: auth.ManageCRM, Ability: "-", Record: "settings", Limits: []db.Limit{{N: 5, Per: time.Hour}},
		Doc:   "Send the caller a mail at once, and answer with what the mail server said, within 15 seconds. It is not tried again.",
		Fails: op.Fails{"svc_not_found": "The user is gone by now."}}, r.sendTestMail)
	op.Add(set, op.Op{ID: "get-support", Route: "GET /support", Perm: auth.ViewContacts, Doc: "Get what goes along with a request for support.",
		Use: "Answers with versions and environment, without anything about people."}, r.getSupport)
	op.Add(set, op.Op{ID: "request-support", Undo: op.Undo{Never: op.WentOut}, Route: "POST /support/requests", Perm: auth.ViewContacts, PersonOnly: true, Ability: "-", Record: "support_request",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Send a request for support. Only a person in the app can."}, r.requestSupport)
	op.Add(set, op.Op{ID: "send-deactivation-feedback", Undo: op.Undo{Never: op.WentOut}, Route: "POST /feedback/deactivate", Perm: op.SignedIn, Ability: "-", Record: "feedback",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Say why the service is switched off."}, r.deactivationFeedback)
}
