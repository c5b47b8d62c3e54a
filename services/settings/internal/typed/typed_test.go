package typed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressesAreWhatTheySay(t *testing.T) {
	for typed, stored := range map[string]string{"lux.example": "https://lux.example", "http://lux.example/x": "http://lux.example/x",
		"javascript:alert(1)": "", "https://": "", "not a website": "", "https://lux": ""} {
		t.Run("website "+typed, func(t *testing.T) {
			site, wrong := Website(typed)
			require.Equal(t, stored, site)
			require.Equal(t, stored == "", !wrong.IsZero())
		})
	}
	for typed, stored := range map[string]string{" An@Example.COM ": "An@example.com", "an@bücher.example": "an@bücher.example",
		"": "", "an@localhost": "", "An <an@example.com>": "", "üser@example.com": "", "an@example.com, bo@example.com": ""} {
		t.Run("email "+typed, func(t *testing.T) {
			email, wrong := Email(typed)
			require.Equal(t, stored, email)
			require.Equal(t, stored == "", !wrong.IsZero())
		})
	}
}
