package signature

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far the time in a signature may be from the time of arrival.
const tolerance = 5 * time.Minute

// Problem is why a signature header does not verify.
type Problem string

// The problems of a header.
const (
	missing   Problem = "missing"   // the header, or one that belongs to it, is not there
	malformed Problem = "malformed" // it has not the form that receivers read
	noMatch   Problem = "no_match"  // no secret signed these bytes: another secret, or another body
	tooOld    Problem = "time"      // a secret signed it, more than tolerance before or after it arrived
)

// Check is the result for one header: the positions of the secrets that signed the request, and a problem, or an empty one
// if a receiver with such a secret accepts it.
type Check struct {
	By      []int
	Problem Problem
}

// CheckSvc checks X-Svc-Signature of a request that arrived at the given time. header returns a header of the request, empty if it has none.
func CheckSvc(header func(name string) string, body []byte, secrets []string, arrived time.Time) Check {
	value := header(HeaderSvc)
	if value == "" {
		return Check{Problem: missing}
	}
	t, sum, ok := strings.Cut(value, ",")
	t, isTime := strings.CutPrefix(t, "t=")
	sum, isSum := strings.CutPrefix(sum, "v1=")
	want, err := hex.DecodeString(sum)
	if !ok || !isTime || !isSum || err != nil {
		return Check{Problem: malformed}
	}
	return match(t, arrived, secrets, func(secret string) bool { return hmac.Equal(digest([]byte(secret), t, body), want) })
}

// CheckStandard checks the three headers of Standard Webhooks.
func CheckStandard(header func(name string) string, body []byte, secrets []string, arrived time.Time) Check {
	id, t, value := header(HeaderStandardID), header(HeaderStandardTimestamp), header(HeaderStandardSignature)
	if id == "" || t == "" || value == "" {
		return Check{Problem: missing}
	}
	var sums [][]byte
	for _, s := range strings.Fields(value) {
		sum, ok := strings.CutPrefix(s, "v1,")
		if want, err := base64.StdEncoding.DecodeString(sum); ok && err == nil {
			sums = append(sums, want)
		}
	}
	if sums == nil {
		return Check{Problem: malformed}
	}
	return match(t, arrived, secrets, func(secret string) bool {
		key, err := decode(secret)
		if err != nil {
			return false
		}
		sum, ok := digest(key, id+"."+t, body), false
		for _, want := range sums {
			ok = hmac.Equal(sum, want) || ok
		}
		return ok
	})
}

func match(t string, arrived time.Time, secrets []string, signed func(secret string) bool) (c Check) {
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return Check{Problem: malformed}
	}
	for i, secret := range secrets {
		if secret != "" && signed(secret) {
			c.By = append(c.By, i)
		}
	}
	switch {
	case c.By == nil:
		c.Problem = noMatch
	case arrived.Sub(time.Unix(seconds, 0)).Abs() > tolerance:
		c.Problem = tooOld
	}
	return c
}
