package system

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

// Receiver takes webhooks and believes none that is not signed.
type Receiver struct {
	*httptest.Server
	mu       sync.Mutex
	secret   string
	received []Received
	refused  []string
	busy     bool
}

// Received is a webhook as it came.
type Received struct {
	Event string         `json:"event"`
	ID    string         `json:"id"`
	Data  map[string]any `json:"data"`
}

// Listen starts a receiver, which ends with the test.
func Listen(t testing.TB) *Receiver {
	r := &Receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *Receiver) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	var e Received
	switch {
	case r.busy:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
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

// Busy says whether the receiver answers 503 to every webhook from now on.
func (r *Receiver) Busy(busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = busy
}

// signed checks both signatures: the service's own, and the Standard Webhooks' with its public library.
func (r *Receiver) signed(h http.Header, body []byte) bool {
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

// All are the webhooks that came, in their order.
func (r *Receiver) All() []Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.received)
}

// Events counts the ids that came, by event, of those for which pick holds.
func (r *Receiver) Events(pick func(Received) bool) map[string]map[string]int {
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

// NoneRefused requires that no webhook was refused.
func (r *Receiver) NoneRefused(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Empty(t, r.refused)
}
