package signature

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func standardHeaders(h map[string]string) http.Header {
	out := http.Header{}
	for name, value := range h {
		out.Set(name, value)
	}
	return out
}

func TestSvcSignatureOfAKnownRequest(t *testing.T) {
	// The digest was computed with: printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac whsec_test
	require.Equal(t,
		"t=1700000000,v1=38877139021993b830af32feea6e18a8da83eb2f6e49ee50bd9e4cf4ca4d3789",
		Svc("whsec_test", time.Unix(1700000000, 999), []byte(`{"a":1}`)))
}

func TestStandardWebhooksLibraryAcceptsWhatWeSign(t *testing.T) {
	secret := NewSecret()
	receiver, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	body := []byte(`{"event":"contact.created"}`)

	headers, err := Headers(secret, "", "evt_0197", time.Now(), body)
	require.NoError(t, err)

	require.NoError(t, receiver.Verify(body, standardHeaders(headers)))
	require.Error(t, receiver.Verify([]byte(`{"event":"contact.deleted"}`), standardHeaders(headers)))

	other, err := standardwebhooks.NewWebhook(NewSecret())
	require.NoError(t, err)
	require.Error(t, other.Verify(body, standardHeaders(headers)))
}

func TestStandardWebhooksLibraryRefusesAnAttemptOlderThanFiveMinutes(t *testing.T) {
	secret := NewSecret()
	receiver, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	headers, err := Headers(secret, "", "evt_0197", time.Now().Add(-301*time.Second), []byte("{}"))
	require.NoError(t, err)
	require.Error(t, receiver.Verify([]byte("{}"), standardHeaders(headers)))
}

var svcPattern = regexp.MustCompile(`^t=\d+,v1=[0-9a-f]{64}$`)

func TestEverySignatureVerifiesAndNoOtherBodyDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		at := time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "at"), 0)
		id := "evt_" + rapid.StringMatching(`[0-9a-f-]{36}`).Draw(t, "id")
		secret := NewSecret()
		receiver, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)

		headers, err := Headers(secret, "", id, at, body)
		require.NoError(t, err)
		require.Regexp(t, svcPattern, headers[HeaderSvc])
		require.Equal(t, strconv.FormatInt(at.Unix(), 10), headers[HeaderStandardTimestamp])
		require.NoError(t, receiver.VerifyIgnoringTimestamp(body, standardHeaders(headers)))

		changed := append([]byte("x"), body...)
		require.Error(t, receiver.VerifyIgnoringTimestamp(changed, standardHeaders(headers)))
		require.NotEqual(t, headers[HeaderSvc], Svc(secret, at, changed))
		require.NotEqual(t, headers[HeaderSvc], Svc(secret, at.Add(time.Second), body))
		require.NotEqual(t, headers[HeaderSvc], Svc(NewSecret(), at, body))
	})
}

func TestWhileTwoSecretsAreValidAReceiverWithEitherAccepts(t *testing.T) {
	old, secret, body := NewSecret(), NewSecret(), []byte(`{"event":"contact.created"}`)
	headers, err := Headers(secret, old, "evt_0197", time.Now(), body)
	require.NoError(t, err)
	for name, known := range map[string]string{"the new one": secret, "the old one": old} {
		receiver, err := standardwebhooks.NewWebhook(known)
		require.NoError(t, err)
		require.NoError(t, receiver.Verify(body, standardHeaders(headers)), name)
		require.Error(t, receiver.Verify(append([]byte("x"), body...), standardHeaders(headers)), name)
	}
	stranger, err := standardwebhooks.NewWebhook(NewSecret())
	require.NoError(t, err)
	require.Error(t, stranger.Verify(body, standardHeaders(headers)))
	require.Regexp(t, svcPattern, headers[HeaderSvc])

	for _, unreadable := range []string{"", "whsec_", old[1:]} {
		alone, err := Headers(secret, unreadable, "evt_0197", time.Now(), body)
		require.NoError(t, err)
		require.NotContains(t, alone[HeaderStandardSignature], " ")
	}
}

func TestASecretHas256RandomBits(t *testing.T) {
	a, b := NewSecret(), NewSecret()
	require.NotEqual(t, a, b)
	require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, a)
	require.Equal(t, a[len(a)-4:], Hint(a))
	require.Empty(t, Hint("whsec_"))
	require.Empty(t, Hint(""))
}

func TestAnUnreadableSecretIsRefused(t *testing.T) {
	good := NewSecret()
	for _, secret := range []string{
		"", "whsec_", "whsec_AAAA", good[1:], good + "A", "whsec_" + strings.Repeat("!", 44),
	} {
		_, err := Headers(secret, NewSecret(), "evt_1", time.Now(), nil)
		require.ErrorIs(t, err, errSecret, secret)
	}
}

func TestScheduleOfADeliveryThatNeverSucceeds(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at, gaps := start, []time.Duration{}
	for failed := 1; ; failed++ {
		next, ok := NextAttempt(failed, at)
		if !ok {
			require.Equal(t, MaxAttempts, failed)
			break
		}
		gaps = append(gaps, next.Sub(at))
		at = next
	}
	require.Equal(t, []time.Duration{
		time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour,
	}, gaps)

	_, ok := NextAttempt(0, start)
	require.False(t, ok)
	_, ok = NextAttempt(MaxAttempts+1, start)
	require.False(t, ok)
}

func FuzzHeaders(f *testing.F) {
	f.Add(NewSecret(), "evt_1", int64(1700000000), []byte(`{}`))
	f.Add("whsec_", "", int64(-1), []byte(nil))
	f.Fuzz(func(t *testing.T, secret, id string, at int64, body []byte) {
		headers, err := Headers(secret, "", id, time.Unix(at, 0), body)
		if err != nil {
			require.ErrorIs(t, err, errSecret)
			return
		}
		require.Len(t, headers, 4)
		require.Len(t, Hint(secret), 4)
	})
}
