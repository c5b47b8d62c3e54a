package app

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/libs/db"
)

// Keys are everything secret that a service derives from its own key. No other service can read what it seals, unless all were
// given the same key.
type Keys struct {
	// own are the service's keys, the one in use first. The others only open what they have sealed.
	own [][]byte
	// shared makes the hashes that all services compare; it never changes.
	shared, person []byte
}

// ServiceKey derives the key of a service from one that is kept away from all of them.
func ServiceKey(master, service string) string {
	return hex.EncodeToString(derive([]byte(master), "service "+service))
}

// NewKeys takes the keys as they are configured. Without a shared key every service is expected to have the same key.
func NewKeys(c Config) Keys {
	k := Keys{own: [][]byte{[]byte(c.MasterKey)}, shared: []byte(c.SharedKey)}
	for _, old := range c.OldKeys {
		k.own = append(k.own, []byte(old))
	}
	if c.SharedKey == "" {
		k.shared = k.own[len(k.own)-1]
	}
	k.person = k.Lasting("person")
	return k
}

// derive is the 32-byte key of a purpose.
func derive(key []byte, purpose string) []byte {
	out, err := hkdf.Key(sha256.New, key, nil, "frontdesk "+purpose, 32)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return out
}

// SharedID tells the shared key from others.
func (k Keys) SharedID() []byte { return keyID(k.shared) }

// madeWith fails where the hashes of the schema were made with another shared key. The first process stores which one it is.
func (k Keys) madeWith(ctx context.Context, d *db.DB) error {
	var id []byte
	err := d.Pool.QueryRow(ctx, `insert into shared_key (id) values ($1) on conflict (one) do update set id = shared_key.id returning id`, k.SharedID()).Scan(&id)
	if err == nil && !bytes.Equal(id, k.SharedID()) {
		err = fmt.Errorf("the data were made with another SVC_SHARED_KEY (%x, this one is %x), and with this one nobody who unsubscribed, signs in with a passkey or is erased would be found: "+
			"set the one of before; where there was none, it was the first SVC_MASTER_KEY", id, k.SharedID())
	}
	return err
}

// For is the 32-byte key of a purpose of this service. Another key takes its place when the service's key is changed.
func (k Keys) For(purpose string) []byte { return derive(k.own[0], purpose) }

// Lasting is For for hashes that are stored: it stays when the service's key is changed.
func (k Keys) Lasting(purpose string) []byte { return derive(k.shared, purpose) }

// fingerprints are those of a request under each of the service's keys, that of the key in use first.
func (k Keys) fingerprints(request []byte) [][]byte {
	all := make([][]byte, len(k.own))
	for i, key := range k.own {
		m := hmac.New(sha256.New, derive(key, "request"))
		m.Write(request)
		all[i] = m.Sum(nil)
	}
	return all
}

// Person is the erasure.Hasher of the installation: the hash under which a name or an address can be found again, and
// which tells nothing without the shared key.
func (k Keys) Person(called string) []byte {
	m := hmac.New(sha256.New, k.person)
	m.Write([]byte(strings.ToLower(called)))
	return m.Sum(nil)
}

// errSealed means that a secret cannot be read: its key is not configured any more, or the value was altered.
var errSealed = errors.New("app: the secret cannot be read with the keys of this service")

// A sealed value begins with sealedMark and the id of its key. Those of before have neither.
var sealedMark = []byte("fd1")

const keyIDSize = 4

func keyID(key []byte) []byte { return derive(key, "id")[:keyIDSize] }

// Seal encrypts a secret for the database with AES-256-GCM.
func (k Keys) Seal(purpose string, secret []byte) []byte {
	gcm := newGCM(k.own[0], purpose)
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce)
	out := slices.Concat(sealedMark, keyID(k.own[0]), nonce)
	return gcm.Seal(out, nonce, secret, nil)
}

// sealedNow is how a value begins that the key in use has sealed.
func (k Keys) sealedNow() []byte { return slices.Concat(sealedMark, keyID(k.own[0])) }

// Open decrypts what Seal made with the key in use or an old one, or fails with errSealed.
func (k Keys) Open(purpose string, sealed []byte) ([]byte, error) {
	if body, ok := bytes.CutPrefix(sealed, sealedMark); ok && len(body) > keyIDSize {
		for _, key := range k.own {
			if bytes.Equal(keyID(key), body[:keyIDSize]) {
				if secret, err := open(key, purpose, body[keyIDSize:]); err == nil {
					return secret, nil
				}
			}
		}
	}
	for _, key := range k.own {
		if secret, err := open(key, purpose, sealed); err == nil {
			return secret, nil
		}
	}
	return nil, errSealed
}

func open(key []byte, purpose string, sealed []byte) ([]byte, error) {
	gcm := newGCM(key, purpose)
	if len(sealed) < gcm.NonceSize() {
		return nil, errSealed
	}
	return gcm.Open(nil, sealed[:gcm.NonceSize()], sealed[gcm.NonceSize():], nil)
}

func newGCM(key []byte, purpose string) cipher.AEAD {
	block, err := aes.NewCipher(derive(key, purpose))
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return gcm
}
