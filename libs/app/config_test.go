package app

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// least is an environment with which a service starts.
func least(more ...string) []string {
	return append([]string{"DATABASE_URL=postgres://desk:hunter2@localhost/desk", "SVC_MASTER_KEY=" + master}, more...)
}

func TestTheDefaultsOfAServiceFit(t *testing.T) {
	c, err := readConfig(least())
	require.NoError(t, err)
	require.Equal(t, "Europe/Brussels", c.Zone.String())
	require.Equal(t, c.PublicURL, c.GatewayURL)
}

func TestNoServiceStartsWithNonsenseInAKnob(t *testing.T) {
	// A control character fits no knob. Words fit those that are free.
	free := []string{"SVC_KAFKA_CA", "SVC_KAFKA_USER", "SVC_KAFKA_PASSWORD", "SVC_ADMIN_LOGIN", "SVC_ADMIN_PASSWORD", "SVC_ROBOTS",
		"SVC_OIDC_CLIENT_ID", "SVC_OIDC_CLIENT_SECRET", "SVC_OIDC_NAME", "SVC_OIDC_CLAIM", "SVC_OIDC_MFA"}
	everything := least()
	for _, name := range names[Config]() {
		_, err := readConfig(least(name + "=\x01"))
		require.ErrorContains(t, err, name+" ")
		if !slices.Contains(free, name) {
			_, err := readConfig(least(name + "=no such thing!"))
			require.ErrorContains(t, err, name+" ")
		}
		everything = append(everything, name+"=\x01")
	}
	_, err := readConfig(everything)
	for _, name := range names[Config]() {
		require.ErrorContains(t, err, name+" ", "all that is wrong is told at once")
	}
}

func TestAServiceRefusesWhatCannotWork(t *testing.T) {
	for _, wrong := range []string{
		"SVC_MAIL_FROM=salon", "SVC_MAIL_FROM=a@example.com,b@example.com", "SVC_SMTP_URL=mail.example.com:587", "SVC_SMTP_URL=smtp://me:hunter2@h:x",
		"SVC_KAFKA_PARTITIONS=-3", "SVC_DRAIN=-1s", "SVC_BASE_URL=localhost:8080", "SVC_BASE_URL=http://h:x", "KAFKA_BROKERS=kafka", "KAFKA_BROKERS=a:9092,b",
		"SVC_LISTEN=8080", "SVC_ADMIN_LISTEN=host", "SVC_RATE_FACTOR=-1", "SVC_OLD_KEYS=hunter2", "SVC_PUBLIC_KEYS=settings:AAAA", "DATABASE_URL=mysql://me:hunter2@h/x",
		"SVC_ADMIN_EMAIL=admin", "SVC_TIMEZONE=Local", "SVC_KAFKA_USER=me",
		"SVC_OIDC_ISSUER=https://login.example.com", "SVC_OIDC_ONLY=1", "SVC_OIDC_ROLES=admins=king", "SVC_OIDC_ROLES=staff", "SVC_OIDC_ROLES=,", "SVC_OIDC_CLIENT_SECRET=hunter2",
	} {
		name, _, _ := strings.Cut(wrong, "=")
		_, err := readConfig(least(wrong))
		require.ErrorContains(t, err, name, wrong)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := readConfig(nil)
	require.EqualError(t, err, "DATABASE_URL is required\nSVC_MASTER_KEY is required")
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
