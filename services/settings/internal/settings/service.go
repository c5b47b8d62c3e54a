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
	s := &service{Kit: k, hasher: newHasher(), passkeys: passkeys, client: fetch.Client(fetch.Options{Local: k.Config.WebhookLocal, Allow: k.Config.Receivers}), decoders: make(chan struct{}, decoders)}
	s.live = live.New(k.Bus, k.Apps.On)
	s.newTables()
	return s, nil
}

// parts fills and publishes what a start needs (see firstStart), and answers with what libs/app runs.
func (s *service) parts(ctx context.Context) (*app.Parts, error) {
	if err := s.firstStart(ctx); err != nil {
		return nil, err
	}
	ops := s.ops()
	return &app.Parts{
		Ops:       ops,
		PagePaths: slices.Concat(pages.Paths, paths),
		Pages:     s.website(ops),
		Follows:   s.follows(),
		Personal:  s.personal(),
		Published: s.records(),
		Restored:  s.restored,
		Sealed:    []app.Sealed{{Table: "person", Column: "totp", Purpose: ofSecondFactor}, {Table: "person", Column: "totp_pending", Purpose: ofSecondFactor}},
		Jobs:      s.jobs(),
		Workers:   []app.Worker{{Name: "password links", Pause: 250 * time.Millisecond, Slice: s.sendPasswordLink}},
		Tables:    []app.Table{s.manifests, s.presence, s.fields, s.staff},
		Run:       []func(context.Context){s.keepApps, s.keepDescription, s.sendMails, s.live.Run},
		Gauges: []app.Gauge{
			{Name: "mail.waiting", Unit: "{mail}", Doc: "mails that wait, by status", Label: "status",
				SQL: `select s, (select count(*) from mail where status = s and status in ('queued', 'retrying')) from unnest(array['queued', 'retrying']) s`},
			{Name: "mail.age", Unit: "s", Doc: "age of the oldest mail that waits",
				SQL: `select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0) from mail where status in ('queued', 'retrying')`},
			{Name: "mail.unknown", Unit: "{mail}", Doc: "mails of the last day of which nobody can say whether they arrived",
				SQL: `select count(*) from mail where status = 'unknown' and created_at > now() - interval '1 day'`},
		},
	}, nil
}
