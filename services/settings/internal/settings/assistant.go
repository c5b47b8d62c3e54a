package settings

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// AIStatus is what assistants can do here, and what connecting one takes.
type AIStatus struct {
	AbilitiesAPI bool            `json:"abilities_api" doc:"Abilities answer over HTTP."`
	Adapter      bool            `json:"adapter" doc:"A server of the Model Context Protocol answers."`
	ConnectRoles []string        `json:"connect_roles" doc:"Roles whose application passwords work."`
	Abilities    []AbilityStatus `json:"abilities"`
	Connect      Connect         `json:"connect"`
}

// AbilityStatus is an ability and whether assistants may use it.
type AbilityStatus struct {
	Name     string `json:"name"`
	Label    string `json:"label"`
	MCP      bool   `json:"mcp" doc:"Assistants may use it."`
	ReadOnly bool   `json:"readonly" doc:"It changes nothing."`
}

// Connect is what connecting an assistant takes.
type Connect struct {
	URL            string `json:"url" doc:"Where abilities are listed."`
	Authentication string `json:"authentication"`
	PasswordsURL   string `json:"passwords_url" doc:"POST with assistant true makes an application password for it."`
}

// abilities are those whose operation needs no app, or one that is on, sorted by name. A service that is an app may have both.
func (s *service) abilities() []*proto.Ability {
	var all []*proto.Ability
	for _, m := range s.announced() {
		for _, a := range m.GetAbilities() {
			if a.GetApp() == "" || s.Apps.On(a.GetApp()) {
				all = append(all, a)
			}
		}
	}
	slices.SortFunc(all, func(a, b *proto.Ability) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

func (s *service) aiStatus(ctx context.Context, tx *db.Tx, _ op.None) (AIStatus, error) {
	var access accessDoc
	if _, err := readDocument(ctx, tx, docAccess, &access); err != nil {
		return AIStatus{}, err
	}
	out := AIStatus{AbilitiesAPI: true, ConnectRoles: access.Roles, Abilities: []AbilityStatus{}, Connect: Connect{
		URL: s.Config.PublicURL + "/v1/abilities", Authentication: "HTTP Basic with a login and an application password that is marked for assistants",
		PasswordsURL: s.Config.PublicURL + "/v1/me/application-passwords"}}
	for _, a := range s.abilities() {
		out.Abilities = append(out.Abilities, AbilityStatus{a.GetName(), a.GetLabel(), a.GetExposed(), a.GetReadOnly()})
	}
	return out, nil
}

// AbilityListed is an ability as assistants see it in a list.
type AbilityListed struct {
	Name         string          `json:"name"`
	Label        string          `json:"label"`
	Description  string          `json:"description"`
	Category     string          `json:"category"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Meta         AbilityMeta     `json:"meta"`
}

// AbilityMeta holds hints on what running an ability does.
type AbilityMeta struct {
	Annotations AbilityHints `json:"annotations"`
}

// AbilityHints tell assistants what to be careful with.
type AbilityHints struct {
	ReadOnly    bool `json:"readonly"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
}

// listAbilities lists what is exposed to assistants, whoever asks.
func (s *service) listAbilities(context.Context, *db.DB, op.None) (db.List[AbilityListed], error) {
	var all []AbilityListed
	for _, a := range s.abilities() {
		if a.GetExposed() {
			category := ""
			for _, m := range s.announced() {
				if slices.Contains(m.GetAbilities(), a) {
					category = m.GetService()
				}
			}
			all = append(all, AbilityListed{a.GetName(), a.GetLabel(), a.GetDescription(), category, a.GetInputSchema(), a.GetOutputSchema(),
				AbilityMeta{AbilityHints{a.GetReadOnly(), a.GetDestructive(), a.GetIdempotent() || a.GetReadOnly()}}})
		}
	}
	return db.All(all), nil
}

// RunInput names an ability and what it runs with.
type RunInput struct {
	Name  string `json:"name" maxLength:"190" doc:"Without svc/."`
	Input any    `json:"input,omitempty" doc:"As the ability's input_schema says."`
}

// AnyAnswer is whatever the ability answers with, as its output_schema says.
type AnyAnswer struct{}

// Schema is that of anything.
func (AnyAnswer) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// noAbility answers at the paths of abilities that no service routes: 405 for an exposed ability that runs with another
// method than this one, else 404. An empty method answers for the ability itself: 404.
func (s *service) noAbility(method string) func(context.Context, *db.DB, RunInput) (AnyAnswer, error) {
	return func(_ context.Context, _ *db.DB, in RunInput) (AnyAnswer, error) {
		for _, a := range s.abilities() {
			if a.GetName() != "svc/"+in.Name || !a.GetExposed() || method == "" {
				continue
			}
			allow := http.MethodPost
			if a.GetReadOnly() {
				allow = http.MethodGet
			} else if a.GetDestructive() && a.GetIdempotent() {
				allow = http.MethodDelete
			}
			if allow != method {
				return AnyAnswer{}, fault.New(http.StatusMethodNotAllowed, "svc_method_not_allowed", "This ability does not run with "+method+".", "allow", []string{allow})
			}
		}
		return AnyAnswer{}, fault.NotFound("ability")
	}
}
