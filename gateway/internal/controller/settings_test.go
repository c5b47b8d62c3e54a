package controller

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
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

func TestEveryKnobThatCannotBeUsedIsNamed(t *testing.T) {
	_, err := SettingsFrom(environment(map[string]string{
		"SVC_HTTP_PORT": "web", "SVC_LISTEN": "here", "SVC_ADMIN_LISTEN": "127.0.0.1:", "SVC_PUBLIC_URL": "example.com",
		"SVC_GATEWAY_URL": "ftp://x", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318",
	}))
	for _, name := range []string{"SVC_HTTP_PORT", "SVC_LISTEN", "SVC_ADMIN_LISTEN", "SVC_PUBLIC_URL", "SVC_GATEWAY_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		require.ErrorContains(t, err, name)
	}
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
