package calendars

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPasswordStaysWithTheDomainItWasGivenFor(t *testing.T) {
	t.Parallel()
	for to, same := range map[string]bool{
		"":                                           true,
		"https://caldav.cloud.example.com/dav":       true,
		"https://p42-caldav.cloud.example.com/x":     true,
		"https://other.example.com/":                 true,
		"http://p42-caldav.cloud.example.com/x":      false,
		"https://example.net/":                       false,
		"https://caldav.cloud.example.com.evil.net/": false,
		"/dav/home":                                  false,
	} {
		require.Equal(t, same, sameSite("https://caldav.cloud.example.com/", to), to)
	}
	require.False(t, sameSite("https://me.github.io/", "https://you.github.io/"), "of a domain where anybody gets a name")
	require.False(t, sameSite("https://10.0.0.1/", "https://11.0.0.1/"))
	require.False(t, sameSite("https://localhost/", "https://remotehost/"))
	require.True(t, sameSite("http://10.0.0.1:8080/", "http://10.0.0.1:8080/dav"))
	require.False(t, sameSite("http://10.0.0.1:8080/", "http://10.0.0.1:8081/dav"))
}
