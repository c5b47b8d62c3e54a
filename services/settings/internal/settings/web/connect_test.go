package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

const verifier = "a verifier of PKCE that has at least forty-three characters"

// asking are the parameters of an assistant that has registered itself under a name.
func asking(t *testing.T, s *apptest.Service, name string) url.Values {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{"https://assistant.example/cb"}})
	require.NoError(t, err)
	res, err := http.Post(s.URL+"/oauth/register", "application/json", strings.NewReader(string(raw)))
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err = io.ReadAll(res.Body)
	require.NoError(t, err)
	var made struct {
		ID string `json:"client_id"`
	}
	require.NoError(t, json.Unmarshal(raw, &made))
	sum := sha256.Sum256([]byte(verifier))
	return url.Values{"response_type": {"code"}, "client_id": {made.ID}, "redirect_uri": {"https://assistant.example/cb"}, "state": {"a&b"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {"http://localhost:8080/mcp"}}
}

// with is in with another value.
func with(in url.Values, name, value string) url.Values {
	out := url.Values{}
	for name, values := range in {
		out[name] = values
	}
	out.Set(name, value)
	return out
}

// ledTo is where a page leads on to.
func ledTo(t *testing.T, p page) url.Values {
	t.Helper()
	require.Equal(t, 200, p.status, p.body)
	address, ok := strings.CutPrefix(p.header.Get("Refresh"), "0; url=https://assistant.example/cb?")
	require.True(t, ok, p.header.Get("Refresh"))
	q, err := url.ParseQuery(address)
	require.NoError(t, err)
	require.Equal(t, []string{"a&b", "http://localhost:8080"}, []string{q.Get("state"), q.Get("iss")})
	return q
}

