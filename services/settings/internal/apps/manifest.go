package apps

import (
	"context"
	"encoding/json"
	"fmt"
	"frontdesk/proto"
	"log/slog"
	"maps"
	"slices"
	"time"

	protobuf "google.golang.org/protobuf/proto"
)

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
