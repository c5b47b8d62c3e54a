package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/knob"
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
		"run": {knob.Names[knobs](), []string{"SVC_DATA_DIR", "SVC_ADMIN_LOGIN", "SVC_ADMIN_PASSWORD", "SVC_KAFKA_CA", "SVC_KAFKA_USER", "SVC_KAFKA_PASSWORD", "SVC_TRAEFIK_BIN", "PG_BIN"},
			func() error { _, err := readKnobs(); return err }},
		"provision-kafka": {knob.Names[kafkaKnobs](), []string{"SVC_KAFKA_CA", "SVC_KAFKA_CERT", "SVC_KAFKA_CERT_KEY", "SVC_KAFKA_USER", "SVC_KAFKA_PASSWORD"},
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
	for _, name := range knob.Names[knobs]() {
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
