package settings

import (
	"context"
	"embed"
	"encoding/json"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/fetch"
	"frontdesk/proto"
	pages "frontdesk/services/settings/internal/settings/web"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is settings, to be run by libs/app.
var Service = app.Service{Name: "settings", Port: 8091, Migrations: migrations, Build: build}

// service is what operations need beside their transaction.
type service struct {
	*app.Kit
	hasher hasher
	// client asks hosts that administrators name.
	client *http.Client

	// Tables of other services' topics.
	manifests *bus.Table[*manifest]
	presence  *bus.Table[*proto.Presence]
	fields    *bus.Table[customField]
	staff     *bus.Table[json.RawMessage]

	description description
}

func build(ctx context.Context, k *app.Kit) (*app.Parts, error) {
	return newService(k).parts(ctx)
}

func newService(k *app.Kit) *service {
	s := &service{Kit: k, hasher: newHasher(), client: fetch.Client(fetch.Options{Local: k.Config.WebhookLocal})}
	s.newTables()
	return s
}

// parts fills and publishes what a start needs (see firstStart), and answers with what libs/app runs.
func (s *service) parts(ctx context.Context) (*app.Parts, error) {
	if err := s.firstStart(ctx); err != nil {
		return nil, err
	}
	ops := s.ops()
	return &app.Parts{
		Ops:       ops,
		PagePaths: pages.Paths,
		Pages:     s.website(ops),
		Follows:   s.follows(),
		Personal:  s.personal(),
		Jobs:      s.jobs(),
		Run: []func(context.Context){s.manifests.Run, s.presence.Run, s.fields.Run, s.staff.Run,
			s.keepApps, s.keepDescription, s.sendMails},
		Ready: []func() bool{s.manifests.Ready, s.presence.Ready, s.fields.Ready, s.staff.Ready},
	}, nil
}