func TestAnAssistantIsConnectedByItsPersonOnAPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a person connects an assistant takes rights away and disconnects it", func(t *testing.T) {
		in := asking(t, s, `<b>Helper</b>`)
		path := "/account/connect?" + in.Encode()
		p := do(t, s, "GET", path, nil)
		require.Equal(t, 303, p.status)
		signIn := p.header.Get("Location")
		require.True(t, strings.HasPrefix(signIn, "/account/sign-in?"), signIn)
		next, err := url.Parse(signIn)
		require.NoError(t, err)
		p = do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}, "next": {next.Query().Get("next")}})
		require.Equal(t, 303, p.status)
		require.Equal(t, path, p.header.Get("Location"))
		me := []string{"Cookie", cookie(p)}

		// The person comes from another site.
		p = do(t, s, "GET", path, nil, append(me, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")...)
		require.Equal(t, 200, p.status)
		require.Contains(t, p.body, "&lt;b&gt;Helper&lt;/b&gt;")
		require.Contains(t, p.body, "assistant.example")
		require.Contains(t, p.body, "Manage bookings")
		require.Contains(t, p.body, `name="ability" value="svc/list-apps" checked`)
		require.Contains(t, p.header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		for language, does := range map[string]string{"en": "List apps and whether each is on.", "nl": "Apps tonen, en of elk aan staat.",
			"fr": "Lister les applications, et si chacune est activée.", "de": "Apps auflisten, und ob jede eingeschaltet ist."} {
			require.Contains(t, do(t, s, "GET", path+"&lang="+language, nil, me...).body, `<span lang="`+language+`">`+does+`</span>`)
		}

		answer := func(changes ...string) page {
			form := url.Values{"answer": {"allow"}, "permission": {"svc_manage_bookings"}, "ability": {"svc/list-apps"}}
			for name, values := range in {
				form[name] = values
			}
			for i := 0; i+1 < len(changes); i += 2 {
				form.Set(changes[i], changes[i+1])
			}
			return do(t, s, "POST", "/account/connect", form, me...)
		}
		require.Equal(t, "access_denied", ledTo(t, answer("answer", "deny")).Get("error"))
		require.NotEmpty(t, ledTo(t, answer()).Get("code"))
		require.NotEmpty(t, ledTo(t, answer("answer", "read")).Get("code"))
		var reads []bool
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select array_agg(read_only order by id) from connection`).Scan(&reads))
		require.Equal(t, []bool{false, true}, reads)
		list := do(t, s, "GET", "/account/assistants", nil, me...)
		require.Contains(t, list.body, "/mcp", "a code that nobody used connects no assistant")

		s.Travel(11 * time.Minute)
		p = answer()
		require.Equal(t, 200, p.status)
		require.Contains(t, p.body, `type="password"`)
		p = answer("password", "nonsense")
		require.Equal(t, 422, p.status)
		code := ledTo(t, answer("password", password)).Get("code")
		res, err := http.PostForm(s.URL+"/oauth/token", url.Values{"grant_type": {"authorization_code"}, "client_id": in["client_id"], "code": {code},
			"code_verifier": {verifier}, "redirect_uri": in["redirect_uri"]})
		require.NoError(t, err)
		defer res.Body.Close()
		var got map[string]any
		require.NoError(t, json.NewDecoder(res.Body).Decode(&got))
		require.Equal(t, "svc_view_contacts svc_manage_bookings", got["scope"])

		list = do(t, s, "GET", "/account/assistants", nil, me...)
		require.Contains(t, list.body, "&lt;b&gt;Helper&lt;/b&gt;")
		require.Regexp(t, `Not: <span lang="en">[a-z -]+</span>`, list.body)
		require.Contains(t, do(t, s, "GET", "/account/assistants?lang=nl", nil, me...).body, `<span lang="nl">`)
		require.NotContains(t, list.body, "list apps", "it was left ticked")
		_, rest, _ := strings.Cut(list.body, `name="end" value="`)
		id, _, _ := strings.Cut(rest, `"`)
		require.Equal(t, 303, do(t, s, "POST", "/account/assistants", url.Values{"approval": {id + "/writes"}}, me...).status)
		require.Contains(t, do(t, s, "GET", "/account/assistants", nil, me...).body, "Approval by a person: Each change waits")
		p = do(t, s, "POST", "/account/assistants", url.Values{"end": {id}}, me...)
		require.Equal(t, 303, p.status)
		require.NotContains(t, do(t, s, "GET", "/account/assistants", nil, me...).body, "Helper")
	})
	t.Run("nobody is led to an address that is not the assistants", func(t *testing.T) {
		in := asking(t, s, "Helper")
		p := do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}})
		me := []string{"Cookie", cookie(p)}
		for name, change := range map[string][3]string{
			"another address":        {"redirect_uri", "https://evil.example/cb", ""},
			"an unknown client":      {"client_id", "0198c5e0-0000-7000-8000-000000000000", ""},
			"no client":              {"client_id", "", ""},
			"no PKCE":                {"code_challenge", "", "invalid_request"},
			"plain PKCE":             {"code_challenge_method", "plain", "invalid_request"},
			"another resource":       {"resource", "https://evil.example/mcp", "invalid_target"},
			"a token without a code": {"response_type", "token", "unsupported_response_type"},
			"no kind of answer":      {"response_type", "", "invalid_request"},
			"an unknown scope":       {"scope", "svc_view_contacts openid", "invalid_scope"},
		} {
			t.Run(name, func(t *testing.T) {
				for _, method := range []string{"GET", "POST"} {
					changed := url.Values{"answer": {"allow"}}
					for name, values := range in {
						changed[name] = values
					}
					changed.Set(change[0], change[1])
					var p page
					if method == "GET" {
						p = do(t, s, method, "/account/connect?"+changed.Encode(), nil, me...)
					} else {
						p = do(t, s, method, "/account/connect", changed, me...)
					}
					if change[2] != "" {
						require.Equal(t, change[2], ledTo(t, p).Get("error"))
						continue
					}
					require.Empty(t, p.header.Get("Refresh"))
					require.NotContains(t, p.header.Get("Location"), "evil.example")
				}
			})
		}
		open := func(more url.Values) page {
			return do(t, s, "GET", "/account/connect?"+in.Encode()+"&"+more.Encode(), nil, me...)
		}
		for _, more := range []url.Values{{"client_id": in["client_id"]}, {"redirect_uri": {"https://evil.example/cb"}}, {"redirect_uri": in["redirect_uri"]}} {
			require.Empty(t, open(more).header.Get("Refresh"), "%v", more)
		}
		for name, more := range map[string]url.Values{"invalid_request": {"scope": {"", ""}}, "invalid_target": {"resource": {"https://evil.example/mcp"}}} {
			require.Equal(t, name, ledTo(t, open(more)).Get("error"))
		}
		undescribed := with(in, "client_id", "https://localhost/client.json")
		require.Contains(t, do(t, s, "GET", "/account/connect?"+undescribed.Encode(), nil, me...).body, "What the assistant says of itself cannot be read")
		two := open(url.Values{"resource": {"http://localhost:8080"}})
		require.Equal(t, 2, strings.Count(two.body, `name="resource"`), "each is ours, and goes through the form")
		twice := open(url.Values{"state": {"another"}}).header.Get("Refresh")
		require.Contains(t, twice, "error=invalid_request")
		require.NotContains(t, twice, "state=", "of two nobody knows which is the assistant's")
		in.Set("answer", "allow")
		evil := do(t, s, "POST", "/account/connect", in, append(me, "Origin", "https://evil.example")...)
		require.Empty(t, evil.header.Get("Refresh"))
	})
}
