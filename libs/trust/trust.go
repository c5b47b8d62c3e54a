// Package trust lets a service prove that a message is its own, and seal one so that only its receiver can read it. Each service
// derives its private keys from its own master key. The other processes get the public ones by configuration.
package trust

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Keys are the private keys of a service, and the public ones of all. The zero value verifies nothing.
type Keys struct {
	service string
	sign    ed25519.PrivateKey
	open    []hpke.PrivateKey
	ring    Ring
	boxes   boxes
}

// Ring holds the public keys of services by name, the one in use first. Signatures of the others are still taken.
type Ring map[string][]Public

// Public are the public keys of a service.
type Public struct {
	verify ed25519.PublicKey
	seal   hpke.PublicKey
}

const (
	verifySize = ed25519.PublicKeySize
	sealSize   = 32 // X25519
)

var kem = hpke.DHKEM(ecdh.X25519())

// derive is the 32-byte key of a purpose.
func derive(master, purpose, service string) []byte {
	key, err := hkdf.Key(sha256.New, []byte(master), nil, "frontdesk "+purpose+" "+service, 32)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return key
}

func signer(master, service string) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(derive(master, "sign", service))
}

func opener(master, service string) hpke.PrivateKey {
	key, err := kem.DeriveKeyPair(derive(master, "open", service))
	if err != nil {
		panic(err) // never for 32 bytes
	}
	return key
}

// PublicOf returns the public keys of a service with this master key.
func PublicOf(master, service string) Public {
	return Public{signer(master, service).Public().(ed25519.PublicKey), opener(master, service).PublicKey()}
}

// String is how Parse reads the keys: base64 of both.
func (p Public) String() string {
	return base64.RawURLEncoding.EncodeToString(append(slices.Clone(p.verify), p.seal.Bytes()...))
}

// Parse reads public keys, each as service:key. A service that is named several times has several.
func Parse(named []string) (Ring, error) {
	ring := Ring{}
	for _, n := range named {
		if n = strings.TrimSpace(n); n == "" {
			continue
		}
		service, text, _ := strings.Cut(n, ":")
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || service == "" || len(raw) != verifySize+sealSize {
			return nil, fmt.Errorf("%q is not a service, a colon and its public key, as 'local keys' prints them", n)
		}
		seal, err := kem.NewPublicKey(raw[verifySize:])
		if err != nil {
			return nil, fmt.Errorf("the public key of %s: %w", service, err)
		}
		ring[service] = append(ring[service], Public{raw[:verifySize], seal})
	}
	return ring, nil
}

// Strings is what Parse reads.
func (r Ring) Strings() []string {
	var all []string
	for service, keys := range r {
		for _, k := range keys {
			all = append(all, service+":"+k.String())
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		a, _, _ = strings.Cut(a, ":")
		b, _, _ = strings.Cut(b, ":")
		return strings.Compare(a, b)
	})
	return all
}

// Has reports whether the ring has the keys of a service with this master key.
func (r Ring) Has(master, service string) bool {
	own := PublicOf(master, service)
	return slices.ContainsFunc(r[service], func(p Public) bool { return p.String() == own.String() })
}

// RingOf is the ring of services that have these master keys, or, with one key for all, the same one.
func RingOf(services []string, masterOf func(service string) []string) Ring {
	ring := Ring{}
	for _, service := range services {
		for _, master := range masterOf(service) {
			ring[service] = append(ring[service], PublicOf(master, service))
		}
	}
	return ring
}

// New returns the keys of a service: it signs with the first of its master keys and opens what was sealed to any of them. Without a
// master key it only verifies and seals.
func New(service string, masters []string, ring Ring) *Keys {
	k := &Keys{service: service, ring: ring}
	for i, master := range masters {
		if i == 0 {
			k.sign = signer(master, service)
		}
		k.open = append(k.open, opener(master, service))
	}
	return k
}

// Message is a message as it is signed. Value is nil in a tombstone. Stamp is higher than in each message that the service signed before.
type Message struct {
	Topic, Key string
	Value      []byte
	Stamp      int64
}

// signed is the text under a signature. Lengths stand before the parts, so that no part can stand for another.
func (m Message) signed() []byte {
	b := make([]byte, 0, 64+len(m.Topic)+len(m.Key)+len(m.Value))
	b = append(b, "frontdesk message 1\x00"...)
	b = binary.BigEndian.AppendUint64(b, uint64(m.Stamp))
	for _, part := range []string{m.Topic, m.Key} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	if m.Value == nil {
		return append(b, 0)
	}
	return append(append(b, 1), m.Value...)
}

// errNoKey means that this process has no key to sign with, or knows none of the service.
var errNoKey = errors.New("trust: there is no key for that")

// Sign returns the signature of a message: its stamp and 64 bytes.
func (k *Keys) Sign(m Message) ([]byte, error) {
	if k == nil || k.sign == nil {
		return nil, errNoKey
	}
	return append(binary.BigEndian.AppendUint64(nil, uint64(m.Stamp)), ed25519.Sign(k.sign, m.signed())...), nil
}

// Reasons for which Verify refuses a message.
var (
	ErrUnsigned = errors.New("trust: the message has no signature")
	ErrForged   = errors.New("trust: the signature is not that of the service")
)

// Verify returns the stamp of a message that a service has signed, or ErrUnsigned or ErrForged. m.Stamp does not count.
func (k *Keys) Verify(service string, m Message, signature []byte) (stamp int64, err error) {
	if len(signature) == 0 {
		return 0, ErrUnsigned
	}
	if k == nil || len(signature) != 8+ed25519.SignatureSize {
		return 0, ErrForged
	}
	m.Stamp = int64(binary.BigEndian.Uint64(signature))
	text := m.signed()
	for _, p := range k.ring[service] {
		if ed25519.Verify(p.verify, text, signature[8:]) {
			return m.Stamp, nil
		}
	}
	return 0, ErrForged
}
