package settings

import (
	"context"
	"embed"
	"slices"
	"time"

	"frontdesk/libs/app"
	"frontdesk/services/settings/internal/approvals"
	"frontdesk/services/settings/internal/apps"
	"frontdesk/services/settings/internal/assistants"
	"frontdesk/services/settings/internal/audit"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/keys"
	"frontdesk/services/settings/internal/live"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/media"
	"frontdesk/services/settings/internal/notices"
	"frontdesk/services/settings/internal/page"
	"frontdesk/services/settings/internal/passkeys"
	"frontdesk/services/settings/internal/passwords"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/sessions"
	pages "frontdesk/services/settings/internal/settings/web"
	"frontdesk/services/settings/internal/signin"
	"frontdesk/services/settings/internal/site"
	"frontdesk/services/settings/internal/sso"
	"frontdesk/services/settings/internal/support"
	"frontdesk/services/settings/internal/team"
	"frontdesk/services/settings/internal/templates"
	"frontdesk/services/settings/internal/twofactor"
	"frontdesk/services/settings/internal/undo"
	"frontdesk/services/settings/internal/view"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is settings, to be run by libs/app.
var Service = app.Service{Name: "settings", Port: 8091, Migrations: migrations, Build: build, Commands: commands}

// rooms are the rooms of the service that hold something, from the ground up.
type rooms struct {
	documents  *document.Room
	audit      *audit.Room
	media      *media.Room
	site       *site.Room
	templates  *templates.Room
	mails      *mailer.Room
	pages      *page.Room
	apps       *apps.Room
	people     *people.Room
	views      *view.Room
	roles      *roles.Room
	notices    *notices.Room
	sessions   *sessions.Room
	keys       *keys.Room
	assistants *assistants.Room
	approvals  *approvals.Room
	twofactor  *twofactor.Room
	passkeys   *passkeys.Room
	passwords  *passwords.Room
	signin     *signin.Room
	team       *team.Room
	sso        *sso.Room
	undo       *undo.Room
	support    *support.Room
	live       *live.Live
}

func newRooms(k *app.Kit, stopping <-chan struct{}) (r rooms, err error) {
	r.documents = document.New(k)
	r.audit = audit.New(k)
	r.media = media.New(k, site.LockLogo)
	r.site = site.New(k, page.Taken)
	r.templates = templates.New(k, r.site)
	r.mails = mailer.New(k, r.site)
	r.pages = page.New(k)
	r.apps = apps.New(k)
	r.people = people.New(k, r.mails)
	r.views = view.New(k)
	r.roles = roles.New(k)
	r.notices = notices.New(k, r.site)
	r.sessions = sessions.New(k)
	r.keys = keys.New(k, r.people)
	r.approvals = approvals.New(k)
	r.assistants = assistants.New(k, r.apps, r.people, r.approvals, stopping)
	r.twofactor = twofactor.New(k, r.people)
	if r.passkeys, err = passkeys.New(k, r.people); err != nil {
		return r, err
	}
	r.passwords = passwords.New(k, r.mails, r.people)
	r.signin = signin.New(k, r.people, r.sessions, r.twofactor, r.passkeys, r.passwords)
	r.team = team.New(k, r.mails, r.people, r.twofactor, r.passwords)
	r.sso = sso.New(k, r.site, r.people, r.sessions, r.signin, r.team)
	r.undo = undo.New(k)
	r.support = support.New(k, r.mails, r.site)
	r.live = live.New(k.Bus, k.Apps.On)
	r.approvals.Watch(r.live.Approvals)
	return r, nil
}

// build fills and publishes what a start needs (see firstStart), and answers with what libs/app runs.
func build(ctx context.Context, k *app.Kit) (*app.Parts, error) {
	r, err := newRooms(k, ctx.Done())
	if err != nil {
		return nil, err
	}
	ops := r.operations(k)
	all, err := app.Join(
		app.Room{Name: "settings", Parts: app.Parts{
			Ops:       ops,
			PagePaths: slices.Concat(pages.Paths, paths),
			Pages:     r.website(k, ops),
			Jobs:      []app.Job{{Name: "retention", Every: time.Hour, Run: func(ctx context.Context) error { return deleteOutdated(ctx, k) }}},
			Run:       []func(context.Context){r.live.Run},
		}},
		app.Room{Name: "document", Parts: r.documents.Parts()},
		app.Room{Name: "audit", Parts: r.audit.Parts()},
		app.Room{Name: "media", Parts: r.media.Parts()},
		app.Room{Name: "site", Parts: r.site.Parts()},
		app.Room{Name: "templates", Parts: r.templates.Parts()},
		app.Room{Name: "mailer", Parts: r.mails.Parts()},
		app.Room{Name: "page", Parts: r.pages.Parts()},
		app.Room{Name: "apps", Parts: r.apps.Parts()},
		app.Room{Name: "people", Parts: r.people.Parts()},
		app.Room{Name: "view", Parts: r.views.Parts()},
		app.Room{Name: "roles", Parts: r.roles.Parts()},
		app.Room{Name: "notices", Parts: r.notices.Parts()},
		app.Room{Name: "sessions", Parts: r.sessions.Parts()},
		app.Room{Name: "keys", Parts: r.keys.Parts()},
		app.Room{Name: "assistants", Parts: r.assistants.Parts()},
		app.Room{Name: "approvals", Parts: r.approvals.Parts()},
		app.Room{Name: "twofactor", Parts: r.twofactor.Parts()},
		app.Room{Name: "passkeys", Parts: r.passkeys.Parts()},
		app.Room{Name: "passwords", Parts: r.passwords.Parts()},
		app.Room{Name: "signin", Parts: r.signin.Parts()},
		app.Room{Name: "team", Parts: r.team.Parts()},
		app.Room{Name: "sso", Parts: r.sso.Parts()},
		app.Room{Name: "support", Parts: r.support.Parts()},
	)
	if err != nil {
		return nil, err
	}
	return all, r.firstStart(ctx, k, all.Published)
}
