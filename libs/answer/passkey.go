package answer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"
)

// PasskeyKey is a private key for virtualwebauthn, in PKCS #8, whose public coordinates begin with no zero byte. That library leaves such bytes
// out of an attestation, as no authenticator does, and one key of 128 has one.
func PasskeyKey(t testing.TB) []byte {
	t.Helper()
	for {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		point, err := key.PublicKey.Bytes() // 4, X, Y
		require.NoError(t, err)
		if point[1] == 0 || point[33] == 0 {
			continue
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		require.NoError(t, err)
		return der
	}
}
