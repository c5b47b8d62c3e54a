package oauth

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOfAParameterThatComesTwiceNobodyKnowsWhichCounts(t *testing.T) {
	read := func(query string) Request {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		return Read(values)
	}
	for query, wrong := range map[string]string{
		"response_type=code":                       "",
		"response_type=code&other=1&other=2":       "",
		"response_type=code&resource=a&resource=b": "",
		"":                                      "invalid_request",
		"response_type=":                        "invalid_request",
		"response_type=token":                   "unsupported_response_type",
		"response_type=code&response_type=code": "invalid_request",
		"response_type=code&state=a&state=b":    "invalid_request",
		"response_type=code&scope=&scope=":      "invalid_request",
		"response_type=token&client_id=a&client_id=a": "invalid_request",
	} {
		require.Equal(t, wrong, read(query).Wrong(), query)
	}
	r := read("client_id=a&client_id=b&resource=x&resource=y&state=1&state=2&redirect_uri=https%3A%2F%2Fa.example%2Fcb%3Fk%3Dv")
	require.Equal(t, map[string]any{"client_id": "", "redirect_uri": "https://a.example/cb?k=v", "resource": "x y"}, r.ForAPI())
	require.Equal(t, "https://a.example/cb?error=access_denied&iss=https%3A%2F%2Fdesk.example&k=v", r.Back("access_denied", "https://desk.example"))
}

func TestAnErrorOfOneParameterHasItsName(t *testing.T) {
	require.Equal(t, "invalid_target", Refused(map[string]string{"resource": "x"}))
	require.Equal(t, "invalid_scope", Refused(map[string]string{"scope": "x"}))
	require.Equal(t, "invalid_request", Refused(map[string]string{"scope": "x", "code_challenge": "x"}))
	require.Equal(t, "invalid_request", Refused(map[string]string{}))
}
