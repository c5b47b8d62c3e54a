package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestEveryKnobThatHoldsASecretMayStandInAFile(t *testing.T) {
	secret := regexp.MustCompile(`(PASSWORD|MASTER_KEY|SECRET|TOKEN|DATABASE_URL|SMTP_URL)$`)
	for _, of := range []reflect.Type{reflect.TypeFor[knobs](), reflect.TypeFor[kafkaKnobs]()} {
		for f := range of.Fields() {
			require.Equal(t, secret.MatchString(f.Tag.Get("env")), f.Tag.Get("secret") == "true", f.Name)
		}
	}
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("k", 32)+"\n"), 0o600))
	t.Setenv("SVC_MASTER_KEY_FILE", file)
	k, err := readKnobs()
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("k", 32), k.MasterKey)

	t.Setenv("SETTINGS_DB_PASSWORD_FILE", "/nowhere")
	require.ErrorContains(t, provision(t.Context(), nil), "SETTINGS_DB_PASSWORD_FILE cannot be read")
	t.Setenv("SETTINGS_KAFKA_PASSWORD_FILE", "/nowhere")
	require.ErrorContains(t, provisionKafka(t.Context(), nil), "SETTINGS_KAFKA_PASSWORD_FILE cannot be read")
}

func TestThePrintedRightsAreThoseOfTheProcesses(t *testing.T) {
	var b strings.Builder
	printRights(&b)
	for _, user := range proto.Users() {
		for _, r := range proto.Rights(user) {
			require.Regexp(t, `(?m)^kafka-acls.sh .*User:`+user+` --`+strings.ToLower(string(r.Resource))+` `+regexp.QuoteMeta(r.Name)+` .*--operation `+string(r.Operation)+`\b`, b.String())
		}
	}
	require.NotRegexp(t, `User:booking --topic settings\.mail .*Read`, b.String())
}

func TestReplicasOfAServiceHavePortsOfTheirOwn(t *testing.T) {
	t.Setenv("SVC_REPLICAS", "booking=3, contacts=2")
	k, err := readKnobs()
	require.NoError(t, err)
	l := &launch{knobs: k}
	require.Equal(t, []string{"settings", "contacts", "contacts-2", "booking", "booking-2", "booking-3", "forms", "webhooks"}, l.replicaNames())
	taken := map[int]string{}
	for _, p := range l.ports() {
		require.Empty(t, taken[p.number], "%s and %s have one port", p.of, taken[p.number])
		require.LessOrEqual(t, p.number-l.HTTPPort, l.lastOffset(), p.of)
		taken[p.number] = p.of
	}
	require.Len(t, l.addresses("booking"), 3)
	for _, wrong := range []string{"booking", "booking=0", "booking=10", "traefik=2"} {
		t.Setenv("SVC_REPLICAS", wrong)
		_, err := readKnobs()
		require.ErrorContains(t, err, "SVC_REPLICAS", wrong)
	}
}
