package trust

import (
	"crypto/cipher"
	"crypto/hpke"
	"errors"
	"fmt"
	"time"
)

// Seal encrypts a value so that only the service to can open it, at the same topic and key.
func (k *Keys) Seal(to, topic, key string, value []byte) ([]byte, error) {
	if k == nil || len(k.ring[to]) == 0 {
		return nil, errNoKey
	}
	b, err := k.boxes.sealingTo(to, k.ring[to][0].seal, time.Now())
	if err != nil {
		return nil, fmt.Errorf("trust: seal to %s: %w", to, err)
	}
	sealed := make([]byte, 0, len(sealedMark)+agreement+b.Overhead()+len(value))
	sealed = append(append(sealed, sealedMark...), b.agreed...)
	return b.Seal(sealed, nil, value, bound(topic, key)), nil //nolint:gosec // the cipher makes a random nonce and takes none
}

// bound is the place of a value, which it cannot be opened without.
func bound(topic, key string) []byte { return []byte(topic + "\x00" + key) }

// ErrSealed means that a value was sealed to another key, or altered.
var ErrSealed = errors.New("trust: the message cannot be opened with the keys of this service")

// Open decrypts a value that was sealed to this service, or fails with ErrSealed. It returns a value that was never sealed as it is.
func (k *Keys) Open(topic, key string, value []byte) ([]byte, error) {
	if len(value) < len(sealedMark) || string(value[:len(sealedMark)]) != sealedMark {
		return value, nil
	}
	value = value[len(sealedMark):]
	if k == nil || len(value) < agreement {
		return nil, ErrSealed
	}
	agreed := [agreement]byte(value)
	value = value[agreement:]
	k.boxes.Lock()
	known := k.boxes.opened[agreed]
	k.boxes.Unlock()
	if known != nil {
		return openWith(known, topic, key, value)
	}
	for _, own := range k.open {
		recipient, err := hpke.NewRecipient(agreed[:], own, hpke.HKDFSHA256(), hpke.ExportOnly(), nil)
		if err != nil {
			continue
		}
		opening, err := cipherOf(recipient)
		if err != nil {
			return nil, err
		}
		plain, err := openWith(opening, topic, key, value)
		if err != nil {
			continue
		}
		k.boxes.Lock()
		defer k.boxes.Unlock()
		if k.boxes.opened == nil || len(k.boxes.opened) >= mostOpened {
			k.boxes.opened = map[[agreement]byte]cipher.AEAD{}
		}
		k.boxes.opened[agreed] = opening
		return plain, nil
	}
	return nil, ErrSealed
}

func openWith(a cipher.AEAD, topic, key string, value []byte) ([]byte, error) {
	plain, err := a.Open(nil, nil, value, bound(topic, key))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}
