package app

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/erasure"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

const master = "a key that is kept away from every service"

func TestAServiceReadsOnlyWhatItHasSealed(t *testing.T) {
	t.Parallel()
	keys := func(service string) Keys {
		return NewKeys(Config{MasterKey: ServiceKey(master, service), SharedKey: "a key of all services that never changes"})
	}
	settings, contacts := keys("settings"), keys("contacts")
	sealed := contacts.Seal("secret", []byte("a session"))
	opened, err := contacts.Open("secret", sealed)
	require.NoError(t, err)
	require.Equal(t, "a session", string(opened))
	_, err = settings.Open("secret", sealed)
	require.ErrorIs(t, err, errSealed)
	require.Equal(t, settings.Person("Ada@example.com"), contacts.Person("ada@example.com"))
	require.NotEqual(t, settings.For("cursor"), contacts.For("cursor"))
}

func TestASecretIsReadWithAnOldKey(t *testing.T) {
	t.Parallel()
	const first, second = "the first key of thirty-two characters", "the second key of thirty-two characters"
	before := NewKeys(Config{MasterKey: first})
	sealed := before.Seal("totp", []byte("secret"))
	unmarked := sealed[len(sealedMark)+keyIDSize:] // as it was stored before keys had an id

	after, alone := NewKeys(Config{MasterKey: second, OldKeys: []string{first}}), NewKeys(Config{MasterKey: second})
	require.Equal(t, before.Person("ada"), after.Person("ada"))
	for name, sealed := range map[string][]byte{"marked": sealed, "unmarked": unmarked} {
		opened, err := after.Open("totp", sealed)
		require.NoError(t, err, name)
		require.Equal(t, "secret", string(opened), name)
		_, err = alone.Open("totp", sealed)
		require.ErrorIs(t, err, errSealed, name)
	}
	opened, err := alone.Open("totp", after.Seal("totp", []byte("new")))
	require.NoError(t, err)
	require.Equal(t, "new", string(opened))
	_, err = after.Open("another purpose", sealed)
	require.ErrorIs(t, err, errSealed)
	_, err = after.Open("totp", []byte("x"))
	require.ErrorIs(t, err, errSealed)
}

func TestASecretMayStandInAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("a key of more than thirty-two characters\n"), 0o600))
	c, err := readConfig([]string{"DATABASE_URL=postgres://x", "SVC_MASTER_KEY_FILE=" + file})
	require.NoError(t, err)
	require.Equal(t, "a key of more than thirty-two characters", c.MasterKey)

	for want, environ := range map[string][]string{
		"SVC_MASTER_KEY is set, and SVC_MASTER_KEY_FILE too": {"DATABASE_URL=postgres://x", "SVC_MASTER_KEY_FILE=" + file, "SVC_MASTER_KEY=x"},
		"DATABASE_URL_FILE cannot be read":                   {"DATABASE_URL_FILE=/nowhere", "SVC_MASTER_KEY_FILE=" + file},
		"SVC_OLD_KEYS needs at least 32 characters":          {"DATABASE_URL=postgres://x", "SVC_MASTER_KEY_FILE=" + file, "SVC_OLD_KEYS=short"},
	} {
		_, err := readConfig(environ)
		require.ErrorContains(t, err, want)
	}
}

func TestEveryKnobThatHoldsASecretMayStandInAFile(t *testing.T) {
	secret := regexp.MustCompile(`(PASSWORD|KEYS?|SECRET|TOKEN|DATABASE_URL|SMTP_URL)$`)
	for f := range reflect.TypeFor[Config]().Fields() {
		knob := f.Tag.Get("env")
		require.Equal(t, secret.MatchString(knob) && knob != "SVC_PUBLIC_KEYS", f.Tag.Get("secret") == "true", f.Name)
	}
}

func TestFingerprintsOfARequestAreKeyedAndOutliveTheKey(t *testing.T) {
	const first, second = "the first key, of 32 or more characters", "the second key, of 32 or more characters"
	request := []byte(`{"password":"hunter2"}`)
	before, after := NewKeys(Config{MasterKey: first}), NewKeys(Config{MasterKey: second, OldKeys: []string{first}})
	plain := sha256.Sum256(request)
	require.NotContains(t, before.fingerprints(request), plain[:])
	require.Equal(t, before.fingerprints(request)[0], after.fingerprints(request)[1])
	require.NotEqual(t, before.fingerprints(request)[0], after.fingerprints(request)[0])
	require.NotEqual(t, before.fingerprints(request)[0], before.fingerprints([]byte(`{"password":"hunter3"}`))[0])
}

func TestAProcessRefusesTheDataOfAnotherSharedKey(t *testing.T) {
	t.Parallel()
	const first, second = "the first key, of 32 or more characters", "the second key, of 32 or more characters"
	s := Service{Name: "vault", Build: func(_ context.Context, k *Kit) (*Parts, error) { return &Parts{Ops: k.NewSet()}, nil },
		Migrations: fstest.MapFS{"migrations/00001_nothing.sql": {Data: []byte("-- +goose Up\nselect 1;\n")}}}
	cfg := Config{DatabaseURL: dbtest.URL(t, s.Name, s.Migrations), Brokers: "127.0.0.1:1", MasterKey: first}
	start := func(c Config) error { return Migrate(t.Context(), c, s, io.Discard) }
	require.NoError(t, start(cfg))
	require.NoError(t, start(cfg))
	before := NewKeys(cfg)

	cfg.MasterKey = second
	require.ErrorContains(t, start(cfg), "another SVC_SHARED_KEY")
	cfg.OldKeys = []string{first}
	require.NoError(t, start(cfg), "the oldest key is the shared one")
	cfg.OldKeys, cfg.SharedKey = nil, first
	cfg.PublicKeys = trust.RingOf([]string{s.Name}, func(string) []string { return []string{second, first} }).Strings()
	require.NoError(t, start(cfg))
	require.Equal(t, before.Person("ann@example.com"), NewKeys(cfg).Person("ann@example.com"))
	require.Equal(t, before.Lasting("passkey"), NewKeys(cfg).Lasting("passkey"))
}

func TestAnErasureThatAnotherSharedKeyHashedIsNotPassedOver(t *testing.T) {
	t.Parallel()
	of := func(key string) Keys { return NewKeys(Config{MasterKey: key}) }
	data, err := protobuf.Marshal(&proto.ForgetPerson{Called: [][]byte{of(master).Person("ann@example.com")}, SharedKey: of(master).SharedID()})
	require.NoError(t, err)
	r := &runner{kit: &Kit{Keys: of("a key with a typo of 32 or more characters")}, parts: &Parts{}}
	require.ErrorContains(t, r.forgetPerson(t.Context(), nil, bus.Event{Kind: proto.KindForgetPerson, Data: data}), "another SVC_SHARED_KEY")
}

func TestWhatWasStoredWhileTheClocksDifferedIsForgottenToo(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "vault", nil)
	var until time.Time
	r := &runner{kit: &Kit{Keys: NewKeys(Config{MasterKey: master}), DB: d}, parts: &Parts{Personal: Personal{
		Forget: func(_ context.Context, _ *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
			until = p.At
			return nil, nil
		}}}}
	data, err := protobuf.Marshal(&proto.ForgetPerson{Ids: []string{db.NewID().String()}})
	require.NoError(t, err)
	erased := time.Now()
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		return r.forgetPerson(t.Context(), tx, bus.Event{Kind: proto.KindForgetPerson, Data: data, At: erased})
	}))
	require.Equal(t, erased.Add(clocksDiffer), until)
	require.Greater(t, clocksDiffer, 5*time.Second)
}
