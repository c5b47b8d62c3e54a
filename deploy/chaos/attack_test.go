package chaos

import (
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
)

// Six wrong codes are compared, then one after each wait; the right one waits as well. The person's session goes on working.
func TestTenThousandWrongCodesAreHardlyCompared(t *testing.T) {
	w := start(t)
	person := w.System.SignIn(t)
	secret := person.WithSecondFactor(t, totp.GenerateCode)
	person.WrongCodes(t, 10_000)
	right, err := totp.GenerateCode(secret, time.Now().Add(30*time.Second))
	require.NoError(t, err)
	person.Call(t, "DELETE", "/auth/two-factor", map[string]string{"code": right}).Fails(429, "svc_rate_limited")
	person.Get(t, "/contacts").Is(200)
}
