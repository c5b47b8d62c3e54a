package assistants

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/apps"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/mcp"
	"frontdesk/services/settings/internal/site"
	"frontdesk/services/settings/internal/typed"
)

// aIStatus, named as its schema, is what assistants can do here, and what connecting one takes.
type aIStatus struct {
	AbilitiesAPI bool            `json:"abilities_api" doc:"Abilities answer over HTTP."`
	Adapter      bool            `json:"adapter" doc:"A server of the Model Context Protocol answers."`
	ConnectRoles []string        `json:"connect_roles" doc:"Roles whose application passwords work."`
	Abilities    []abilityStatus `json:"abilities" doc:"All abilities of the apps that are on."`
	Connect      connect         `json:"connect"`
	document.Stamp
}

// abilityStatus is an ability and whether assistants may use it.
type abilityStatus struct {
	Name        string       `json:"name" doc:"Its name, svc/ in front."`
	Label       string       `json:"label" doc:"Its name for people."`
	MCP         bool         `json:"mcp" doc:"Assistants may use it."`
	Default     bool         `json:"default" doc:"Assistants may use it while nobody has decided otherwise."`
	ReadOnly    bool         `json:"readonly" doc:"It changes nothing."`
	Destructive bool         `json:"destructive" doc:"It deletes or overwrites."`
	Approval    op.Approvals `json:"approval" doc:"Which of its calls wait until a person approves them, whichever assistant makes them."`
}

// RecordID names the document in the audit log.
func (aIStatus) RecordID() string { return document.Assistants }

// connect is what connecting an assistant takes.
type connect struct {
	URL            string `json:"url" doc:"Where abilities are listed."`
	MCPURL         string `json:"mcp_url" doc:"What an assistant that speaks the Model Context Protocol connects to. Add ?tools=all, or ?tools= and groups, for a tool per ability."`
	Authentication string `json:"authentication" doc:"How an assistant proves who it is."`
	PasswordsURL   string `json:"passwords_url" doc:"POST with assistant true makes an application password for it."`
}

