package auth

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/fault"
)

// FuzzTimeToken gives forms any text as a token, and tokens of other forms and times.
func FuzzTimeToken(f *testing.F) {
	f.Add("", "form/1", "v1", int64(0))
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "form/1", "", int64(4))
	f.Add("v1.AAAA", "a\x00b", "v.1", int64(-1))
	token, made := NewTimeToken([]byte("key")), time.Unix(1_700_000_000, 0)
	f.Fuzz(func(t *testing.T, text, subject, words string, seconds int64) {
		_, err := token.Check(subject, text, made)
		require.Error(t, err, "nobody made it")
		require.Equal(t, "svc_invalid_token", fault.From(err).Code)
		own := token.Make(subject, words, made)
		_, err = token.Check(subject+"x", own, made.Add(time.Minute))
		require.Error(t, err, "it is of another form")
		seconds %= 100_000
		got, err := token.Check(subject, own, made.Add(time.Duration(seconds)*time.Second))
		if seconds < 3 || seconds > 12*60*60 {
			require.Error(t, err)
			return
		}
		if err == nil {
			require.Equal(t, words, got)
		}
	})
}
