package settings

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func count(t *testing.T, s *apptest.Service, sql string) (n int) {
	t.Helper()
	require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), sql).Scan(&n))
	return n
}

// run runs a job of the service now.
func run(t *testing.T, s *apptest.Service, job string) {
	t.Helper()
	i := slices.IndexFunc(s.Parts.Jobs, func(j app.Job) bool { return j.Name == job })
	require.NoError(t, s.Parts.Jobs[i].Run(t.Context()))
}

func TestWhatIsKeptNoLongerIsDeleted(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	c.Patch("/setup", map[string]any{"done": true}).Is(200)
	s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "admin@example.com"}).Is(200)
	require.Len(t, mails(t, s, "admin@example.com"), 1)
	_, err := s.Kit.DB.Pool.Exec(context.Background(), `update mail set status = 'sent'`)
	require.NoError(t, err)
	run(t, s, "retention")
	require.NotZero(t, count(t, s, `select count(*) from audit`))
	require.Equal(t, 1, count(t, s, `select count(*) from mail`))

	_, err = s.Kit.DB.Pool.Exec(context.Background(), `insert into mail (id, recipient, subject, kind, status, next_at, created_at)
		select gen_random_uuid(), 'a@example.com', '', 'test', 'sent', now(), now() from generate_series(1, 2001)`)
	require.NoError(t, err)
	s.Travel(31 * 24 * time.Hour)
	run(t, s, "retention")
	require.Zero(t, count(t, s, `select count(*) from mail`))
	require.NotZero(t, count(t, s, `select count(*) from audit`))
	s.Travel(335 * 24 * time.Hour)
	run(t, s, "retention")
	require.Zero(t, count(t, s, `select count(*) from audit`))
	require.Zero(t, count(t, s, `select count(*) from link`))
}

func TestSessionsThatEndedLeaveTheCopiesToo(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin(t, s)
	s.Travel(10 * time.Hour)
	admin(t, s)
	run(t, s, "sessions")
	require.Equal(t, 1, count(t, s, `select count(*) from session`))
	gone := 0
	for _, e := range s.Events(proto.IdentityTopic) {
		if e.GetKind() == "tombstone" {
			gone++
		}
	}
	require.Equal(t, 1, gone)
}

func TestAPersonHasSoManyBrowsersAtMost(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into browser (person_id, hash, used_at)
		select id, sha256(n::text::bytea), now() - n * interval '1 hour' from person, generate_series(1, 60) n`)
	require.NoError(t, err)
	admin(t, s)
	require.Equal(t, 50, count(t, s, `select count(*) from browser`))
	require.Equal(t, 1, count(t, s, `select count(*) from browser where used_at > now() - interval '30 minutes'`), "the newest stay")
}

func TestThePortalIsAChannelOfItsOwn(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword, "portal": true}).Is(200)
	c := withCookie(s, a)
	require.Equal(t, "portal", c.Get("/auth/session").Is(200).Text("channel"))
	c.Patch("/setup", map[string]any{"done": true}).Is(200)
	s.Settle()
	require.Equal(t, "portal", c.Get("/audit-log?action=update-setup").Is(200).Text("items.0.channel"))
	c.With("Origin", "https://evil.example.com").Patch("/setup", map[string]any{"done": false}).Fails(403, "svc_forbidden")
	s.Visitor().With("Sec-Fetch-Site", "cross-site").Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Fails(403, "svc_forbidden")
}
