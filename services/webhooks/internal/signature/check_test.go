package signature

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestACheckNamesTheSecretsThatSignedAndWhyAHeaderFails(t *testing.T) {
	t.Parallel()
	first, second, stranger := NewSecret(), NewSecret(), NewSecret()
	secrets := []string{"", "unreadable", first, second}
	body, now := []byte(`{"event":"contact.created"}`), time.Unix(1_800_000_000, 0)
	signed := func(secret, old string, at time.Time) http.Header {
		h, err := Headers(secret, old, "evt_0197", at, body)
		require.NoError(t, err)
		return standardHeaders(h)
	}
	with := func(name, value string) http.Header {
		h := signed(first, "", now)
		h.Set(name, value)
		return h
	}
	bad := func(p Problem) Check { return Check{Problem: p} }
	for name, c := range map[string]struct {
		header        http.Header
		body          []byte
		svc, standard Check
	}{
		"one secret":                         {signed(first, "", now), body, Check{By: []int{2}}, Check{By: []int{2}}},
		"two secrets":                        {signed(second, first, now), body, Check{By: []int{3}}, Check{By: []int{2, 3}}},
		"at the edge of the tolerance":       {signed(first, "", now.Add(-tolerance)), body, Check{By: []int{2}}, Check{By: []int{2}}},
		"too old":                            {signed(first, "", now.Add(-tolerance-time.Second)), body, Check{[]int{2}, tooOld}, Check{[]int{2}, tooOld}},
		"of the future":                      {signed(first, "", now.Add(tolerance+time.Second)), body, Check{[]int{2}, tooOld}, Check{[]int{2}, tooOld}},
		"another body":                       {signed(first, "", now), append(body, ' '), bad(noMatch), bad(noMatch)},
		"a secret of somebody else":          {signed(stranger, "", now), body, bad(noMatch), bad(noMatch)},
		"no headers":                         {http.Header{}, body, bad(missing), bad(missing)},
		"without the id":                     {with(HeaderStandardID, ""), body, Check{By: []int{2}}, bad(missing)},
		"a time in words":                    {with(HeaderStandardTimestamp, "noon"), body, Check{By: []int{2}}, bad(malformed)},
		"a signature of an unknown version":  {with(HeaderStandardSignature, "v2,AAAA"), body, Check{By: []int{2}}, bad(malformed)},
		"a signature without its time":       {with(HeaderSvc, "v1=00"), body, bad(malformed), Check{By: []int{2}}},
		"a signature that is no hexadecimal": {with(HeaderSvc, "t=1,v1=xyz"), body, bad(malformed), Check{By: []int{2}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.svc, CheckSvc(c.header.Get, c.body, secrets, now))
			require.Equal(t, c.standard, CheckStandard(c.header.Get, c.body, secrets, now))
		})
	}
}
