package settings

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

// manifest is what a service announces, with its part of the OpenAPI description decoded.
type manifest struct {
	*proto.Manifest
	part part
}

func readManifest(_ string, value []byte) (*manifest, int64, error) {
	m := &manifest{Manifest: &proto.Manifest{}}
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

// announced are the manifests, in the order of their services' names.
func (s *service) announced() []*manifest {
	all := s.manifests.All()
	list := make([]*manifest, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list
}

// keepApps adds the app of each service that announces itself to the apps, until ctx ends.
func (s *service) keepApps(ctx context.Context) {
	known := map[string]bool{}
	for ctx.Err() == nil {
		var fresh []*proto.App
		s.manifests.Wait(ctx, func() bool {
			fresh = nil
			for _, m := range s.announced() {
				if a := m.GetApp(); a.GetId() != "" && !known[a.GetId()] {
					fresh = append(fresh, a)
				}
			}
			return len(fresh) > 0
		})
		if ctx.Err() != nil {
			return
		}
		if err := s.addApps(ctx, fresh); err != nil {
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

// watchManifests calls f after each change of a manifest.
func (s *service) watchManifests(f func()) {
	s.manifests.Watch(func(string, *manifest, bool) { f() })
}
