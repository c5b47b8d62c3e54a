package settings

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/alexedwards/argon2id"

	"frontdesk/libs/fault"
)

// argon are the costs that OWASP gives for argon2id with one thread.
var argon = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// hasher hashes a few passwords at a time: each takes 19 MiB and a core for some tens of milliseconds. A password that
// waits longer than patience for its turn is 503.
type hasher struct {
	turns chan struct{}
	// rest returns the memory to the system after a time of quiet without sign-ins.
	rest *time.Timer
}

const (
	hashers = 2
	quiet   = 5 * time.Second
)

func newHasher() hasher {
	return hasher{make(chan struct{}, hashers), time.AfterFunc(quiet, debug.FreeOSMemory)}
}

// patience is how long a password waits for its turn.
const patience = 5 * time.Second

func (h hasher) turn(ctx context.Context) (done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case h.turns <- struct{}{}:
		return func() {
			<-h.turns
			h.rest.Reset(quiet)
		}, nil
	case <-ctx.Done():
		return nil, fault.Unavailable()
	}
}

func (h hasher) hash(ctx context.Context, password string) (string, error) {
	done, err := h.turn(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return argon2id.CreateHash(password, argon)
}

// nobodys is the hash that a password is compared with if the login does not exist, so that the answer takes as long.
const nobodys = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// matches reports whether hash is that of password. An empty hash matches nothing, and takes as long to refuse.
func (h hasher) matches(ctx context.Context, password, hash string) (bool, error) {
	done, err := h.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	if hash == "" {
		_, err := argon2id.ComparePasswordAndHash(password, nobodys)
		return false, err
	}
	return argon2id.ComparePasswordAndHash(password, hash)
}
