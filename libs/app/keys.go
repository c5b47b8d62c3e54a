package app

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
)

// Keys are derived from the master key, one per purpose.
type Keys struct{ master, person []byte }

// NewKeys takes the master key as it is configured.
func NewKeys(master string) Keys {
	k := Keys{master: []byte(master)}
	k.person = k.For("person")
	return k
}

// For is the 32-byte key of a purpose.
func (k Keys) For(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, k.master, nil, "frontdesk "+purpose, 32)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return key
}

// Person is the erasure.Hasher of the installation: the hash under which a name or an address can be found again, and
// which tells nothing without the master key.
func (k Keys) Person(called string) []byte {
	m := hmac.New(sha256.New, k.person)
	m.Write([]byte(strings.ToLower(called)))
	return m.Sum(nil)
}

// ErrSealed means that a secret cannot be read: the master key has changed, or the value was altered.
var ErrSealed = errors.New("app: the secret cannot be read with this master key")

// Seal encrypts a secret for the database with AES-256-GCM.
func (k Keys) Seal(purpose string, secret []byte) []byte {
	gcm := k.gcm(purpose)
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce)
	return gcm.Seal(nonce, nonce, secret, nil)
}

// Open decrypts what Seal made, or fails with ErrSealed.
func (k Keys) Open(purpose string, sealed []byte) ([]byte, error) {
	gcm := k.gcm(purpose)
	if len(sealed) < gcm.NonceSize() {
		return nil, ErrSealed
	}
	secret, err := gcm.Open(nil, sealed[:gcm.NonceSize()], sealed[gcm.NonceSize():], nil)
	if err != nil {
		return nil, ErrSealed
	}
	return secret, nil
}

func (k Keys) gcm(purpose string) cipher.AEAD {
	block, err := aes.NewCipher(k.For(purpose))
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return gcm
}
