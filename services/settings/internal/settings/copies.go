package settings

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/proto"
)

// tables makes the copies of what other services publish.
func (s *service) tables() {
	s.manifests = bus.NewTable(s.Bus, proto.ManifestTopic, readManifest)
	s.presence = bus.NewTable(s.Bus, proto.PresenceTopic, func(_ string, value []byte) (*proto.Presence, error) {
		var p proto.Presence
		return &p, protobuf.Unmarshal(value, &p)
	})
	s.fields = bus.NewRecordTable[customField](s.Bus, proto.FieldTopic)
	s.staff = bus.NewRecordTable[json.RawMessage](s.Bus, proto.StaffTopic)
}

// manifest is what a service says of itself, with its part of the description taken apart.
type manifest struct {
	*proto.Manifest
	part part
}

func readManifest(_ string, value []byte) (*manifest, error) {
	m := &manifest{Manifest: &proto.Manifest{}}
	if err := protobuf.Unmarshal(value, m.Manifest); err != nil {
		return nil, err
	}
	if len(m.GetOpenapi()) == 0 {
		return m, nil
	}
	return m, json.Unmarshal(m.GetOpenapi(), &m.part)
}

// announced are the manifests by name of the service.
func (s *service) announced() []*manifest {
	all := s.manifests.All()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	list := make([]*manifest, len(names))
	for i, name := range names {
		list[i] = all[name]
	}
	return list
}

// keepApps lists the app of each service that announces itself.
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
			pause(ctx, time.Second)
			continue
		}
		for _, a := range fresh {
			known[a.GetId()] = true
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
