package address

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAddressesThatAreTaken(t *testing.T) {
	for typed, want := range map[string]string{
		"":                        "",
		" jan@example.com ":       "jan@example.com",
		"Jan.Peeters@EXAMPLE.com": "Jan.Peeters@example.com",
		"o'neill+x@example.co.uk": "o'neill+x@example.co.uk",
		"info@bücher.example":     "info@bücher.example",
	} {
		got, err := Parse(typed)
		require.NoError(t, err, typed)
		require.Equal(t, want, got)
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	for _, typed := range []string{"jan", "@example.com", "jan@", "jan@localhost", "Jan <jan@example.com>", "a@b@example.com", "a..b@example.com",
		`"a b"@example.com`, "jan@[127.0.0.1]", "jan@127.0.0.1", "jan@example.com\r\nBcc: x@example.com", "jan@exa mple.com", strings.Repeat("a", 190) + "@example.com"} {
		_, err := Parse(typed)
		require.Error(t, err, typed)
	}
}

func TestTheKeyOfAnAddressIsTheSameForEverySpelling(t *testing.T) {
	require.Equal(t, Key("info@bücher.example"), Key("INFO@xn--bcher-kva.example"))
	rapid.Check(t, func(t *rapid.T) {
		stored, err := Parse(rapid.StringMatching(`[a-zA-Z0-9.]{1,8}@[a-zA-Zäö0-9-]{1,8}\.[a-z]{2,3}`).Draw(t, "typed"))
		if err != nil {
			return
		}
		again, err := Parse(stored)
		require.NoError(t, err)
		require.Equal(t, stored, again)
		require.Equal(t, Key(stored), Key(Key(stored)))
	})
}

func TestMarksThatNobodySeesAreTakenOffAddressesAndNumbers(t *testing.T) {
	for _, typed := range []string{"\u202ajan@example.com\u202c", "jan\u200b@example.com", " \ufeffjan@example.com"} {
		stored, err := Parse(typed)
		require.NoError(t, err)
		require.Equal(t, "jan@example.com", stored)
	}
	require.Equal(t, "0470-12 34", Number("\u202d0470\u201112\u00a034\u202c"))
}
