package assistants

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bell"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/apps"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/mcp"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/sessions"
)

// Room keeps assistants and their connections.
type Room struct {
	*app.Kit
	apps   *apps.Room
	people *people.Room
	// changes happen to what decides which abilities a caller has, decided are the ends of approvals.
	changes, decided bell.Bell
	// stopping is closed when the process has to stop.
	stopping <-chan struct{}
	// client reads how programs describe themselves.
	client  *http.Client
	adapter *mcp.Adapter
}

// New makes the room, whose streams end when stopping is closed and say when approvals have ended.
func New(k *app.Kit, a *apps.Room, p *people.Room, approvals mcp.Approvals, stopping <-chan struct{}) *Room {
	r := &Room{Kit: k, apps: a, people: p, stopping: stopping}
	r.client, r.adapter = fetch.Client(r.fetch()), r.newAdapter(approvals)
	r.watchAbilities()
	approvals.Watch(r.decided.Ring)
	return r
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.SettingsCommandTopic, Handle: bus.On(proto.KindKeySeen, onConnectionSeen)}},
		Personal: app.Personal{Holds: map[string]app.Holds{"assistant": app.Nobody, "connection": app.Nobody, "access_token": app.Nobody}},
		Published: []app.Published{
			document.Record(proto.SiteTopic, document.Assistants, document.Assistants, publishExposure),
			app.Records(app.Rows[uuid.UUID]{Topic: proto.IdentityTopic, Table: "access_token", Prefix: auth.TokenKey(""), Where: "expires_at > now()",
				Unversioned: true, EndForGood: true, Emit: publishTokens}),
		},
		Run: []func(context.Context){r.hearCancelled},
		Jobs: []app.Job{
			{Name: "connections", Every: time.Minute, Run: r.endExpiredConnections},
			{Name: "assistants", Every: time.Hour, Run: r.deleteUnusedAssistants},
		},
	}
}

// First is the document of a new site.
func First() map[string]any {
	return map[string]any{document.Assistants: app.Assistants{Abilities: map[string]bool{}}}
}

// When operations are refused, see op.Fails.
const (
	failAPIAccess    = "The role of the caller does not reach the API."
	failAbilityTaken = "The person who connected the assistant has taken this ability away from it."
)

// checks are limited per address, because they may read a description at the address that the caller names.
var checks = []db.Limit{{N: 60, Per: time.Minute}}

// Connections declares the operations on the caller's connected assistants. What follows a consent is OAuth: see oauth.go.
func (r *Room) Connections(set *op.Set) {
	op.Add(set, op.Op{ID: "list-connections", Route: "GET /me/connections", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Doc: "List the assistants that the caller has connected."}, listConnections)
	op.AddOutside(set, op.Op{ID: "check-connection", Route: "GET /me/connections/check", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Limits: checks,
		Doc:   "Check what an assistant asks for before the caller agrees to it.",
		Fails: op.Fails{"svc_conflict api_access": failAPIAccess}}, r.checkConnection)
	op.AddOutside(set, op.Op{ID: "connect-assistant", Undo: op.Undo{Never: op.Access}, Route: "POST /me/connections", Perm: op.SignedIn, PersonOnly: true, Status: http.StatusCreated, Ability: "-", Record: "connection",
		Doc: "Agree that an assistant acts in the caller's name. The answer says where to lead the caller now. The session needs to have seen the password within ten minutes.",
		Fails: op.Fails{
			"svc_conflict api_access": failAPIAccess,
			"svc_conflict too_many":   "The caller has as many connections as one can have.",
			"svc_password_required":   sessions.FailPassword}}, r.connect)
	op.Add(set, op.Op{ID: "update-connection", Undo: op.Undo{Never: op.Access}, Route: "PATCH /me/connections/{id}", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "connection", Idempotent: true,
		Doc: "Choose which calls of an assistant wait until a person approves them."}, updateConnection)
	op.Add(set, op.Op{ID: "delete-connection", Undo: op.Undo{Never: op.Access}, Route: "DELETE /me/connections/{id}", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "connection",
		Doc: "End the connection of an assistant, and all of its tokens."}, deleteConnection)
}

// Exposure declares the operations on what assistants may use.
func (r *Room) Exposure(set *op.Set) {
	op.Add(set, op.Op{ID: "get-ai-status", Route: "GET /integrations/ai", Perm: auth.ManageIntegrations, Doc: "List every ability, whether assistants may use it and whether it only reads.",
		Use: "Use it when an ability is refused as unknown: mcp says whether it is exposed. A person changes that."}, r.aiStatus)
	op.Add(set, op.Op{ID: "update-ai-exposure", Undo: op.Undo{Never: op.Access}, Versioned: true, Route: "PATCH /integrations/ai", Perm: auth.ManageIntegrations, PersonOnly: true, Idempotent: true, Ability: "-", Record: "settings",
		Doc: "Choose which abilities assistants may use, and which of their calls wait until a person approves them. Only a person in the app can."}, r.updateAI)
}

// Abilities declares the operations on abilities; each service runs its own. An ability has routes of its own in its service,
// which go before these.
func (r *Room) Abilities(set *op.Set) {
	op.AddOutside(set, op.Op{ID: "list-abilities", Route: "GET /abilities", Perm: op.SignedIn, ForAssistants: true, Ability: "-", Doc: "List abilities that are exposed to assistants."}, r.listAbilities)
	op.AddOutside(set, op.Op{ID: "get-ability", Route: "GET /abilities/svc/{name}", Perm: op.SignedIn, ForAssistants: true, Ability: "-",
		Doc: "Get one ability that is exposed to assistants.", Fails: op.Fails{"svc_forbidden ability": failAbilityTaken}}, r.noAbility(""))
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		op.AddOutside(set, op.Op{ID: "run-ability-" + strings.ToLower(method), Route: method + " /abilities/svc/{name}/run", Perm: op.SignedIn, ForAssistants: true,
			Ability: "-", Doc: "Run an ability: GET when it only reads, DELETE when it destroys and may be repeated, else POST.",
			Fails: op.Fails{"svc_method_not_allowed": "The ability runs with another method, which data.allow names.",
				"svc_forbidden ability": failAbilityTaken, op.AnyRefusal: "A refusal of the operation that the ability runs."}}, r.noAbility(method))
	}
}
