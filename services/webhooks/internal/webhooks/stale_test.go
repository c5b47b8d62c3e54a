package webhooks

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
	id, _ := s.subscribe(admin, receiver.URL, proto.KindContactCreated)
	for range 2 {
		require.Equal(t, "delivered", admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("status"))
	}
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, got, 3, "the second event was sent again at once")
	require.Equal(t, got[1].Get("webhook-id"), got[2].Get("webhook-id"))
	require.NotContains(t, got[2], "Idempotency-Key")
}

func TestATestReceiverTakesEveryRequestWhateverItsKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := s.AsSession(auth.SiteAdmin)
	_, path := s.openTestReceiver(person)
	sender := s.Visitor().With("Idempotency-Key", "one for each event")
	for _, body := range []string{`{"n":1}`, `{"n":1}`, `{"n":2}`} {
		require.Empty(t, sender.Post(path, body).Is(204).Header.Get("Idempotent-Replayed"))
	}
	require.Len(t, person.Get("/webhooks/receiver").Is(200).Field("requests"), 3)
}
