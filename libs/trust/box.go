package trust

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hpke"
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
