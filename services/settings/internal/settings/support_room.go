package settings

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"time"
)

func (s *service) supportParts() app.Parts {
	return app.Parts{Published: []app.Published{documentRecord(proto.SiteTopic, docTelemetry, docTelemetry, publishTelemetry)}}
}

// firstSupport are the documents of a new site.
func firstSupport() map[string]any {
	return map[string]any{docTelemetry: telemetryDoc{}, docSetup: Setup{}}
}

// telemetryOps declares the operations on what a person has agreed to send.
func (s *service) telemetryOps(set *op.Set) {
	op.Add(set, op.Op{ID: "get-telemetry", Route: "GET /settings/telemetry", Perm: auth.ManageCRM, Doc: "Get what a person has agreed to send, and exactly what that is.",
		Use: "Only a person can change it."}, s.getTelemetry)
	op.Add(set, op.Op{ID: "update-telemetry", Route: "PATCH /settings/telemetry", Perm: auth.ManageCRM, PersonOnly: true, Ability: "-", Record: "settings",
		Doc: "Agree to statistics or a company profile, or withdraw that. Only a person in the app can."}, s.updateTelemetry)
	op.Add(set, op.Op{ID: "confirm-telemetry", Route: "POST /settings/telemetry/confirm", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "settings",
		Channel: db.ChannelEmail, Limits: codeAttempts, LimitKey: "token", Doc: "Confirm the company profile with the token of a mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired}}, confirmTelemetry)
}

// supportOps declares the operations on the guide for a new site and on support.
func (s *service) supportOps(set *op.Set) {
	op.Add(set, op.Op{ID: "get-setup", Route: "GET /setup", Perm: auth.ManageCRM, Doc: "Get how far the guide for a new site has come.",
		Use: "Answers with done and dismissed."}, getSetup)
	op.Add(set, op.Op{ID: "update-setup", Route: "PATCH /setup", Perm: auth.ManageCRM, Idempotent: true, Record: "settings", Doc: "Mark the guide for a new site as done or dismissed.",
		Use: "It changes nothing but the guide. Answers with done and dismissed."}, updateSetup)
	op.Add(set, op.Op{ID: "get-support", Route: "GET /support", Perm: auth.ViewContacts, Doc: "Get what goes along with a request for support.",
		Use: "Answers with versions and environment, without anything about people."}, s.getSupport)
	op.Add(set, op.Op{ID: "request-support", Route: "POST /support/requests", Perm: auth.ViewContacts, PersonOnly: true, Ability: "-", Record: "support_request",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Send a request for support. Only a person in the app can."}, s.requestSupport)
	op.Add(set, op.Op{ID: "send-deactivation-feedback", Route: "POST /feedback/deactivate", Perm: op.SignedIn, Ability: "-", Record: "feedback",
		Limits: []db.Limit{{N: 5, Per: time.Minute}}, Doc: "Say why the service is switched off."}, s.deactivationFeedback)
}
