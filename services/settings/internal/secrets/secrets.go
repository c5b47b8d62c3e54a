// Package secrets makes the tokens of sessions, links and connections, and compares them. Only their hashes are stored.
package secrets

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"time"

	"frontdesk/libs/db"
)

// New makes a secret of 256 bits and the hash under which it is kept.
func New() (token string, hash []byte) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	token = base64.RawURLEncoding.EncodeToString(secret)
	return token, Hash(token)
}

// Hash is the hash under which a token is kept.
func Hash(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

// Same compares secrets in constant time.
func Same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Attempts are the tries of a second factor or a token per address.
var Attempts = []db.Limit{{N: 10, Per: time.Minute}}
