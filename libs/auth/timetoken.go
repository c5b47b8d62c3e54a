package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
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

// Make makes a token for subject (a form, a service), given out now. words is the version of words that the visitor sees and
// agrees to; the token then begins with it and a dot, so that a page can tell whether it shows those of now.
func (t TimeToken) Make(subject, words string, now time.Time) string {
	at := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	token := base64.RawURLEncoding.EncodeToString(append(at, t.mac(subject, words, at)...))
	if words == "" {
		return token
	}
	return words + "." + token
}

// Check refuses a token that is not of subject, younger than three seconds or older than twelve hours: svc_invalid_token.
// It gives the words that the token was made with: the caller refuses words that are out of date.
func (t TimeToken) Check(subject, token string, now time.Time) (words string, err error) {
	words, signed, dotted := strings.Cut(token, ".")
	if !dotted {
		words, signed = "", token
	}
	b, err := base64.RawURLEncoding.DecodeString(signed)
	if err != nil || len(b) != 24 || !hmac.Equal(b[8:], t.mac(subject, words, b[:8])) {
		return "", fault.InvalidToken("The form's token is not valid. Load the form again.")
	}
	age := now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(b))))
	if age < timeTokenFrom {
		return "", fault.InvalidToken("The form was sent too quickly. Try again in a moment.")
	}
	if age > timeTokenUntil {
		return "", fault.InvalidToken("The form was open for too long. Load it again.")
	}
	return words, nil
}

func (t TimeToken) mac(subject, words string, at []byte) []byte {
	m := hmac.New(sha256.New, t.key)
	fmt.Fprintf(m, "%s\x00%s\x00%s", subject, words, at)
	return m.Sum(nil)[:16]
}
