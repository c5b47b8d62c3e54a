package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestNothingStartsWithNonsenseInAKnob(t *testing.T) {
	for _, user := range proto.Users() {
		t.Setenv(kafkaPassword(user), "password")
	}
	for program, of := range map[string]struct {
		names, free []string
		read        func() error
	}{
		"run": {names[knobs](), []string{"SVC_DATA_DIR", "SVC_ROBOTS", "SVC_ADMIN_LOGIN", "SVC_ADMIN_PASSWORD", "SVC_KAFKA_CA", "SVC_KAFKA_USER", "SVC_KAFKA_PASSWORD", "SVC_TRAEFIK_BIN", "PG_BIN",
			"SVC_OIDC_CLIENT_ID", "SVC_OIDC_CLIENT_SECRET", "SVC_OIDC_NAME", "SVC_OIDC_CLAIM", "SVC_OIDC_MFA"},
			func() error { _, err := readKnobs(); return err }},
		"provision-kafka": {names[kafkaKnobs](), []string{"SVC_KAFKA_CA", "SVC_KAFKA_CERT", "SVC_KAFKA_CERT_KEY", "SVC_KAFKA_USER", "SVC_KAFKA_PASSWORD"},
			func() error { return provisionKafka(t.Context(), nil) }},
	} {
		for _, name := range of.names {
			t.Run(program+" "+name, func(t *testing.T) {
				t.Setenv(name, "\x01")
				require.ErrorContains(t, of.read(), name+" ")
				if !slices.Contains(of.free, name) {
					t.Setenv(name, "no such thing!")
					require.ErrorContains(t, of.read(), name+" ")
				}
			})
		}
	}
}

func TestTheDefaultsOfTheLocalRunFit(t *testing.T) {
	for _, name := range names[knobs]() {
		t.Setenv(name, "")
	}
	k, err := readKnobs()
	require.NoError(t, err)
	require.Equal(t, 8080, k.HTTPPort)
}

func TestAllThatIsWrongInTheLocalRunIsToldAtOnce(t *testing.T) {
	t.Setenv("SVC_MAIL_FROM", "salon")
	t.Setenv("SVC_SMTP_URL", "mail.example.com:587")
	t.Setenv("SVC_REPLICAS", "traefik=2")
	_, err := readKnobs()
	for _, name := range []string{"SVC_MAIL_FROM", "SVC_SMTP_URL", "SVC_REPLICAS"} {
		require.ErrorContains(t, err, name+" ")
	}
}

// names are the variables of a struct's fields.
func names[T any]() (all []string) {
	for f := range reflect.TypeFor[T]().Fields() {
		if name := f.Tag.Get("env"); name != "" && name != "-" {
			all = append(all, name)
		}
	}
	return all
}
