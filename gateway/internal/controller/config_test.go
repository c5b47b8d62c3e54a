package controller

import (
	"bytes"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

var update = flag.Bool("update", false, "write the golden files anew")

var testOptions = Options{AnswersURL: "http://127.0.0.1:8086"}

// manifest reads lines such as "GET /contacts/{id}", "POST /x public app=booking", "GET /y stream" and
// "page /manage app=booking"; "replays" is a POST that takes an Idempotency-Key.
func manifest(service, baseURL string, lines ...string) *proto.Manifest {
	m := &proto.Manifest{Service: service, BaseUrl: baseURL}
	for _, line := range lines {
		f := strings.Fields(line)
		r := &proto.Route{Method: f[0], Path: f[1]}
		for _, flag := range f[2:] {
			app, isApp := strings.CutPrefix(flag, "app=")
			switch {
			case isApp:
				r.App = app
			case flag == "public":
				r.Public = true
			case flag == "stream":
				r.Stream = true
			case flag == "replays":
				r.Replays = true
			}
		}
		if f[0] == "page" {
			m.Pages = append(m.Pages, &proto.Page{Path: r.Path, App: r.App, Stream: r.Stream})
		} else {
			m.Routes = append(m.Routes, r)
		}
	}
	return m
}

func house() []*proto.Manifest {
	return []*proto.Manifest{
		manifest("settings", "http://127.0.0.1:8091",
			"GET /staff/invitations", "DELETE /staff/invitations/{id}", "POST /staff", "GET /settings/general", "PATCH /apps/{app}",
			"GET /abilities/{ns}/{name}", "page /{slug}", "page /_ui/settings/"),
		manifest("booking", "http://127.0.0.1:8093,http://127.0.0.1:8193",
			"GET /staff", "PATCH /staff/{user}", "DELETE /staff/{user}", "PUT /staff/{user}/hours app=booking",
			"GET /booking/slots public app=booking", "POST /booking/book public replays app=booking",
			"GET /settings/booking app=booking", "GET /abilities/svc/get-slots app=booking", "page /manage app=booking", "page /{portal}/book app=booking"),
		manifest("contacts", "http://127.0.0.1:8092",
			"GET /contacts", "POST /contacts replays", "GET /contacts/{id}", "GET /exports/contacts.csv stream", "POST /marketing/confirm public"),
	}
}

func off(apps ...string) Apps {
	a := Apps{Version: 2, Items: []App{{ID: "contacts", AlwaysOn: true}}}
	for _, id := range apps {
		a.Items = append(a.Items, App{ID: id})
	}
	return a
}

func TestTheWholeConfigurationIsAsRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		manifests []*proto.Manifest
		apps      Apps
		opts      Options
	}{
		"nothing.json":     {nil, Apps{}, testOptions},
		"house.json":       {house(), Apps{}, testOptions},
		"booking-off.json": {house(), off("booking"), Options{AnswersURL: "http://127.0.0.1:8086", HTTPS: true}},
	} {
		got := append(Config(c.manifests, c.apps, c.opts).JSON(), '\n')
		golden := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(golden, got, 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s differs; go test -update ./gateway/... writes it anew", name)
	}
}

