package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"frontdesk/libs/fault"
)

// TimeToken proves that a form was opened a moment before it was sent, without a cookie: a program
// that posts at once, or replays a page for days, has none that is valid.
type TimeToken struct{ key []byte }

// NewTimeToken makes tokens with this key; all replicas have the same.
func NewTimeToken(key []byte) TimeToken { return TimeToken{key} }

const (
	timeTokenFrom  = 3 * time.Second
	timeTokenUntil = 12 * time.Hour
)

// Make is a token for subject (a form, a service), given out now.
func (t TimeToken) Make(subject string, now time.Time) string {
	at := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(append(at, t.mac(subject, at)...))
}

// Check refuses a token that is not of subject, younger than three seconds or older than twelve hours:
// svc_invalid_token.
func (t TimeToken) Check(subject, token string, now time.Time) error {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != 24 || !hmac.Equal(b[8:], t.mac(subject, b[:8])) {
		return fault.InvalidToken("The form's token is not valid. Load the form again.")
	}
	age := now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(b))))
	if age < timeTokenFrom {
		return fault.InvalidToken("The form was sent too quickly. Try again in a moment.")
	}
	if age > timeTokenUntil {
		return fault.InvalidToken("The form was open for too long. Load it again.")
	}
	return nil
}

func (t TimeToken) mac(subject string, at []byte) []byte {
	m := hmac.New(sha256.New, t.key)
	m.Write([]byte(subject))
	m.Write([]byte{0})
	m.Write(at)
	return m.Sum(nil)[:16]
}
