// Package signature signs webhook requests, makes their secrets and says when a failed attempt is
// tried again. It keeps no state and sends nothing.
//
// A request is signed twice with one secret: X-Svc-Signature, as the interface describes it, keyed
// with the whole secret string, and the three headers of Standard Webhooks, keyed with the bytes
// the secret encodes, so that its public libraries verify us. While two secrets are valid, the
// Standard Webhooks header has a signature by each of them.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"
)

// Names of the headers that Headers fills.
const (
	HeaderSvc               = "X-Svc-Signature"
	HeaderStandardID        = "webhook-id"
	HeaderStandardTimestamp = "webhook-timestamp"
	HeaderStandardSignature = "webhook-signature"
)

// Svc is the value of X-Svc-Signature: t=<unix seconds>,v1=<64 lower-case hex digits>, the digest
// being HMAC-SHA256 over the seconds, a dot and the body exactly as sent.
func Svc(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(digest([]byte(secret), t, body))
}

// Headers are the four signature headers of one attempt, by name. eventID is the same on every
// attempt of an event; at is the moment of this attempt. A secret that NewSecret did not make
// gives errSecret: the webhook has to be paused until it has a new one. old is the secret before,
// while it is valid too: webhook-signature then has a second signature, by old, and
// X-Svc-Signature, which has room for one only, does not. An old that cannot be read is left out.
func Headers(secret, old, eventID string, at time.Time, body []byte) (map[string]string, error) {
	key, err := decode(secret)
	if err != nil {
		return nil, err
	}
	t := strconv.FormatInt(at.Unix(), 10)
	standard := standardSignature(key, eventID+"."+t, body)
	if key, err := decode(old); err == nil {
		standard += " " + standardSignature(key, eventID+"."+t, body)
	}
	return map[string]string{
		HeaderSvc:               Svc(secret, at, body),
		HeaderStandardID:        eventID,
		HeaderStandardTimestamp: t,
		HeaderStandardSignature: standard,
	}, nil
}

// standardSignature is one signature of Standard Webhooks; prefix is the event's id, a dot and the time.
func standardSignature(key []byte, prefix string, body []byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(digest(key, prefix, body))
}

// digest is the HMAC-SHA256 of prefix, a dot and body.
func digest(key []byte, prefix string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(prefix))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return mac.Sum(nil)
}
