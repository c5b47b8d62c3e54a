package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestARequestWaitsForAProcessInItsFirstSecondOnly(t *testing.T) {
	inside := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for _, c := range []struct {
		name           string
		opens, arrives time.Duration
		status         int
		waits          time.Duration
	}{
		{"it opens meanwhile", 300 * time.Millisecond, 100 * time.Millisecond, http.StatusTeapot, 200 * time.Millisecond},
		{"it does not", time.Minute, 100 * time.Millisecond, http.StatusServiceUnavailable, 900 * time.Millisecond},
		{"later it waits no longer", time.Minute, 2 * time.Second, http.StatusServiceUnavailable, 0},
		{"it is open", 0, 100 * time.Millisecond, http.StatusTeapot, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDoor(nil)
				time.AfterFunc(c.opens, func() { d.open(inside) })
				time.Sleep(c.arrives)
				began, w := time.Now(), httptest.NewRecorder()
				d.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/notes", nil))
				require.Equal(t, c.status, w.Code)
				require.Equal(t, c.waits, time.Since(began))
				time.Sleep(time.Minute)
			})
		})
	}
}
