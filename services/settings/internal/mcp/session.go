package mcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"frontdesk/libs/db"
)

const sessionHeader = "Mcp-Session-Id"

// newSession makes the number of a session: random, and signed together with the caller's credential. It gives no right and
// stands for no state; it only shows that requests belong together.
func (a *Adapter) newSession(who db.Actor) string {
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	return base64.RawURLEncoding.EncodeToString(append(id, a.signature(id, who)...))
}

// isSession reports whether the credential of the caller has begun this session.
func (a *Adapter) isSession(text string, who db.Actor) bool {
	id, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(id) == 16+sha256.Size && hmac.Equal(id[16:], a.signature(id[:16], who))
}

func (a *Adapter) signature(id []byte, who db.Actor) []byte {
	m := hmac.New(sha256.New, a.Key)
	m.Write(id)
	m.Write([]byte(who.Credential))
	return m.Sum(nil)
}