// abilities are those whose operation needs no app, or one that is on, sorted by name. A service that is an app may have both.
func (r *Room) abilities() []mcp.Ability {
	var all []mcp.Ability
	for _, m := range r.apps.Announced() {
		for _, a := range m.GetAbilities() {
			if a.GetApp() == "" || r.Apps.On(a.GetApp()) {
				all = append(all, mcp.Ability{Ability: a, Group: m.GetService()})
			}
		}
	}
	slices.SortFunc(all, func(a, b mcp.Ability) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

// exposed are the abilities that assistants may use.
func (r *Room) exposed() []mcp.Ability {
	return slices.DeleteFunc(r.abilities(), func(a mcp.Ability) bool { return !r.Site.Exposed(a.GetName(), a.GetExposed()) })
}

// Adapter serves the Model Context Protocol.
func (r *Room) Adapter() http.Handler { return r.adapter }

// cancelChannel is where replicas tell each other which calls of assistants are cancelled.
const cancelChannel = "settings_cancelled"

func (r *Room) newAdapter(approvals mcp.Approvals) *mcp.Adapter {
	return mcp.New(mcp.Options{PublicURL: r.Config.PublicURL,
		Gateway: r.Config.Gateway(), Auth: r.Auth, Abilities: r.exposed, Changed: r.changes.Next, Stopping: r.stopping, Key: r.Keys.For("mcp sessions"),
		Approvals: approvals, Decided: r.decided.Next,
		Elsewhere: func(ctx context.Context, call string) error {
			return r.DB.Do(ctx, func(tx *db.Tx) error { return tx.Notify(ctx, cancelChannel, call) })
		}})
}

// hearCancelled ends the calls that clients cancel at another replica, until ctx ends. One that is missed while the connection is lost runs to its end.
func (r *Room) hearCancelled(ctx context.Context) {
	r.DB.Listen(ctx, cancelChannel, func(context.Context) error { return nil }, func(_ context.Context, call string) error {
		r.adapter.Cancel(call)
		return nil
	})
}

// watchAbilities makes changes be told of all that decides which abilities a caller has.
func (r *Room) watchAbilities() {
	r.Apps.Watch(r.changes.Ring)
	r.apps.Watch(r.changes.Ring)
	r.Identity.Table.Watch(func(string, *proto.Identity, bool) { r.changes.Ring() })
	r.Site.Table.Watch(func(key string, _ json.RawMessage, _ bool) {
		if key == document.Assistants {
			r.changes.Ring()
		}
	})
}

func (r *Room) aiStatus(ctx context.Context, tx *db.Tx, _ op.None) (aIStatus, error) {
	reach, _, err := site.APIRoles(ctx, tx)
	if err != nil {
		return aIStatus{}, err
	}
	var decided app.Assistants
	version, err := document.Read(ctx, tx, document.Assistants, &decided)
	return r.aiStatusWith(reach, decided, version), err
}

func (r *Room) aiStatusWith(reach []string, decided app.Assistants, version int64) aIStatus {
	out := aIStatus{Stamp: document.At(version), AbilitiesAPI: true, Adapter: true, ConnectRoles: reach, Abilities: []abilityStatus{}, Connect: connect{
		URL: r.Config.PublicURL + "/v1/abilities", MCPURL: r.Config.PublicURL + mcp.Path,
		Authentication: "HTTP Basic with a login and an application password that is marked for assistants",
		PasswordsURL:   r.Config.PublicURL + "/v1/me/application-passwords"}}
	for _, a := range r.abilities() {
		status := abilityStatus{a.GetName(), a.GetLabel(), a.GetExposed(), a.GetExposed(), a.GetReadOnly(), a.GetDestructive(), decided.Approval[a.GetName()].OrNever()}
		if exposed, ok := decided.Abilities[a.GetName()]; ok {
			status.MCP = exposed
		}
		out.Abilities = append(out.Abilities, status)
	}
	return out
}

// mostAbilities is how many abilities one change may be about.
const mostAbilities = 500

// updateAI decides which abilities assistants may use, and which of their calls wait; all others stay as they are. It counts in every service within seconds, for
// assistants and for everybody else at /abilities. 400 for an ability that no service has.
func (r *Room) updateAI(ctx context.Context, tx *db.Tx, in struct {
	Abilities map[string]bool         `json:"abilities,omitempty" doc:"Abilities by name, such as svc/create-webhook: true exposes one to assistants, false hides it."`
	Approval  map[string]op.Approvals `json:"approval,omitempty" doc:"Abilities by name, and which of their calls wait until a person approves them, whichever assistant makes them."`
}) (aIStatus, error) {
	problems := fault.Problems{}
	for field, names := range map[string][]string{"abilities": slices.Sorted(maps.Keys(in.Abilities)), "approval": slices.Sorted(maps.Keys(in.Approval))} {
		if len(names) > mostAbilities {
			problems.Add(field, fault.NewProblem("too_many", "must be fewer", "max", mostAbilities))
		}
		if i := slices.IndexFunc(names, func(name string) bool { return !r.isAbility(name) }); i >= 0 {
			problems.Add(field, typed.Unknown("ability", names[i]))
		}
	}
	if err := problems.Err(); err != nil {
		return aIStatus{}, err
	}
	reach, _, err := site.APIRoles(ctx, tx)
	if err != nil {
		return aIStatus{}, err
	}
	decided, version, err := document.Change(ctx, tx, document.Assistants, publishExposure, func(doc *app.Assistants) error {
		if doc.Abilities == nil {
			doc.Abilities = map[string]bool{}
		}
		maps.Copy(doc.Abilities, in.Abilities)
		if doc.Approval == nil {
			doc.Approval = map[string]op.Approvals{}
		}
		maps.Copy(doc.Approval, in.Approval)
		return nil
	})
	return r.aiStatusWith(reach, decided, version), err
}

// isAbility reports whether a service has this ability, whatever its app.
func (r *Room) isAbility(name string) bool {
	return slices.ContainsFunc(r.apps.Announced(), func(m *apps.Manifest) bool {
		return slices.ContainsFunc(m.GetAbilities(), func(a *proto.Ability) bool { return a.GetName() == name })
	})
}

func publishExposure(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc app.Assistants
	version, err := document.Read(ctx, tx, document.Assistants, &doc)
	if err != nil {
		return err
	}
	return document.Publish(ctx, tx, document.Assistants, version, changed, doc)
}

// abilityListed is an ability as assistants see it in a list.
type abilityListed struct {
	Name         string          `json:"name" doc:"Its name, svc/ in front."`
	Label        string          `json:"label" doc:"Its name for people."`
	Description  string          `json:"description" doc:"What it does, when to use it, what it answers with."`
	Category     string          `json:"category" doc:"The group that it belongs to."`
	InputSchema  json.RawMessage `json:"input_schema" doc:"JSON Schema of its input."`
	OutputSchema json.RawMessage `json:"output_schema" doc:"JSON Schema of its answer."`
	Meta         abilityMeta     `json:"meta"`
}

// abilityMeta holds hints on what running an ability does.
type abilityMeta struct {
	Annotations abilityHints `json:"annotations"`
}

// abilityHints tell assistants what to be careful with.
type abilityHints struct {
	ReadOnly    bool `json:"readonly" doc:"It changes nothing."`
	Destructive bool `json:"destructive" doc:"It deletes or overwrites."`
	Idempotent  bool `json:"idempotent" doc:"A second call with the same input changes nothing more."`
}

// listAbilities lists what is exposed to assistants, whoever asks, without what the person took away from this one.
func (r *Room) listAbilities(ctx context.Context, _ *db.DB, _ op.None) (db.List[abilityListed], error) {
	var all []abilityListed
	who := db.ActorFrom(ctx)
	for _, a := range r.exposed() {
		if who.Lacks(a.GetName(), a.GetReadOnly()) {
			continue
		}
		all = append(all, abilityListed{a.GetName(), a.GetLabel(), a.GetDescription(), a.Group, a.GetInputSchema(), a.GetOutputSchema(),
			abilityMeta{abilityHints{a.GetReadOnly(), a.GetDestructive(), a.GetIdempotent() || a.GetReadOnly()}}})
	}
	return db.All(all), nil
}

// runInput names an ability and what it runs with.
type runInput struct {
	Name  string `json:"name" maxLength:"190" doc:"Without svc/."`
	Input any    `json:"input,omitempty" doc:"As the ability's input_schema says."`
}

// anyAnswer is whatever the ability answers with, as its output_schema says.
type anyAnswer struct{}

// Schema is that of anything.
func (anyAnswer) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// noAbility answers at the paths of abilities that no service routes: 405 for an exposed ability that runs with another
// method than this one, else 404. An empty method answers for the ability itself: 404.
func (r *Room) noAbility(method string) func(context.Context, *db.DB, runInput) (anyAnswer, error) {
	return func(_ context.Context, _ *db.DB, in runInput) (anyAnswer, error) {
		for _, a := range r.exposed() {
			if a.GetName() != "svc/"+in.Name || method == "" {
				continue
			}
			allow := http.MethodPost
			if a.GetReadOnly() {
				allow = http.MethodGet
			} else if a.GetDestructive() && a.GetIdempotent() {
				allow = http.MethodDelete
			}
			if allow != method {
				return anyAnswer{}, fault.New(http.StatusMethodNotAllowed, "svc_method_not_allowed", "This ability does not run with "+method+".", "allow", []string{allow})
			}
		}
		return anyAnswer{}, fault.NotFound("ability")
	}
}
