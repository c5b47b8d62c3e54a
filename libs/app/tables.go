package app

import (
	"encoding/json"
	"sync/atomic"

	"frontdesk/libs/bus"
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
	ID       string `json:"id"`
	Name     string `json:"name"`
	Enabled  bool   `json:"enabled"`
	AlwaysOn bool   `json:"always_on"`
}

// NewApps makes the copy; changed is called with each version once it is in force here.
func NewApps(b *bus.Bus, changed func(version int64)) *Apps {
	a := &Apps{}
	a.state.Store(&AppsState{})
	a.table = bus.NewTable(b, proto.AppsTopic, func(_ string, value []byte) (AppsState, error) {
		var s AppsState
		env, err := bus.OpenEnvelope(value, &s)
		s.Version = env.GetVersion()
		return s, err
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

// Set puts a state in force without the topic, for tests.
func (a *Apps) Set(s AppsState) { a.table.Put("apps", s) }

// Site is a service's copy of the site settings: JSON documents under general, portal, privacy,
// form-style and booking-page's like.
type Site struct{ Table *bus.Table[json.RawMessage] }

// NewSite makes the copy.
func NewSite(b *bus.Bus) *Site {
	return &Site{bus.NewRecordTable[json.RawMessage](b, proto.SiteTopic)}
}

// Read decodes the document under key into v, which keeps its values when there is none yet.
func (s *Site) Read(key string, v any) {
	if raw, ok := s.Table.Get(key); ok {
		// Settings wrote the document; a field that no longer fits keeps its default.
		_ = json.Unmarshal(raw, v)
	}
}
