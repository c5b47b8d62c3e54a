package system

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// WithSecondFactor turns the second factor of c, a session with a recent password, on, and returns its secret. generate is that of the
// library totp, which only tests have.
func (c Client) WithSecondFactor(t testing.TB, generate func(secret string, at time.Time) (code string, err error)) (secret string) {
	t.Helper()
	secret = c.Post(t, "/auth/two-factor", nil).Is(200).Text("secret")
	code, err := generate(secret, time.Now())
	require.NoError(t, err)
	c.Post(t, "/auth/two-factor/confirm", map[string]string{"code": code}).Is(200)
	return secret
}

// WrongCodes types so many wrong codes of c's second factor, 16 at a time, and returns how many of them were compared; all others
// had to wait. It requires that no more were compared than the waits of 30 s, a minute, two minutes and so on allow after the first six.
func (c Client) WrongCodes(t testing.TB, count int) (compared int) {
	t.Helper()
	answers := make([]*Answer, count)
	var all sync.WaitGroup
	free := make(chan struct{}, 16)
	began := time.Now()
	for i := range answers {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			// No code of six digits, so that none is right by chance.
			answers[i], _ = c.Try(t.Context(), "DELETE", "/auth/two-factor", map[string]string{"code": fmt.Sprintf("%06dx", i)})
		})
	}
	all.Wait()
	for _, a := range answers {
		require.NotNil(t, a)
		if require.Contains(t, []int{400, 429}, a.Status, a.Body); a.Status == 400 {
			compared++
		}
	}
	most := 6
	for wait, passed := 30*time.Second, time.Since(began); passed > wait; wait *= 2 {
		most++
		passed -= wait
	}
	require.GreaterOrEqual(t, compared, 6)
	require.LessOrEqual(t, compared, most)
	return compared
}