func TestTheOrderOfManifestsAndRoutesChangesNothing(t *testing.T) {
	want := Config(house(), Apps{}, testOptions)
	for range 20 {
		ms := house()
		rand.Shuffle(len(ms), func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
		for _, m := range ms {
			rand.Shuffle(len(m.Routes), func(i, j int) { m.Routes[i], m.Routes[j] = m.Routes[j], m.Routes[i] })
		}
		require.Equal(t, want.Hash, Config(ms, Apps{}, testOptions).Hash)
	}
}

var (
	ruleMethods = regexp.MustCompile("Method\\(`([A-Z]+)`\\)")
	rulePath    = regexp.MustCompile("Path(Regexp|Prefix)?\\(`([^`]+)`\\)")
)

// takes finds the router that Traefik would choose: the first by priority whose rule holds.
func takes(c *Configuration, method, path string) Router {
	names := slices.SortedFunc(maps.Keys(c.HTTP.Routers), func(a, b string) int { return c.HTTP.Routers[b].Priority - c.HTTP.Routers[a].Priority })
	for _, name := range names {
		r := c.HTTP.Routers[name]
		if methods := ruleMethods.FindAllStringSubmatch(r.Rule, -1); methods != nil &&
			!slices.ContainsFunc(methods, func(m []string) bool { return m[1] == method }) {
			continue
		}
		m := rulePath.FindStringSubmatch(r.Rule)
		if m == nil {
			continue
		}
		switch m[1] {
		case "Regexp":
			if !regexp.MustCompile(m[2]).MatchString(path) {
				continue
			}
		case "Prefix":
			if !strings.HasPrefix(path, m[2]) {
				continue
			}
		default:
			if path != m[2] {
				continue
			}
		}
		return r
	}
	return Router{}
}

func TestEachPathLeadsToItsService(t *testing.T) {
	on, withoutBooking := Config(house(), Apps{}, testOptions), Config(house(), off("booking"), testOptions)
	for _, c := range []struct{ request, on, off string }{
		{"GET /v1/contacts", "contacts", "contacts"},
		{"DELETE /v1/contacts", "contacts", "contacts"}, // 405 is the service's to say
		{"GET /v1/contacts/7", "contacts", "contacts"},
		{"GET /v1/exports/contacts.csv", "contacts-STREAM", "contacts-STREAM"},
		{"POST /v1/marketing/confirm", "contacts", "contacts"},
		{"GET /v1/booking/slots", "booking", answers},
		{"OPTIONS /v1/booking/book", "booking", answers},
		{"PUT /v1/staff/3/hours", "booking", answers},
		{"GET /v1/settings/booking", "booking", answers},
		{"GET /v1/settings/general", "settings", "settings"},
		// One path, two services.
		{"GET /v1/staff", "booking", "booking"},
		{"HEAD /v1/staff", "booking", "booking"},
		{"POST /v1/staff", "settings", "settings"},
		{"PUT /v1/staff", answers, answers},
		// A text is more than a wildcard, whoever has it.
		{"GET /v1/staff/invitations", "settings", "settings"},
		{"PATCH /v1/staff/7", "booking", "booking"},
		{"GET /v1/abilities/svc/list-forms", "settings", "settings"},
		// A switched-off route is not taken over by a wildcard of another service.
		{"GET /v1/abilities/svc/get-slots", "booking", answers},
		{"GET /manage", "booking", answers},
		{"GET /team/book", "booking", answers},
		{"GET /about", "settings", "settings"},
		// The service of a page says whether one with a slash at its end leads to it.
		{"GET /manage/", "booking", answers},
		{"GET /team/book/", "booking", answers},
		{"GET /about/", "settings", "settings"},
		{"GET /about//", answers, answers},
		{"GET /_ui/settings/app.js", "settings", "settings"},
		{"GET /v1", "answers", "answers"},
		{"GET /v1/nothing", answers, answers},
		{"GET /v1/contacts/7/8/9", answers, answers},
		{"GET /", answers, answers},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		if path == "/v1" {
			// Not a page of settings, though /{slug} would hold it.
			c.on, c.off = answers, answers
		}
		require.Equal(t, c.on, strings.TrimSuffix(takes(on, method, path).Service, orDown), "%s with booking", c.request)
		require.Equal(t, c.off, strings.TrimSuffix(takes(withoutBooking, method, path).Service, orDown), "%s without booking", c.request)
	}
}

func TestAlwaysOnAppsAndUnknownAppsStayOn(t *testing.T) {
	a := off("booking")
	require.False(t, a.On("booking"))
	require.True(t, a.On("contacts"), "always on")
	require.True(t, a.On("forms"), "no record")
	require.True(t, a.On(""), "no app")
}

func TestOnlyPublicRoutesAndAssetsAllowOtherOrigins(t *testing.T) {
	c := Config(house(), Apps{}, testOptions)
	for request, allowed := range map[string]bool{
		"POST /v1/booking/book": true, "OPTIONS /v1/booking/book": true, "GET /_ui/settings/x.js": true,
		"GET /v1/contacts": false, "GET /v1/exports/contacts.csv": false, "GET /manage": false,
	} {
		method, path, _ := strings.Cut(request, " ")
		r := takes(c, method, path)
		h := c.HTTP.Middlewares[r.Middlewares[0]].Headers
		require.NotNil(t, h, request)
		if allowed {
			require.Equal(t, []string{"*"}, h.AccessControlAllowOriginList, request)
			require.NotContains(t, h.AccessControlAllowHeaders, "Authorization", request)
		} else {
			require.Empty(t, h.AccessControlAllowOriginList, request)
		}
	}
}

func TestAPublicMethodOnASharedPathGetsItsPreflight(t *testing.T) {
	c := Config([]*proto.Manifest{manifest("forms", "http://127.0.0.1:1", "GET /things/{id} public", "DELETE /things/{id}")}, Apps{}, testOptions)
	require.Equal(t, headersOf(classPublic), takes(c, "GET", "/v1/things/1").Middlewares[0])
	require.Equal(t, headersOf(classPublic), takes(c, "OPTIONS", "/v1/things/1").Middlewares[0])
	require.Equal(t, headersOf(classRest), takes(c, "DELETE", "/v1/things/1").Middlewares[0])
	require.Equal(t, "forms", takes(c, "PUT", "/v1/things/1").Service, "the only service says 405 itself")
}

func TestStreamsAreNeitherCompressedNorBuffered(t *testing.T) {
	c := Config(house(), Apps{}, testOptions)
	r := takes(c, "GET", "/v1/exports/contacts.csv")
	require.NotContains(t, r.Middlewares, compression)
	require.Equal(t, "-1ns", c.HTTP.Services[r.Service].LoadBalancer.ResponseForwarding.FlushInterval)
	require.Contains(t, takes(c, "GET", "/v1/contacts").Middlewares, compression)
}

func TestEveryReplicaOfAServiceIsAServer(t *testing.T) {
	c := Config(house(), Apps{}, testOptions)
	require.Equal(t, []Server{{URL: "http://127.0.0.1:8093"}, {URL: "http://127.0.0.1:8193"}}, c.HTTP.Services["booking"].LoadBalancer.Servers)
}

func TestOnlyAServiceWithSeveralReplicasIsAskedWhichAreReady(t *testing.T) {
	c := Config(house(), Apps{}, testOptions)
	require.Equal(t, &Failover{Service: "booking", Fallback: "booking-ALIVE" + orDown}, c.HTTP.Services[takes(c, "GET", "/v1/booking/slots").Service].Failover)
	require.Equal(t, readyPath, c.HTTP.Services["booking"].LoadBalancer.HealthCheck.Path)
	require.Equal(t, &Failover{Service: "booking-ALIVE", Fallback: down}, c.HTTP.Services["booking-ALIVE"+orDown].Failover)
	require.Equal(t, livePath, c.HTTP.Services["booking-ALIVE"].LoadBalancer.HealthCheck.Path)
	require.Nil(t, c.HTTP.Services[takes(c, "GET", "/v1/contacts").Service].LoadBalancer.HealthCheck)
}

func TestAServiceWithoutAddressIsUnavailableAndNotUnknown(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:80", "ftp://x", "http://", "http://{{.}}"} {
		c := Config([]*proto.Manifest{manifest("forms", base, "GET /forms")}, Apps{}, testOptions)
		r := takes(c, "GET", "/v1/forms")
		require.Equal(t, answers, r.Service, base)
		require.Contains(t, r.Middlewares, unavailable, base)
	}
}

