package trust

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hpke"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A sealed value is sealedMark, the 32 bytes by which HPKE agrees on a key, and the value under that key in AES-256-GCM: a nonce
// of 12 bytes, the ciphertext and a tag of 16. A value without the mark was never sealed.
const (
	sealedMark = "\x00fdbox1"
	agreement  = 32
)

// box encrypts values to one receiver. To agree on its key takes a hundred times as long as to encrypt a value, so it serves many.
type box struct {
	cipher.AEAD
	agreed []byte
	until  time.Time
	left   int
}

// A box ends before random nonces could repeat, and with the hour: who reads this process's memory later finds no older key.
const (
	boxLasts  = time.Hour
	boxValues = 1 << 24
)

// boxes are those that a process seals with, by receiver, and those that it has opened, by their agreement.
type boxes struct {
	sync.Mutex
	sealing map[string]*box
	opened  map[[agreement]byte]cipher.AEAD
}

// mostOpened is how many boxes of others are kept: each replica of a service makes one an hour.
const mostOpened = 256

// exporter is a context of HPKE, which gives both sides the same key.
type exporter interface {
	Export(purpose string, length int) ([]byte, error)
}

func cipherOf(e exporter) (cipher.AEAD, error) {
	key, err := e.Export("frontdesk message", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealingTo returns the box for values to a service.
func (b *boxes) sealingTo(to string, key hpke.PublicKey, now time.Time) (*box, error) {
	b.Lock()
	defer b.Unlock()
	if have := b.sealing[to]; have != nil && have.left > 0 && now.Before(have.until) {
		have.left--
		return have, nil
	}
	agreed, sender, err := hpke.NewSender(key, hpke.HKDFSHA256(), hpke.ExportOnly(), nil)
	if err != nil {
		return nil, err
	}
	made := &box{agreed: agreed, until: now.Add(boxLasts), left: boxValues - 1}
	if made.AEAD, err = cipherOf(sender); err != nil {
		return nil, err
	}
	if b.sealing == nil {
		b.sealing = map[string]*box{}
	}
	b.sealing[to] = made
	return made, nil
}

// Seal encrypts a value so that only the service to can open it, at the same topic and key.
func (k *Keys) Seal(to, topic, key string, value []byte) ([]byte, error) {
	if k == nil || len(k.ring[to]) == 0 {
		return nil, ErrNoKey
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
