package controller

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestAServiceGetsOnlyItsOwnRoutes(t *testing.T) {
	s, err := SettingsFrom(environment(nil))
	require.NoError(t, err)
	byService := map[string]*proto.Manifest{
		"settings": manifest("settings", "http://127.0.0.1:8091", "POST /auth/login", "page /account"),
		"booking": manifest("booking", "http://127.0.0.1:8093", "POST /auth/login", "GET /booking/slots", "GET /booking/{broken", "page /account/sign-in",
			"page /manage", "page /"),
		"forms": manifest("settings", "http://127.0.0.1:8094", "POST /auth/login"),
	}
	admitted, refusals := admit(byService, s)
	require.Equal(t, []string{
		"booking: a route is left out: POST /auth/login is no operation of booking",
		`booking: a route is left out: path "/v1/booking/{broken" has a segment "{broken" that cannot be routed`,
		"booking: a page is left out: /account/sign-in is no page of booking",
		"booking: a page is left out: / is no page of booking",
		`forms: its manifest says that it is of "settings", so it is left out`,
	}, refusals)
	require.Len(t, admitted, 2)
	require.Len(t, byService["booking"].GetRoutes(), 3, "the table is not changed")
	c := Config(admitted, Apps{}, testOptions)
	require.Equal(t, "settings", takes(c, "POST", "/v1/auth/login").Service)
	require.Equal(t, "settings", takes(c, "GET", "/account").Service)
	require.Equal(t, "booking", takes(c, "GET", "/manage").Service)
}

func TestAServiceIsOnItsOwnHost(t *testing.T) {
	for name, c := range map[string]struct {
		gateway, hosts string
		allowed        []string
		refused        []string
	}{
		"on one machine": {"http://127.0.0.1:8080", "",
			[]string{"http://127.0.0.1:8092", "http://localhost:1", "http://[::1]:1", "http://contacts:8000"},
			[]string{"http://10.0.0.7", "http://booking:8000", "http://contacts.example.com", "http://", "nonsense", "", "http://169.254.169.254"}},
		"in containers": {"http://traefik:8080", "",
			[]string{"http://contacts:8000", "http://contacts-2:8000"},
			[]string{"http://127.0.0.1:8085", "http://localhost:8085", "http://[::1]:8085", "http://traefik:8085", "http://contactsx:8000", "http://contacts-2.example.com", "http://contacts@booking:8000"}},
		"elsewhere": {"http://edge:8080", "contacts=10.0.0.7:8000, contacts=*.contacts.svc,booking=10.0.0.8",
			[]string{"http://10.0.0.7:8000", "http://a.contacts.svc:1"},
			[]string{"http://10.0.0.7:8001", "http://10.0.0.8", "http://contacts.svc", "http://xcontacts.svc"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := SettingsFrom(environment(map[string]string{"SVC_GATEWAY_URL": c.gateway, "SVC_GATEWAY_HOSTS": c.hosts}))
			require.NoError(t, err)
			for _, u := range c.allowed {
				require.True(t, s.mayBeAt("contacts", u), u)
			}
			for _, u := range c.refused {
				require.False(t, s.mayBeAt("contacts", u), u)
			}
			admitted, refusals := admit(map[string]*proto.Manifest{"contacts": manifest("contacts", c.allowed[0]+","+c.refused[0], "GET /contacts")}, s)
			require.Equal(t, c.allowed[0], admitted[0].GetBaseUrl())
			require.Len(t, refusals, 1)
			require.Contains(t, refusals[0], c.refused[0])
		})
	}
	_, err := SettingsFrom(environment(map[string]string{"SVC_GATEWAY_HOSTS": "10.0.0.7"}))
	require.ErrorContains(t, err, "SVC_GATEWAY_HOSTS")
}

func TestThePageSaysWhatIsLeftOut(t *testing.T) {
	c := idle(t)
	c.manifests.Put("forms", manifest("forms", "http://203.0.113.9", "POST /auth/login"))
	w := httptest.NewRecorder()
	c.admin().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	require.Contains(t, w.Body.String(), "POST /auth/login is no operation of forms")
	require.Contains(t, w.Body.String(), "http://203.0.113.9")
	require.Contains(t, w.Body.String(), "SVC_GATEWAY_HOSTS does not allow it")
}
