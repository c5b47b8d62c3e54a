package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/openapi"
	"frontdesk/libs/webhook"
	"frontdesk/proto"
)

// Kit holds the means that Run gives to a service: configuration, keys, database, bus, and copies of what settings publishes.
type Kit struct {
	Service  string
	Config   Config
	Keys     Keys
	DB       *db.DB
	Bus      *bus.Bus
	Auth     *auth.Auth
	Identity *auth.Identity
	Apps     *Apps
	Site     *Site
	// Endpoints are the receivers of events, which rehearsals name.
	Endpoints *bus.Table[webhook.Endpoint]

	rehearsals *rehearsals
}

// ipHeader is the proxy header chosen in the general settings.
func (k *Kit) ipHeader() string {
	var g struct {
		IPHeader string `json:"ip_header"`
	}
	k.Site.Read("general", &g)
	return g.IPHeader
}

// seen reports to settings that a session is in use, so that it does not end as idle.
func (k *Kit) seen(s *proto.Session) {
	k.report(proto.KindSessionSeen, auth.SessionKey(s.GetHash()), &proto.SessionSeen{Hash: s.GetHash()})
}

// keySeen reports to settings that an application password is in use.
func (k *Kit) keySeen(p *proto.ApplicationPassword, address string) {
	k.report(proto.KindKeySeen, auth.KeyKey(p.GetId()), &proto.KeySeen{Id: p.GetId(), Address: address})
}

// report sends settings a command that no request waits for. A lost one is repeated a few minutes later.
func (k *Kit) report(kind, key string, m protobuf.Message) {
	data, err := protobuf.Marshal(m)
	if err != nil {
		return
	}
	e := &proto.Envelope{Id: uuid.NewString(), Kind: kind, RecordId: key,
		OccurredAt: timestamppb.New(k.DB.Now()), Actor: &proto.Actor{Channel: db.ChannelSystem}, Data: data}
	go func() {
		if err := sendMessage(context.Background(), k.Bus, proto.SettingsCommandTopic, key, e); err != nil {
			slog.Debug("reporting a credential in use failed", "kind", kind, "error", err)
		}
	}()
}

// NewSet makes the service's set of operations.
func (k *Kit) NewSet() *op.Set {
	s := op.NewSet(k.Service, k.DB, k.Auth)
	s.AppOn = k.Apps.On
	s.Fingerprints = k.Keys.fingerprints
	s.Exposed, s.Approval = k.Site.Exposed, k.Site.Approval
	s.Describe = func(e *op.Entry) any { return openapi.DescribeAbility(s, e) }
	s.Endpoints = func() []webhook.Endpoint { return slices.Collect(maps.Values(k.Endpoints.All())) }
	if !k.Config.Alone {
		s.Others = k.rehearsals.ask
	}
	s.RateFactor = k.Config.RateFactor
	return s
}
