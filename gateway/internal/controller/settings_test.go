package controller

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// masterOf is the key of a service.
func masterOf(service string) []string {
	return []string{service + " has a master key of its own here"}
}

// ring holds the keys of the services and of those that only tests have.
var ring = trust.RingOf(append([]string{"house"}, proto.Services...), masterOf)

// environment are these variables, and the keys of the services unless vars has others.
func environment(vars map[string]string) func(string) string {
	return func(name string) string {
		if v, ok := vars[name]; ok || name != "SVC_PUBLIC_KEYS" {
			return v
		}
		return strings.Join(ring.Strings(), ",")
	}
}

func TestTheAddressesCountFromThePort(t *testing.T) {
	s, err := SettingsFrom(environment(map[string]string{"SVC_HTTP_PORT": "9000"}))
	require.NoError(t, err)
	require.Equal(t, ":9000", s.HTTPListen)
	require.Equal(t, "http://127.0.0.1:9000", s.GatewayURL.String())
	require.Equal(t, "127.0.0.1:9005", s.TraefikAPI)
	require.Equal(t, "127.0.0.1:9006", s.Listen)
	require.Equal(t, "http://127.0.0.1:9006", s.BaseURL)
	require.Equal(t, "127.0.0.1:9007", s.AdminListen)
	require.Equal(t, "127.0.0.1:9004", s.Brokers)
	require.Equal(t, "http://localhost:9000", s.PublicURL.String())
}

func TestThePageMeasuresEveryTenSecondsOrMoreOften(t *testing.T) {
	for value, every := range map[string]time.Duration{"": 10 * time.Second, "10s": 10 * time.Second, "1s": time.Second} {
		s, err := SettingsFrom(environment(map[string]string{"SVC_MEASURE_EVERY": value}))
		require.NoError(t, err)
		require.Equal(t, every, s.MeasureEvery)
	}
	for _, value := range []string{"1", "soon", "0s", "-1s", "999ms", "11s"} {
		_, err := SettingsFrom(environment(map[string]string{"SVC_MEASURE_EVERY": value}))
		require.ErrorContains(t, err, "SVC_MEASURE_EVERY has to be a time ")
	}
}

func TestEveryKnobThatCannotBeUsedIsNamed(t *testing.T) {
	_, err := SettingsFrom(environment(map[string]string{
		"SVC_HTTP_PORT": "web", "SVC_LISTEN": "here", "SVC_ADMIN_LISTEN": "127.0.0.1:", "SVC_PUBLIC_URL": "example.com",
		"SVC_KAFKA_TLS": "perhaps", "SVC_KAFKA_CA": "/nowhere", "SVC_KAFKA_PASSWORD_FILE": "/nowhere",
		"SVC_GATEWAY_URL": "ftp://x", "SVC_PUBLIC_KEYS": "settings:AAAA", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318",
	}))
	for _, name := range []string{"SVC_HTTP_PORT", "SVC_LISTEN", "SVC_ADMIN_LISTEN", "SVC_PUBLIC_URL", "SVC_GATEWAY_URL", "SVC_PUBLIC_KEYS", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"SVC_KAFKA_TLS", "SVC_KAFKA_CA", "SVC_KAFKA_PASSWORD_FILE"} {
		require.ErrorContains(t, err, name)
	}
	_, err = SettingsFrom(environment(map[string]string{"SVC_PUBLIC_KEYS": ""}))
	require.ErrorContains(t, err, "SVC_PUBLIC_KEYS is required")
}

func TestHelpNamesEveryKnob(t *testing.T) {
	var b bytes.Buffer
	Help(&b)
	for _, k := range knobs {
		require.Contains(t, b.String(), k.name)
	}
}

func TestTheFilesLetTraefikStartAndAnEarlierConfigurationStays(t *testing.T) {
	s, err := SettingsFrom(environment(map[string]string{"SVC_DATA_DIR": t.TempDir(), "SVC_HTTP_LISTEN": "127.0.0.1:9000", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/"}))
	require.NoError(t, err)
	template, err := os.ReadFile("../../traefik.yml")
	require.NoError(t, err)
	require.NoError(t, s.WriteFiles(string(template)))

	static, err := os.ReadFile(s.staticFile())
	require.NoError(t, err)
	require.Contains(t, string(static), `address: "127.0.0.1:9000"`)
	require.Contains(t, string(static), `endpoint: "http://collector:4318/v1/traces"`)
	dynamic, err := os.ReadFile(s.dynamicFile())
	require.NoError(t, err)
	require.Equal(t, string(Config(nil, Apps{}, s.Options()).JSON()), string(dynamic))

	require.NoError(t, os.WriteFile(s.dynamicFile(), []byte("{}"), 0o644))
	require.NoError(t, s.WriteFiles(string(template)))
	dynamic, err = os.ReadFile(s.dynamicFile())
	require.NoError(t, err)
	require.Equal(t, "{}", string(dynamic))
}

func TestTLSThatCannotWorkIsNamed(t *testing.T) {
	for want, vars := range map[string]map[string]string{
		"SVC_TLS_CERT and SVC_TLS_KEY have to name": {},
		"cannot be used":                         {"SVC_TLS_CERT": "/nowhere", "SVC_TLS_KEY": "/nowhere"},
		"exclude each other":                     {"SVC_TLS_CERT": "/x", "SVC_ACME_EMAIL": "a@example.com"},
		"SVC_ACME_FILE":                          {"SVC_ACME_EMAIL": "a@example.com"},
		"SVC_ACME_CHALLENGE has to be":           {"SVC_ACME_EMAIL": "a@example.com", "SVC_ACME_CHALLENGE": "dns"},
		"SVC_REDIRECT_LISTEN has to be set":      {"SVC_ACME_EMAIL": "a@example.com", "SVC_ACME_CHALLENGE": "http"},
		"SVC_PUBLIC_URL has to begin with https": {"SVC_ACME_EMAIL": "a@example.com", "SVC_ACME_FILE": "/x"},
		"SVC_TRUSTED_PROXIES":                    {"SVC_TRUSTED_PROXIES": "everybody"},
	} {
		vars["SVC_HTTPS_LISTEN"] = ":8443"
		_, err := SettingsFrom(environment(vars))
		require.ErrorContains(t, err, want)
	}
}
