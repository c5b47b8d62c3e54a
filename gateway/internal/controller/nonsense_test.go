package controller

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheControllerDoesNotStartWithNonsenseInAKnob(t *testing.T) {
	free := []string{"SVC_TLS_CERT", "SVC_TLS_KEY", "SVC_ACME_CA", "SVC_ACME_FILE", "SVC_DATA_DIR", "SVC_KAFKA_CA", "SVC_KAFKA_USER", "SVC_KAFKA_PASSWORD"}
	all := map[string]string{}
	for _, k := range knobs {
		_, err := SettingsFrom(environment(map[string]string{k.name: "\x01"}))
		require.ErrorContains(t, err, k.name+" ")
		if !slices.Contains(free, k.name) {
			_, err := SettingsFrom(environment(map[string]string{k.name: "no such thing!"}))
			require.ErrorContains(t, err, k.name+" ")
		}
		all[k.name] = "\x01"
	}
	_, err := SettingsFrom(environment(all))
	for _, k := range knobs {
		require.ErrorContains(t, err, k.name+" ", "all that is wrong is told at once")
	}
}

func TestTheControllerRefusesWhatCannotWork(t *testing.T) {
	for name, value := range map[string]string{"SVC_KAFKA_PARTITIONS": "-3", "KAFKA_BROKERS": "kafka", "SVC_BASE_URL": "localhost:8080", "SVC_LISTEN": "host:x", "SVC_TRAEFIK_API": ":70000",
		"SVC_ACME_CHALLENGE": "dns", "SVC_ADMIN_HOSTS": "http://desk"} {
		_, err := SettingsFrom(environment(map[string]string{name: value}))
		require.ErrorContains(t, err, name+" ")
	}
}
