package live

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/deploy/system"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// spans collects what processes send by OTLP.
type spans struct {
	*httptest.Server
	mu  sync.Mutex
	all map[string][]span // by trace id
}

type span struct{ service, name, id, parent string }

func collect(t *testing.T) *spans {
	t.Helper()
	s := &spans{all: map[string][]span{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.take))
	t.Cleanup(s.Close)
	return s
}

func (s *spans) take(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	raw, err := io.ReadAll(body)
	var sent collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || protobuf.Unmarshal(raw, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range sent.GetResourceSpans() {
		service := ""
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, x := range scope.GetSpans() {
				trace := hex.EncodeToString(x.GetTraceId())
				s.all[trace] = append(s.all[trace], span{service, x.GetName(), hex.EncodeToString(x.GetSpanId()), hex.EncodeToString(x.GetParentSpanId())})
			}
		}
	}
}

func (s *spans) of(trace string) []span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]span(nil), s.all[trace]...)
}

// oneTrace has a visitor click and requires that all that follows, up to the webhook and the mail, is one trace.
func oneTrace(t *testing.T, d system.Desk, s *spans) {
	form := d.Admin.Get(t, "/forms/"+d.Form).Is(200)
	definition, _ := form.Field("definition").(map[string]any)
	definition["notify"] = map[string]any{"emails": []string{"desk@example.com"}}
	// Addresses are added by people only.
	d.System.SignIn(t).Call(t, "PATCH", "/forms/"+d.Form, map[string]any{"definition": definition}).Is(200)
	token := d.FormToken(t)
	system.Wait()
	trace, click := strings.ReplaceAll(uuid.NewString(), "-", ""), strings.ReplaceAll(uuid.NewString(), "-", "")[:16]
	who := d.System.Visitor().With("traceparent", "00-"+trace+"-"+click+"-01")
	who.Post(t, "/forms/"+d.Form+"/submit", d.Submission(token, system.Address("traced"))).Is(200)

	wanted := map[string]string{"gateway": "POST", "frontdesk-forms": "submit-form", "frontdesk-contacts": "consume " + proto.KindEnsureContact, "frontdesk-settings": "consume " + proto.KindMail,
		"frontdesk-webhooks": "deliver form.submitted"}
	missing := func() map[string]string {
		left := map[string]string{}
		for service, name := range wanted {
			left[service] = name
			for _, x := range s.of(trace) {
				if x.service == service && strings.HasPrefix(x.name, name) {
					delete(left, service)
				}
			}
		}
		return left
	}
	for end := time.Now().Add(30 * time.Second); len(missing()) > 0; time.Sleep(50 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "the trace lacks %v: %v", missing(), s.of(trace))
	}
	until.Holds(t, func() bool {
		known := map[string]bool{click: true}
		for _, x := range s.of(trace) {
			known[x.id] = true
		}
		for _, x := range s.of(trace) {
			if !known[x.parent] {
				return false
			}
		}
		return true
	}, 30*time.Second, 50*time.Millisecond, "a span of the trace has a parent that is not in it")
}
