package settings

import (
	"context"
	"embed"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fetch"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/live"
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
	// passkeys makes and checks the challenges of passkeys.
	passkeys *webauthn.WebAuthn
	// client asks hosts that administrators name.
	client *http.Client

	// Tables of other services' topics.
	manifests *bus.Table[*manifest]
	presence  *bus.Table[*proto.Presence]
	fields    *bus.Table[customField]
	staff     *bus.Table[json.RawMessage]

	description description
	// changes happen to what decides which abilities a caller has.
	changes changes
	// stopping is closed when the process has to stop.
	stopping <-chan struct{}
	live     *live.Live
	// decoders is full while as many pictures are decoded as memory allows.
	decoders chan struct{}
	lockLogo func(ctx context.Context, tx *db.Tx) (*int64, error)
	pageAt   func(ctx context.Context, tx *db.Tx, slug string) (bool, error)
}

func build(ctx context.Context, k *app.Kit) (*app.Parts, error) {
	s, err := newService(k)
	if err != nil {
		return nil, err
	}
	s.stopping = ctx.Done()
	s.watchAbilities()
	return s.parts(ctx)
}

func newService(k *app.Kit) (*service, error) {
	passkeys, err := newRelyingParty(k.Config.PublicURL)
	if err != nil {
		return nil, err
	}
	s := &service{Kit: k, hasher: newHasher(), passkeys: passkeys, client: fetch.Client(fetch.Options{Local: k.Config.WebhookLocal}), decoders: make(chan struct{}, decoders)}
	s.live = live.New(k.Bus, k.Apps.On)
	s.newApps()
	s.newTeam()
	s.lockLogo, s.pageAt = lockLogo, pageAt
	return s, nil
}

// parts fills and publishes what a start needs (see firstStart), and answers with what libs/app runs.
func (s *service) parts(ctx context.Context) (*app.Parts, error) {
	ops := s.ops()
	all, err := app.Join(
		app.Room{Name: "settings", Parts: app.Parts{
			Ops:       ops,
			PagePaths: slices.Concat(pages.Paths, paths),
			Pages:     s.website(ops),
			Jobs:      []app.Job{{Name: "retention", Every: time.Hour, Run: s.deleteOutdated}},
			Run:       []func(context.Context){s.live.Run},
		}},
		app.Room{Name: "document", Parts: s.documentParts()},
		app.Room{Name: "audit", Parts: s.auditParts()},
		app.Room{Name: "media", Parts: s.mediaParts()},
		app.Room{Name: "site", Parts: s.siteParts()},
		app.Room{Name: "mailer", Parts: s.mailerParts()},
		app.Room{Name: "page", Parts: s.pageParts()},
		app.Room{Name: "apps", Parts: s.appsParts()},
		app.Room{Name: "people", Parts: s.peopleParts()},
		app.Room{Name: "roles", Parts: s.rolesParts()},
		app.Room{Name: "sessions", Parts: s.sessionsParts()},
		app.Room{Name: "keys", Parts: s.keysParts()},
		app.Room{Name: "assistants", Parts: s.assistantsParts()},
		app.Room{Name: "twofactor", Parts: s.twofactorParts()},
		app.Room{Name: "passkeys", Parts: s.passkeysParts()},
		app.Room{Name: "passwords", Parts: s.passwordsParts()},
		app.Room{Name: "team", Parts: s.teamParts()},
		app.Room{Name: "support", Parts: s.supportParts()},
	)
	if err != nil {
		return nil, err
	}
	return all, s.firstStart(ctx, all.Published)
}

// deleteOutdated deletes everything whose time of keeping is over.
func (s *service) deleteOutdated(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		for _, f := range []func(context.Context, *db.Tx) error{deleteOldEntries, deleteOldMails, deleteOldBrowsers, deleteOldChallenges} {
			if err := f(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}
