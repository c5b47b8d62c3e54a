package settings

import (
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
)

func TestManySignInsAtOnceLeaveTheOnlyConnectionToOthers(t *testing.T) {
	t.Parallel()
	s := start(t, apptest.Connections(1), func(c *app.Config) { c.RateFactor = 0 })
	admin := s.As("site_admin")
	var signing sync.WaitGroup
	answers := make(chan *apptest.Answer, 24)
	for range cap(answers) {
		signing.Go(func() {
			answers <- s.Visitor().With("Idempotency-Key", uuid.NewString()).Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword})
		})
	}
	go func() { signing.Wait(); close(answers) }()
	for len(answers) < cap(answers) {
		admin.Get("/pages").Is(200)
	}
	for a := range answers {
		if a.Status != http.StatusOK {
			require.NotEmpty(t, a.Fails(503, "svc_unavailable").Header.Get("Retry-After"))
		}
	}
}
