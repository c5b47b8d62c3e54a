package op

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnAnswerOutlivesTheTimeForReadingItsRequest(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unhurried(w)
		select {
		case <-r.Context().Done():
			_, _ = io.WriteString(w, "cut off")
		case <-time.After(500 * time.Millisecond):
			_, _ = io.WriteString(w, "whole")
		}
	}))
	server.Config.ReadTimeout = 100 * time.Millisecond
	server.Start()
	defer server.Close()
	res, err := http.Get(server.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, "whole", string(body))
}

func TestAListenerWhoIsTooSlowIsToldToReadAllAgain(t *testing.T) {
	t.Parallel()
	f := newFeed("")
	f.Push([]byte("a"))
	f.Push([]byte("b"))
	require.Equal(t, "ab", string(f.take()))
	require.Empty(t, f.take())
	for range 100 {
		f.Push([]byte(strings.Repeat("x", 1000)))
	}
	text := string(f.take())
	require.Less(t, len(text), mostWaiting)
	require.True(t, strings.HasPrefix(text, "event: ready\ndata: {}\n\nx"), "%.40s", text)
}

func TestEachHolderHasAFewSlotsAndTheProcessMany(t *testing.T) {
	t.Parallel()
	s := Slots{Most: 3, Each: 2, Wait: time.Minute}
	leave, err := s.Enter("a", true)
	require.NoError(t, err)
	_, err = s.Enter("a", true)
	require.NoError(t, err)
	_, err = s.Enter("a", true)
	require.ErrorContains(t, err, "svc_rate_limited")
	_, err = s.Enter("b", true)
	require.NoError(t, err)
	_, err = s.Enter("c", true)
	require.ErrorContains(t, err, "svc_unavailable")
	leave()
	_, err = s.Enter("c", true)
	require.NoError(t, err)
}
