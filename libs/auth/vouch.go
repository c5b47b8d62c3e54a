package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/trust"
)

const (
	// voucher is the service that calls the API for others, with their own credential. No other is believed.
	voucher = "settings"
	// vouchHeader has its signature and the address that the caller has.
	vouchHeader = "X-Frontdesk-For"
	// vouchLasts is how far apart the clocks of two processes and the time of a call may be together.
	vouchLasts = 2 * time.Minute
)

// Vouch adds to a call of the API, which has its credential already, from which address its caller has called this process. The services
// take it for the caller's, because the call has this process's own.
func (a *Auth) Vouch(h http.Header, address string) error {
	m := vouched(h, address)
	m.Stamp = a.Now().UnixMicro()
	signature, err := a.Trust.Sign(m)
	if err != nil {
		return err
	}
	h.Set(vouchHeader, base64.RawURLEncoding.EncodeToString(signature)+" "+address)
	return nil
}

// vouchedFor is the address that settings has signed for a call; false without one, and for a signature that is not right, old, or of
// another credential.
func (a *Auth) vouchedFor(h http.Header) (address string, ok bool) {
	text, address, ok := strings.Cut(h.Get(vouchHeader), " ")
	signature, err := base64.RawURLEncoding.DecodeString(text)
	if !ok || err != nil {
		return "", false
	}
	stamp, err := a.Trust.Verify(voucher, vouched(h, address), signature)
	return address, err == nil && a.fresh(stamp)
}

// fresh reports whether a signature of settings is one of now.
func (a *Auth) fresh(stamp int64) bool { return a.Now().Sub(time.UnixMicro(stamp)).Abs() <= vouchLasts }

// vouched is what is signed. It belongs to one credential, so it says nothing about another caller.
func vouched(h http.Header, address string) trust.Message {
	credential := sha256.Sum256([]byte(strings.Join(slices.Concat(h.Values("Cookie"), []string{h.Get("Authorization")}), "\n")))
	return trust.Message{Topic: vouchHeader, Key: string(credential[:]), Value: []byte(address)}
}
