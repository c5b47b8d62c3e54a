package controller

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/trust"
	"frontdesk/proto"
)

func idle(t *testing.T) *Controller {
	s, err := SettingsFrom(environment(nil))
	require.NoError(t, err)
	return New(s)
}

// get asks the admin port for a page.
func get(c *Controller, path string) (status int, body string) {
	w := httptest.NewRecorder()
	c.admin().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code, w.Body.String()
}

func TestThePagesShowServicesAppsAndRoutesEscaped(t *testing.T) {
	c := idle(t)
	for _, m := range house() {
		c.manifests.Put(m.GetService(), m)
	}
	c.manifests.Put("x", &proto.Manifest{Service: "<b>alert(1)</b>"})
	c.apps.Put(appsKey, Apps{Version: 4, Items: []App{{ID: "booking", Name: "Booking & more"}}})
	c.presence.Put("booking-1", &proto.Presence{Instance: "booking-1", Service: "booking", At: timestamppb.Now(), AppsVersion: 4, Version: "1.2.3"})
	c.presence.Put("booking-late", &proto.Presence{Instance: "booking-late", Service: "booking", At: timestamppb.New(time.Now().Add(-time.Minute))})
	c.presence.Put("booking-gone", &proto.Presence{Instance: "booking-gone", Service: "booking", At: timestamppb.New(time.Now().Add(-time.Hour))})
	manifests, apps, _ := c.tables()
	c.condition.want(Config(manifests, apps, testOptions))
	c.condition.serves(4, time.Now())

	for path, parts := range map[string][]string{
		"/":                     {"Routes in force", "booking-late is down", "&lt;b&gt;alert"},
		"/instances":            {"booking-1", "1.2.3", `class="state bad">down`, "not signed by its service"},
		"/services/booking":     {"booking-1", "Nothing has been measured yet"},
		"/apps":                 {"Booking &amp; more", `class="state unknown">off`, "Version 4"},
		"/routes":               {c.condition.current().wanted.Hash, "/v1/contacts/{id}", "contacts-rest", `href="http://127.0.0.1:8085/metrics"`},
		"/routes?search=MANAGE": {"1 of ", "/manage"},
		"/parked-messages":      {"no instance of the service answers"},
	} {
		status, body := get(c, path)
		require.Equal(t, 200, status, path)
		for _, part := range parts {
			require.Contains(t, body, part, path)
		}
		require.NotContains(t, body, "booking-gone", path)
		require.NotContains(t, body, "<b>alert", path)
		require.NotRegexp(t, `<script>|style=|onclick`, body, path)
	}
	for _, path := range []string{"/nothing", "/services/nothing", "/parked-messages/booking/x", "/parked-messages/nothing/1", "/static/none.js"} {
		status, _ := get(c, path)
		require.Equal(t, 404, status, path)
	}
}

func TestThePageLinksToTraefikOnlyWhereABrowserFindsIt(t *testing.T) {
	s, err := SettingsFrom(environment(map[string]string{"SVC_TRAEFIK_API": "traefik:8085"}))
	require.NoError(t, err)
	_, body := get(New(s), "/routes")
	require.Contains(t, body, "<code>traefik:8085</code>")
	require.NotContains(t, body, `href="http://traefik`)
}

func TestReadinessFollowsWhatTraefikServes(t *testing.T) {
	c := idle(t)
	status, body := get(c, "/readyz")
	require.Equal(t, 503, status)
	require.JSONEq(t, `{"ready":false,"waits_for":[{"for":"routes and apps","why":"the tables are being read"}]}`, body)
	c.condition.want(Config(nil, Apps{}, testOptions))
	c.tried(t.Context(), subjectTraefik, errors.New("nobody listens"))
	status, body = get(c, "/readyz")
	require.Equal(t, 503, status)
	require.JSONEq(t, `{"ready":false,"waits_for":[{"for":"Traefik","why":"Traefik does not serve the configuration"}]}`, body)
	c.condition.serves(0, time.Now())
	status, body = get(c, "/readyz")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"ready":true}`, body)
}

func TestOnlyAdminPortsThatTheirServiceHasSignedAreCalled(t *testing.T) {
	const master = "a master key that only tests know of"
	ring := trust.RingOf(proto.Services, func(string) []string { return []string{master} })
	for name, c := range map[string]struct {
		gateway, signer, address string
		called                   bool
	}{
		"a name of the service":                     {"http://traefik:8080", "booking", "http://booking-2:9000", true},
		"an address of the network":                 {"http://traefik:8080", "booking", "http://10.1.2.3:9000", true},
		"this host, where all run":                  {"http://127.0.0.1:8080", "booking", "http://127.0.0.1:8103", true},
		"this host, where only the controller runs": {"http://traefik:8080", "booking", "http://127.0.0.1:8103", false},
		"the host's provider":                       {"http://traefik:8080", "booking", "http://169.254.169.254", false},
		"another service's name":                    {"http://traefik:8080", "booking", "http://contacts:9000", false},
		"another service's signature":               {"http://traefik:8080", "contacts", "http://booking:9000", false},
		"a path":                                    {"http://traefik:8080", "booking", "http://booking:9000/parked?x=", false},
		"all interfaces":                            {"http://traefik:8080", "booking", "http://[::]:9000", false},
		"another scheme":                            {"http://traefik:8080", "booking", "file://booking/etc/passwd", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := SettingsFrom(environment(map[string]string{"SVC_GATEWAY_URL": c.gateway}))
			require.NoError(t, err)
			s.PublicKeys = ring
			signature, err := trust.New(c.signer, []string{master}, ring).Sign(trust.Message{Topic: proto.PresenceTopic, Key: "booking-1", Value: []byte(c.address), Stamp: 1})
			require.NoError(t, err)
			err = New(s).mayCall("booking-1", &proto.Presence{Instance: "booking-1", Service: "booking", AdminUrl: c.address, AdminSignature: signature})
			require.Equal(t, c.called, err == nil, "%v", err)
		})
	}
}

func TestTheAppsAreDecodedWithTheirVersion(t *testing.T) {
	value, err := protobuf.Marshal(&proto.Envelope{Version: 7, Data: []byte(`{"apps":[{"id":"booking","name":"Booking","enabled":false,"always_on":false}]}`)})
	require.NoError(t, err)
	apps, err := decodeApps(value)
	require.NoError(t, err)
	require.Equal(t, Apps{Version: 7, Items: []App{{ID: "booking", Name: "Booking"}}}, apps)

	_, err = decodeApps([]byte("\xff"))
	require.Error(t, err)
}
