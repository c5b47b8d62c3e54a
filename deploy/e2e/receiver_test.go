package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

// receiver takes webhooks and believes none that is not signed.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	secret   string
	received []received
	refused  []string
}

type received struct {
	Event string         `json:"event"`
	ID    string         `json:"id"`
	Data  map[string]any `json:"data"`
}

// listen starts a receiver, which ends with the test.
func listen(t testing.TB) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	var e received
	switch {
	case err != nil || json.Unmarshal(body, &e) != nil:
		r.refused = append(r.refused, "not JSON: "+string(body))
	case !r.signed(req.Header, body):
		r.refused = append(r.refused, "not signed: "+string(body))
	case e.Event != req.Header.Get("X-Svc-Event"):
		r.refused = append(r.refused, "another event in the header: "+string(body))
	default:
		r.received = append(r.received, e)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
}

// signed checks both signatures: the service's own, and the Standard Webhooks' with its public library.
func (r *receiver) signed(h http.Header, body []byte) bool {
	ts, sig, ok := strings.Cut(h.Get("X-Svc-Signature"), ",v1=")
	unix, err := strconv.ParseInt(strings.TrimPrefix(ts, "t="), 10, 64)
	if !ok || err != nil || time.Since(time.Unix(unix, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, []byte(r.secret))
	mac.Write([]byte(strconv.FormatInt(unix, 10) + "."))
	mac.Write(body)
	if hex.EncodeToString(mac.Sum(nil)) != sig {
		return false
	}
	wh, err := webhooks.NewWebhook(r.secret)
	return err == nil && wh.Verify(body, h) == nil
}

// events counts the ids that came, by event, of those for which pick holds.
func (r *receiver) events(pick func(received) bool) map[string]map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]map[string]int{}
	for _, e := range r.received {
		if pick(e) {
			if all[e.Event] == nil {
				all[e.Event] = map[string]int{}
			}
			all[e.Event][e.ID]++
		}
	}
	return all
}

// none requires that no change was refused.
func (r *receiver) none(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Empty(t, r.refused)
}
