package trust

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	first  = "the first master key of settings"
	second = "another master key of settings.."
)

func TestASignatureIsOfOneServiceAndOneMessage(t *testing.T) {
	ring := RingOf([]string{"settings", "booking"}, func(s string) []string { return []string{s + " has a master key of its own"} })
	settings := New("settings", []string{"settings has a master key of its own"}, ring)
	reader := New("", nil, ring)
	m := Message{Topic: "settings.identity", Key: "role/staff", Value: []byte("value"), Stamp: 7}
	signature, err := settings.Sign(m)
	require.NoError(t, err)
	stamp, err := reader.Verify("settings", m, signature)
	require.NoError(t, err)
	require.Equal(t, int64(7), stamp)

	for name, other := range map[string]Message{
		"another topic": {Topic: "settings.site", Key: m.Key, Value: m.Value}, "another key": {Topic: m.Topic, Key: "role/admin", Value: m.Value},
		"another value": {Topic: m.Topic, Key: m.Key, Value: []byte("valuf")}, "a tombstone": {Topic: m.Topic, Key: m.Key},
		"an empty value":          {Topic: m.Topic, Key: m.Key, Value: []byte{}},
		"the end of the key":      {Topic: m.Topic, Key: "role/staf", Value: []byte("fvalue")},
		"the beginning of it all": {Topic: m.Topic + "role/", Key: "staff", Value: m.Value},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := reader.Verify("settings", other, signature)
			require.ErrorIs(t, err, ErrForged)
		})
	}
	for name, s := range map[string][]byte{"short": signature[:70], "long": append(signature[:72:72], 0), "with another stamp": append([]byte{1}, signature[1:]...)} {
		t.Run(name, func(t *testing.T) {
			_, err := reader.Verify("settings", m, s)
			require.ErrorIs(t, err, ErrForged)
		})
	}
	_, err = reader.Verify("booking", m, signature)
	require.ErrorIs(t, err, ErrForged, "of another service")
	_, err = reader.Verify("nobody", m, signature)
	require.ErrorIs(t, err, ErrForged, "of a service without a key")
	_, err = reader.Verify("settings", m, nil)
	require.ErrorIs(t, err, ErrUnsigned)
	_, err = (*Keys)(nil).Verify("settings", m, signature)
	require.ErrorIs(t, err, ErrForged)
	_, err = reader.Sign(m)
	require.ErrorIs(t, err, errNoKey)
}

func TestKeysAreChangedWithoutABreak(t *testing.T) {
	before := Ring{"settings": {PublicOf(first, "settings")}}
	both := Ring{"settings": {PublicOf(second, "settings"), PublicOf(first, "settings")}}
	old, now := New("settings", []string{first}, before), New("settings", []string{second, first}, both)
	m := Message{Topic: "t", Key: "k", Value: []byte("v"), Stamp: 1}
	for _, signing := range []*Keys{old, now} {
		signature, err := signing.Sign(m)
		require.NoError(t, err)
		_, err = New("", nil, both).Verify("settings", m, signature)
		require.NoError(t, err)
	}
	sealed, err := old.Seal("settings", "t", "k", []byte("v"))
	require.NoError(t, err)
	plain, err := now.Open("t", "k", sealed)
	require.NoError(t, err)
	require.Equal(t, "v", string(plain))
	require.True(t, both.Has(first, "settings"))
	require.True(t, both.Has(second, "settings"))
	require.False(t, before.Has(second, "settings"))
}

func TestOnlyTheReceiverOpensWhatIsSealed(t *testing.T) {
	ring := Ring{"settings": {PublicOf(first, "settings")}, "booking": {PublicOf(second, "booking")}}
	settings, booking := New("settings", []string{first}, ring), New("booking", []string{second}, ring)
	sealed, err := booking.Seal("settings", "settings.mail", "k", []byte("a token"))
	require.NoError(t, err)
	require.NotContains(t, string(sealed), "a token")
	plain, err := settings.Open("settings.mail", "k", sealed)
	require.NoError(t, err)
	require.Equal(t, "a token", string(plain))

	_, err = booking.Open("settings.mail", "k", sealed)
	require.ErrorIs(t, err, ErrSealed, "by its sender")
	_, err = settings.Open("settings.mail", "l", sealed)
	require.ErrorIs(t, err, ErrSealed, "under another key")
	_, err = settings.Open("settings.command", "k", sealed)
	require.ErrorIs(t, err, ErrSealed, "on another topic")
	for n := len(sealedMark); n < len(sealed); n++ {
		_, err = settings.Open("settings.mail", "k", sealed[:n])
		require.ErrorIs(t, err, ErrSealed, "cut off")
	}
	_, err = booking.Seal("forms", "forms.command", "k", nil)
	require.ErrorIs(t, err, errNoKey)
	plain, err = settings.Open("settings.mail", "k", []byte("never sealed"))
	require.NoError(t, err)
	require.Equal(t, "never sealed", string(plain))
}

func TestPublicKeysAreWrittenAndRead(t *testing.T) {
	ring := Ring{"settings": {PublicOf(second, "settings"), PublicOf(first, "settings")}, "booking": {PublicOf(first, "booking")}}
	again, err := Parse(ring.Strings())
	require.NoError(t, err)
	require.Equal(t, ring.Strings(), again.Strings())
	require.Equal(t, ring["settings"][0].String(), again["settings"][0].String(), "in their order")
	for _, wrong := range []string{"settings", "settings:", "settings:AAAA", ":" + PublicOf(first, "settings").String(), "settings:" + PublicOf(first, "settings").String() + "A"} {
		_, err := Parse([]string{wrong})
		require.Error(t, err, wrong)
	}
	empty, err := Parse([]string{" ", ""})
	require.NoError(t, err)
	require.Empty(t, empty)
}

func BenchmarkSign(b *testing.B) {
	k := New("settings", []string{first}, nil)
	for b.Loop() {
		_, _ = k.Sign(Message{Topic: "t", Key: "k", Value: make([]byte, 300)})
	}
}

func BenchmarkVerify(b *testing.B) {
	k := New("settings", []string{first}, Ring{"settings": {PublicOf(first, "settings")}})
	m := Message{Topic: "t", Key: "k", Value: make([]byte, 300)}
	signature, _ := k.Sign(m)
	for b.Loop() {
		_, _ = k.Verify("settings", m, signature)
	}
}

func BenchmarkSealAndOpen(b *testing.B) {
	k := New("settings", []string{first}, Ring{"settings": {PublicOf(first, "settings")}})
	for b.Loop() {
		sealed, _ := k.Seal("settings", "t", "k", make([]byte, 3000))
		_, _ = k.Open("t", "k", sealed)
	}
}
