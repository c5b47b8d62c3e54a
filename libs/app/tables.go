package app

import (
	"cmp"
	"encoding/json"
	"sync/atomic"

	"frontdesk/libs/bus"
	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Apps is a service's copy of which apps are on.
type Apps struct {
	table *bus.Table[AppsState]
	state atomic.Pointer[AppsState]
}

// AppsState is the record of the topic settings.apps, under the key "apps".
type AppsState struct {
	Version int64      `json:"-"`
	Apps    []AppState `json:"apps"`
}

// AppState is one app.
type AppState struct {
	ID       string `json:"id" doc:"The id of the app."`
	Name     string `json:"name" doc:"What people call it."`
	Enabled  bool   `json:"enabled" doc:"It is on."`
	AlwaysOn bool   `json:"always_on" doc:"It cannot be switched off."`
}

// newApps makes the copy; changed is called with each version once it is in force here.
func newApps(b *bus.Bus, changed func(version int64)) *Apps {
	a := &Apps{}
	a.state.Store(&AppsState{})
	a.table = bus.NewTable(b, proto.AppsTopic, func(_ string, value []byte) (AppsState, int64, error) {
		var s AppsState
		env, err := bus.OpenEnvelope(value, &s)
		s.Version = env.GetVersion()
		return s, s.Version, err
	})
	a.table.Watch(func(_ string, s AppsState, gone bool) {
		if gone || s.Version < a.state.Load().Version {
			return
		}
		a.state.Store(&s)
		changed(s.Version)
	})
	return a
}

// On reports whether an app is on. An app that was never switched is on.
func (a *Apps) On(id string) bool {
	for _, s := range a.state.Load().Apps {
		if s.ID == id {
			return s.Enabled || s.AlwaysOn
		}
	}
	return true
}

// State is the newest state known here.
func (a *Apps) State() AppsState { return *a.state.Load() }

// Watch makes f be called after each change. Call it before the process runs.
func (a *Apps) Watch(f func()) { a.table.Watch(func(string, AppsState, bool) { f() }) }

// Set puts a state in force without the topic, for tests.
func (a *Apps) Set(s AppsState) { a.table.Put("apps", s) }

// Site is a service's copy of the site settings: JSON documents under general, portal, privacy,
// form-style and booking-page's like.
type Site struct{ Table *bus.Table[json.RawMessage] }

// NewSite makes the copy.
func NewSite(b *bus.Bus) *Site {
	return &Site{bus.NewRecordTable[json.RawMessage](b, proto.SiteTopic)}
}

// AssistantsKey is the key of the document about assistants.
const AssistantsKey = "assistants"

// Assistants is the document under AssistantsKey: which abilities people have exposed to assistants, or hidden from them, and whose calls wait for a
// person, see op.Approvals.
type Assistants struct {
	Abilities map[string]bool         `json:"abilities"`
	Approval  map[string]op.Approvals `json:"approval,omitempty"`
}

// Exposed reports whether assistants may use an ability ("svc/…"): as a person has decided, else byDefault.
func (s *Site) Exposed(ability string, byDefault bool) bool {
	var decided Assistants
	s.Read(AssistantsKey, &decided)
	if exposed, ok := decided.Abilities[ability]; ok {
		return exposed
	}
	return byDefault
}

// Language is that of mails to a person of the team, nil for anybody else, and the country whose habits they follow: the language that the person has
// chosen, else that of the business's country.
func (s *Site) Language(of *proto.User) (language, country string) {
	var general struct {
		Country string `json:"country"`
	}
	s.Read("general", &general)
	return cmp.Or(of.GetLanguage(), lang.OfCountry(general.Country)), general.Country
}

// Approval says which calls of an ability wait for a person: as a person has decided, else empty.
func (s *Site) Approval(ability string) string {
	var decided Assistants
	s.Read(AssistantsKey, &decided)
	return string(decided.Approval[ability])
}

// Business is who the site's mails come from: the name "Frontdesk" until settings has one.
func (s *Site) Business() mail.Business {
	var general struct {
		Business struct {
			Name string `json:"name"`
		} `json:"business"`
	}
	s.Read("general", &general)
	var portal struct {
		LogoURL string `json:"logo_url"`
	}
	s.Read("portal", &portal)
	return mail.Business{Name: cmp.Or(general.Business.Name, "Frontdesk"), Logo: portal.LogoURL}
}

// Read decodes the document under key into v, which keeps its values until the document exists.
func (s *Site) Read(key string, v any) {
	if raw, ok := s.Table.Get(key); ok {
		// Settings wrote the document; a field that no longer fits keeps its default.
		_ = json.Unmarshal(raw, v)
	}
}
