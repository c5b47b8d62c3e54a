package apps

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

// Booking is the app of appointments.
const Booking = "booking"

func list(ctx context.Context, tx *db.Tx, _ op.None) (db.List[app.AppState], error) {
	var state app.AppsState
	_, err := document.Read(ctx, tx, document.Apps, &state)
	return db.All(state.Apps), err
}

// setEnabled switches an app, and answers once every live instance has confirmed the change, or after five seconds: then no
// answer of the old state can follow.
func (r *Room) setEnabled(ctx context.Context, d *db.DB, in struct {
	App     string `json:"app" maxLength:"50"`
	Enabled bool   `json:"enabled" required:"true" doc:"true switches the app on."`
}) (app.AppState, error) {
	var out app.AppState
	var version int64
	err := d.Do(ctx, func(tx *db.Tx) (err error) {
		_, version, err = document.Change(ctx, tx, document.Apps, publish, func(state *app.AppsState) error {
			i := slices.IndexFunc(state.Apps, func(a app.AppState) bool { return a.ID == in.App })
			if i < 0 {
				return fault.NotFound("app")
			}
			if state.Apps[i].AlwaysOn && !in.Enabled {
				return fault.Conflict("always_on", state.Apps[i].Name+" cannot be switched off.")
			}
			state.Apps[i].Enabled = in.Enabled
			out = state.Apps[i]
			return nil
		})
		if err != nil {
			return err
		}
		return op.Audit(ctx, tx, "update-app", "app", in.App)
	})
	if err != nil {
		return out, err
	}
	r.awaitConfirmation(ctx, version)
	return out, nil
}

const (
	// alive is how old the newest presence of an instance may be; instances publish one every two seconds.
	alive = 6 * time.Second
	// confirmation is how long a switch waits for instances that do not confirm.
	confirmation = 5 * time.Second
)

// awaitConfirmation returns once every live instance has a version of the apps in force, or after the time of confirmation.
func (r *Room) awaitConfirmation(ctx context.Context, version int64) {
	ctx, cancel := context.WithTimeout(ctx, confirmation)
	defer cancel()
	all := func() bool {
		// Presence carries the real time, whatever the clock of a test says.
		since := time.Now().Add(-alive)
		for _, p := range r.presence.All() {
			if p.GetAppsVersion() < version && p.GetAt().AsTime().After(since) {
				return false
			}
		}
		return true
	}
	for ctx.Err() == nil {
		// An instance that died publishes nothing more, so its age is compared again every 0.2 s.
		short, done := context.WithTimeout(ctx, 200*time.Millisecond)
		ok := r.presence.Wait(short, all)
		done()
		if ok {
			return
		}
	}
}

// add adds apps, switched on, to the document; it leaves those that are there as they are.
func (r *Room) add(ctx context.Context, announced []*proto.App) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		_, _, err := document.Change(ctx, tx, document.Apps, publish, func(state *app.AppsState) error {
			for _, a := range announced {
				known := slices.ContainsFunc(state.Apps, func(x app.AppState) bool { return x.ID == a.GetId() })
				if !known && a.GetId() != "" {
					state.Apps = append(state.Apps, app.AppState{ID: a.GetId(), Name: a.GetName(), Enabled: true, AlwaysOn: a.GetAlwaysOn()})
				}
			}
			return nil
		})
		return err
	})
}

// publish publishes which apps are on, under the version that every instance confirms.
func publish(ctx context.Context, tx *db.Tx, _ []string) error {
	var state app.AppsState
	version, err := document.Read(ctx, tx, document.Apps, &state)
	if err != nil {
		return err
	}
	return tx.Emit(ctx, db.Event{Topic: proto.AppsTopic, Kind: proto.KindAppsUpdated, Key: document.Apps, Version: version, Data: state})
}

// Manifest is what a service announces, with its part of the OpenAPI description decoded.
type Manifest struct {
	*proto.Manifest
	part part
}

func readManifest(_ string, value []byte) (*Manifest, int64, error) {
	m := &Manifest{Manifest: &proto.Manifest{}}
	if err := protobuf.Unmarshal(value, m.Manifest); err != nil {
		return nil, 0, err
	}
	if len(m.GetOpenapi()) > 0 {
		if err := json.Unmarshal(m.GetOpenapi(), &m.part); err != nil {
			return nil, 0, fmt.Errorf("description of %s: %w", m.GetService(), err)
		}
	}
	version := m.GetVersion()
	return m, version, nil
}

// Announced are the manifests, in the order of their services' names.
func (r *Room) Announced() []*Manifest {
	all := r.manifests.All()
	list := make([]*Manifest, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list
}

// keep adds the app of each service that announces itself to the apps, until ctx ends.
func (r *Room) keep(ctx context.Context) {
	known := map[string]bool{}
	for ctx.Err() == nil {
		var fresh []*proto.App
		r.manifests.Wait(ctx, func() bool {
			fresh = nil
			for _, m := range r.Announced() {
				if a := m.GetApp(); a.GetId() != "" && !known[a.GetId()] {
					fresh = append(fresh, a)
				}
			}
			return len(fresh) > 0
		})
		if ctx.Err() != nil {
			return
		}
		if err := r.add(ctx, fresh); err != nil {
			slog.WarnContext(ctx, "apps of new services are not added yet", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			continue
		}
		for _, a := range fresh {
			known[a.GetId()] = true
		}
	}
}

// Watch calls f after each change of a manifest.
func (r *Room) Watch(f func()) {
	r.manifests.Watch(func(string, *Manifest, bool) { f() })
}
