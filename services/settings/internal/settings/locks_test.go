package settings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

// Whoever removes a user locks them and then their links, so nobody who waits for the user may hold a link of theirs.
func TestAUserIsLockedBeforeTheirLinks(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	c.Post("/staff", map[string]any{"email": "an@example.com", "role": "staff"}).Is(201)
	invitation := token(t, mails(t, s, "an@example.com")[0])
	profile := map[string]any{"profile": true, "profile_data": map[string]any{"email": "one@example.com"}}
	c.Patch("/settings/telemetry", profile).Is(200)
	for name, f := range map[string]struct {
		email string
		call  func() *apptest.Answer
	}{
		"choosing a password": {"an@example.com", func() *apptest.Answer {
			return s.Visitor().Post("/auth/invitation", map[string]any{"token": invitation, "password": "a long password"})
		}},
		"asking for a profile": {"admin@example.com", func() *apptest.Answer {
			return c.Patch("/settings/telemetry", map[string]any{"profile_data": map[string]any{"email": "two@example.com"}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tx := s.Begin()
			var id int64
			require.NoError(t, tx.QueryRow(t.Context(), `select id from person where email = $1 for update`, f.email).Scan(&id))
			answered := make(chan *apptest.Answer, 1)
			go func() { answered <- f.call() }()
			s.Waiting(1)
			_, err := tx.Exec(t.Context(), `select from link where person_id = $1 and ended_at is null for update nowait`, id)
			require.NoError(t, err)
			require.NoError(t, tx.Rollback(t.Context()))
			(<-answered).Is(200)
		})
	}
}