func TestABadManifestHarmsNobodyElse(t *testing.T) {
	want := Config(house(), Apps{}, testOptions)
	bad := manifest("Bad`", "http://127.0.0.1:1", "GET /bad")
	require.Equal(t, want.Hash, Config(append(house(), bad), Apps{}, testOptions).Hash)

	broken := house()
	broken[2].Routes = append(broken[2].Routes, &proto.Route{Method: "GET", Path: "/x`) || Path(`/v1/contacts"})
	require.Equal(t, want.Hash, Config(broken, Apps{}, testOptions).Hash)
}

func TestTheFirstServiceByNameKeepsAMethodThatTwoClaim(t *testing.T) {
	c := Config([]*proto.Manifest{
		manifest("zeta", "http://127.0.0.1:2", "GET /things"), manifest("alpha", "http://127.0.0.1:1", "GET /things"),
	}, Apps{}, testOptions)
	require.Equal(t, "alpha", takes(c, "GET", "/v1/things").Service)
}

func TestStrictTransportSecurityIsForHTTPSOnly(t *testing.T) {
	header := []byte("Strict-Transport-Security")
	require.False(t, bytes.Contains(Config(house(), Apps{}, testOptions).JSON(), header))
	require.True(t, bytes.Contains(Config(house(), Apps{}, Options{HTTPS: true}).JSON(), header))
}

func TestTheFileHoldsNothingThatTraefikWouldRunAsATemplate(t *testing.T) {
	require.NotContains(t, string(Config(house(), off("booking"), testOptions).JSON()), "{{")
}

func TestOnlyLargeBodiesAreTooLarge(t *testing.T) {
	re := regexp.MustCompile(regexp.MustCompile("`(\\^.*)`").FindStringSubmatch(tooLargeRule)[1])
	for _, fine := range []string{"", "0", "1048576", "33554432", "34603008", "34999999", "0034999999"} {
		require.False(t, re.MatchString(fine), fine)
	}
	for _, large := range []string{"35000000", "40000000", "99999999", "100000000", "035000000", "9223372036854775807"} {
		require.True(t, re.MatchString(large), large)
	}
}
