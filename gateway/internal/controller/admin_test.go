package controller

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/proto"
)

func idle(t *testing.T) *Controller {
	s, err := SettingsFrom(environment(nil))
	require.NoError(t, err)
	return New(s)
}

func TestThePageShowsServicesAppsAndRoutersEscaped(t *testing.T) {
	c := idle(t)
	for _, m := range house() {
		c.manifests.Put(m.GetService(), m)
	}
	c.manifests.Put("x", &proto.Manifest{Service: "<script>alert(1)</script>"})
	c.apps.Put(appsKey, Apps{Version: 4, Items: []App{{ID: "booking", Name: "Booking & more"}}})
	c.presence.Put("a", &proto.Presence{Instance: "booking-1", Service: "booking", At: timestamppb.Now(), AppsVersion: 4})
	c.presence.Put("b", &proto.Presence{Instance: "booking-late", Service: "booking", At: timestamppb.New(time.Now().Add(-time.Minute))})
	c.presence.Put("c", &proto.Presence{Instance: "booking-gone", Service: "booking", At: timestamppb.New(time.Now().Add(-time.Hour))})
	manifests, apps := c.tables()
	c.state = state{wanted: Config(manifests, apps, testOptions), inForce: true, apps: 4, since: time.Now()}

	w := httptest.NewRecorder()
	c.admin().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	body := w.Body.String()
	for _, part := range []string{"In force", c.state.wanted.Hash, "booking-1", `class="bad">booking-late`, "Booking &amp; more", "contacts-rest", "http://127.0.0.1:8193", "&lt;script&gt;"} {
		require.Contains(t, body, part)
	}
	require.NotContains(t, body, "booking-gone")
	require.NotContains(t, body, "<script")
}

func TestReadinessFollowsWhatTraefikServes(t *testing.T) {
	c := idle(t)
	ready := func() int {
		w := httptest.NewRecorder()
		c.admin().ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		return w.Code
	}
	require.Equal(t, 503, ready())
	c.state.inForce = true
	require.Equal(t, 200, ready())
}

func TestAnOlderVersionOfTheAppsDoesNotComeBack(t *testing.T) {
	value, err := protobuf.Marshal(&proto.Envelope{Version: 7, Data: []byte(`{"apps":[{"id":"booking","name":"Booking","enabled":false,"always_on":false}]}`)})
	require.NoError(t, err)
	apps, err := decodeApps(value)
	require.NoError(t, err)
	require.Equal(t, Apps{Version: 7, Items: []App{{ID: "booking", Name: "Booking"}}}, apps)
	require.Equal(t, apps, apps.orNewer(Apps{Version: 6}))
	require.EqualValues(t, 8, apps.orNewer(Apps{Version: 8}).Version)

	_, err = decodeApps([]byte("\xff"))
	require.Error(t, err)
}
