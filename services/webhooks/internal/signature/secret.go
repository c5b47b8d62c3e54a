package signature

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// errSecret means that a stored secret is not one NewSecret made.
var errSecret = errors.New("the signing secret cannot be read")

// NewSecret makes a signing secret: whsec_ and the standard base64 of 32 random bytes.
func NewSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process rather than return an error
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// Hint is what may be shown of a secret afterwards: its last four characters.
func Hint(secret string) string {
	if len(secret) < len(secretPrefix)+4 {
		return ""
	}
	return secret[len(secret)-4:]
}

func decode(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, errSecret
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != secretBytes {
		return nil, errSecret
	}
	return key, nil
}
