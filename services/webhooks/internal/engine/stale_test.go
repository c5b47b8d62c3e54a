package engine

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
)

// A receiver that closes a connection that was kept, just when the next event is on its way.
func TestAConnectionThatTheReceiverHasClosedCostsNoAttempt(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	var mu sync.Mutex
	var got []http.Header
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got = append(got, r.Header.Clone())
		second := len(got) == 2
		mu.Unlock()
		if second {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}
	}))
	t.Cleanup(receiver.Close)
	id, _ := s.Subscribe(admin, receiver.URL, proto.KindContactCreated)
	for range 2 {
		require.Equal(t, "delivered", admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("status"))
	}
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, got, 3, "the second event was sent again at once")
	require.Equal(t, got[1].Get("webhook-id"), got[2].Get("webhook-id"))
	require.NotContains(t, got[2], "Idempotency-Key")
}
