package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
)

const (
	verifier = "a verifier of PKCE that has at least forty-three characters"
	callback = "https://assistant.example/callback"
)

func s256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// ask sends a form, or JSON, to a path outside /v1 and returns the answer.
func ask(t *testing.T, s *apptest.Service, path string, body any) (status int, answer map[string]any) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	kind := "application/json"
	if form, ok := body.(url.Values); ok {
		kind, raw = "application/x-www-form-urlencoded", []byte(form.Encode())
	}
	res, err := http.Post(s.URL+path, kind, bytes.NewReader(raw))
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err = io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Less(t, res.StatusCode, 500, string(raw))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	if len(raw) > 0 {
		require.NoError(t, json.Unmarshal(raw, &answer), string(raw))
	}
	return res.StatusCode, answer
}

// assistantAt registers an assistant with these addresses and returns its id.
func assistantAt(t *testing.T, s *apptest.Service, redirects ...string) string {
	t.Helper()
	status, a := ask(t, s, "/oauth/register", map[string]any{"client_name": "Helper", "redirect_uris": redirects, "token_endpoint_auth_method": "client_secret_basic"})
	require.Equal(t, 201, status, a)
	require.Equal(t, "none", a["token_endpoint_auth_method"])
	return a["client_id"].(string)
}

// consent is what a person agrees to, with changes.
func consent(client string, changes ...any) map[string]any {
	in := map[string]any{"client_id": client, "redirect_uri": callback, "code_challenge": s256(verifier), "code_challenge_method": "S256",
		"resource": "http://localhost:8080/mcp", "state": "xyz", "permissions": []string{"svc_view_contacts", "svc_manage_crm"}}
	for i := 0; i+1 < len(changes); i += 2 {
		if changes[i+1] == nil {
			delete(in, changes[i].(string))
			continue
		}
		in[changes[i].(string)] = changes[i+1]
	}
	return in
}

// codeOf is the code of a consent.
func codeOf(t *testing.T, a *apptest.Answer) string {
	t.Helper()
	to, err := url.Parse(a.Is(201).Text("redirect_to"))
	require.NoError(t, err)
	require.Equal(t, []string{"xyz", "http://localhost:8080"}, []string{to.Query().Get("state"), to.Query().Get("iss")})
	require.Equal(t, callback, to.Scheme+"://"+to.Host+to.Path)
	return to.Query().Get("code")
}

func forCode(client, code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {callback},
		"resource": {"http://localhost:8080/mcp"}}
}

func forRefresh(client string, a map[string]any) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {a["refresh_token"].(string)}}
}

func bearer(s *apptest.Service, a map[string]any) *apptest.Client {
	return s.Visitor().With("Authorization", "Bearer "+a["access_token"].(string))
}

// connected is an assistant that the administrator has connected, and its first tokens.
func connected(t *testing.T, s *apptest.Service, c *apptest.Client) (client string, tokens map[string]any) {
	t.Helper()
	client = assistantAt(t, s, callback)
	status, tokens := ask(t, s, "/oauth/token", forCode(client, codeOf(t, c.Post("/me/connections", consent(client)))))
	require.Equal(t, 200, status, tokens)
	return client, tokens
}

func TestAConnectionMayNoMoreThanItsPersonAndEndsWhenTheyWant(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Eventually(func() bool { return len(admin(t, s).Get("/abilities").Is(200).Items()) > 0 })
	t.Run("a connected assistant runs abilities and nothing else", func(t *testing.T) {
		c := admin(t, s)
		client, got := connected(t, s, c)
		require.Equal(t, []any{"Bearer", "svc_manage_crm svc_view_contacts", 1800.0}, []any{got["token_type"], got["scope"], got["expires_in"]})
		a := bearer(s, got)
		a.Get("/abilities/svc/list-apps/run").Is(200)
		a.Get("/abilities/svc/get-general-settings/run").Is(200)
		require.Equal(t, "svc_manage_integrations", a.Get("/abilities/svc/find-audit-entries/run").Fails(403, "svc_forbidden").Text("data.permission"))
		require.Equal(t, "assistant", a.Get("/apps").Fails(403, "svc_forbidden").Text("data.reason"))
		require.Equal(t, "assistant", a.Get("/me/connections").Fails(403, "svc_forbidden").Text("data.reason"))
		basic(s, "admin", got["access_token"].(string)).Get("/apps").Fails(401, "svc_unauthorized")
		s.Visitor().With("Authorization", "Bearer "+got["refresh_token"].(string)).Get("/abilities").Fails(401, "svc_unauthorized")

		listed := c.Get("/me/connections").Is(200).Items()
		require.Len(t, listed, 1)
		require.Equal(t, []any{"Helper", "assistant.example"}, []any{listed[0]["name"], listed[0]["host"]})
		require.Contains(t, kindsTo(t, s, "admin@example.com"), "new_connection")

		s.Travel(31 * time.Minute)
		a.Get("/abilities").Fails(401, "svc_unauthorized")
		status, next := ask(t, s, "/oauth/token", forRefresh(client, got))
		require.Equal(t, 200, status)
		bearer(s, next).Get("/abilities").Is(200)
		c = admin(t, s)
		c.Delete("/me/connections/"+listed[0]["id"].(string), nil).Is(204)
		s.Eventually(func() bool { return bearer(s, next).Get("/abilities").Status == 401 })
		status, _ = ask(t, s, "/oauth/token", forRefresh(client, next))
		require.Equal(t, 400, status)
		c.Delete("/me/connections/"+listed[0]["id"].(string), nil).Fails(404, "svc_not_found")
	})
	t.Run("administrators see and end connections", func(t *testing.T) {
		c := admin(t, s)
		client, got := connected(t, s, c)
		me := fmt.Sprint(int64(c.Get("/me").Is(200).Field("user_id").(float64)))
		listed := c.Get("/staff/" + me + "/access").Is(200).Field("connections").([]any)
		require.Len(t, listed, 1)
		c.Delete("/staff/"+me+"/connections/"+listed[0].(map[string]any)["id"].(string), nil).Is(204)
		s.Eventually(func() bool { return bearer(s, got).Get("/abilities").Status == 401 })
		require.Contains(t, kindsTo(t, s, "admin@example.com"), "connection_ended")
		status, _ := ask(t, s, "/oauth/token", forRefresh(client, got))
		require.Equal(t, 400, status)

		_, got = connected(t, s, c)
		status, _ = ask(t, s, "/oauth/revoke", url.Values{"token": {got["refresh_token"].(string)}})
		require.Equal(t, 200, status)
		s.Eventually(func() bool { return bearer(s, got).Get("/abilities").Status == 401 })
		status, _ = ask(t, s, "/oauth/revoke", url.Values{"token": {"nonsense"}})
		require.Equal(t, 200, status)
	})
	t.Run("a person takes single abilities away from an assistant", func(t *testing.T) {
		c := admin(t, s)
		client := assistantAt(t, s, callback)

		query := url.Values{}
		for name, value := range consent(client) {
			if text, ok := value.(string); ok && name != "state" {
				query.Set(name, text)
			}
		}
		asked := c.Get("/me/connections/check?" + query.Encode()).Is(200)
		offered := map[string]map[string]any{}
		for _, a := range asked.Field("abilities").([]any) {
			offered[a.(map[string]any)["name"].(string)] = a.(map[string]any)
		}
		require.Equal(t, map[string]any{"name": "svc/list-apps", "does": "List apps and whether each is on.", "permission": "svc_view_contacts", "readonly": true, "destructive": false},
			offered["svc/list-apps"], "%v", offered)
		require.NotContains(t, offered, "svc/update-role", "assistants do not have it at all")

		c.Post("/me/connections", consent(client, "denied", []string{"svc/make-coffee"})).Fails(400, "svc_invalid_param")
		status, got := ask(t, s, "/oauth/token", forCode(client, codeOf(t, c.Post("/me/connections", consent(client, "denied", []string{"svc/list-apps", "svc/list-apps"})))))
		require.Equal(t, 200, status)
		require.Equal(t, []any{"svc/list-apps"}, c.Get("/me/connections").Is(200).Items()[0]["denied"])
		refusedEverywhere := func(got map[string]any) {
			t.Helper()
			a, token := bearer(s, got), got["access_token"].(string)
			a.Get("/abilities/svc/get-general-settings/run").Is(200)
			require.Equal(t, "ability", a.Get("/abilities/svc/list-apps/run").Fails(403, "svc_forbidden").Text("data.reason"))
			a.Get("/abilities/svc/list-apps").Fails(403, "svc_forbidden")
			require.NotContains(t, a.Get("/abilities").Is(200).Body, `"svc/list-apps"`)
			tools := toolsOf(t, s, token)
			require.Contains(t, tools, "svc-get-general-settings")
			require.NotContains(t, tools, "svc-list-apps")
			require.NotContains(t, rpc(t, s, token, "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"discover-abilities","arguments":{}}}`), `svc/list-apps\"`)
			for _, call := range []string{`"execute-ability","arguments":{"name":"svc/list-apps"}`, `"get-ability-info","arguments":{"name":"svc-list-apps"}`} {
				answer := rpc(t, s, token, "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+call+`}}`)
				require.Contains(t, answer, `"isError":true`)
				require.Contains(t, answer, "has taken this ability away")
			}
		}
		refusedEverywhere(got)
		status, next := ask(t, s, "/oauth/token", forRefresh(client, got))
		require.Equal(t, 200, status)
		refusedEverywhere(next)

		// Another assistant of the same person has it.
		_, other := connected(t, s, c)
		bearer(s, other).Get("/abilities/svc/list-apps/run").Is(200)
	})
	t.Run("an assistant never may more than its person and only a person connects one", func(t *testing.T) {
		c := admin(t, s)
		client := assistantAt(t, s, callback)
		key := withKey(t, s, c, "admin", false)
		require.Equal(t, "person_only", key.Post("/me/connections", consent(client)).Fails(403, "svc_forbidden").Text("data.reason"))
		require.Equal(t, "cross_origin", c.With("Origin", "https://evil.example").Post("/me/connections", consent(client)).Fails(403, "svc_forbidden").Text("data.reason"))

		require.Equal(t, []any{"svc_view_contacts", "svc_manage_forms"}, c.Get("/me/connections/check?"+url.Values{"client_id": {client}, "redirect_uri": {callback},
			"code_challenge": {s256(verifier)}, "code_challenge_method": {"S256"}, "scope": {"svc_manage_forms"}}.Encode()).Is(200).Field("permissions"))
		_, got := ask(t, s, "/oauth/token", forCode(client, codeOf(t, c.Post("/me/connections", consent(client, "scope", "svc_manage_forms")))))
		require.Equal(t, "svc_view_contacts", got["scope"], "neither more than it asked for nor more than the person left it")

		// The role leaves the API, and its assistants with it.
		a := bearer(s, got)
		a.Get("/abilities").Is(200)
		c.Patch("/settings/api-access", map[string]any{"roles": []string{}}).Is(200)
		s.Eventually(func() bool { return a.Get("/abilities").Status == 401 })
		require.Equal(t, "api_access", c.Post("/me/connections", consent(client)).Fails(409, "svc_conflict").Text("data.reason"))

		s.Travel(11 * time.Minute)
		c.Post("/me/connections", consent(client)).Fails(403, "svc_password_required")
	})
}

func TestAnAssistantGetsTokensForWhatItAskedForOnly(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	t.Run("a code or refresh token that comes twice ends the connection", func(t *testing.T) {
		t.Run("a code", func(t *testing.T) {
			client := assistantAt(t, s, callback)
			code := codeOf(t, c.Post("/me/connections", consent(client)))
			status, got := ask(t, s, "/oauth/token", forCode(client, code))
			require.Equal(t, 200, status)
			bearer(s, got).Get("/abilities").Is(200)
			status, refused := ask(t, s, "/oauth/token", forCode(client, code))
			require.Equal(t, []any{400, "invalid_grant"}, []any{status, refused["error"]})
			s.Eventually(func() bool { return bearer(s, got).Get("/abilities").Status == 401 })
		})
		t.Run("a refresh token", func(t *testing.T) {
			client, first := connected(t, s, c)
			status, second := ask(t, s, "/oauth/token", forRefresh(client, first))
			require.Equal(t, 200, status)
			bearer(s, first).Get("/abilities").Is(200) // a call under way
			status, refused := ask(t, s, "/oauth/token", forRefresh(client, first))
			require.Equal(t, []any{400, "invalid_grant"}, []any{status, refused["error"]})
			s.Eventually(func() bool { return bearer(s, second).Get("/abilities").Status == 401 })
			status, _ = ask(t, s, "/oauth/token", forRefresh(client, second))
			require.Equal(t, 400, status)
		})
		require.Equal(t, 2, strings.Count(strings.Join(kindsTo(t, s, "admin@example.com"), " "), "connection_reused"))
		require.Empty(t, c.Get("/me/connections").Is(200).Items())
	})
	t.Run("a code is good for who asked for it only", func(t *testing.T) {
		client, other := assistantAt(t, s, callback, callback+"2"), assistantAt(t, s, callback)
		code := codeOf(t, c.Post("/me/connections", consent(client)))
		for name, change := range map[string][2]string{
			"another client":       {"client_id", other},
			"another address":      {"redirect_uri", callback + "2"},
			"no address":           {"redirect_uri", ""},
			"another verifier":     {"code_verifier", strings.Repeat("x", 50)},
			"a challenge as such":  {"code_verifier", s256(verifier)},
			"no verifier":          {"code_verifier", ""},
			"another resource":     {"resource", "https://elsewhere.example/mcp"},
			"another code":         {"code", code + "x"},
			"another grant":        {"grant_type", "client_credentials"},
			"a password":           {"grant_type", "password"},
			"a token of no family": {"grant_type", "refresh_token"},
		} {
			t.Run(name, func(t *testing.T) {
				in := forCode(client, code)
				in.Set(change[0], change[1])
				status, refused := ask(t, s, "/oauth/token", in)
				require.Equal(t, 400, status, refused)
				require.NotEmpty(t, refused["error"])
			})
		}
		twice := forCode(client, code)
		twice.Add("code", "another")
		status, _ := ask(t, s, "/oauth/token", twice)
		require.Equal(t, 400, status)
		status, _ = ask(t, s, "/oauth/token", forCode(client, code))
		require.Equal(t, 200, status, "the code itself is still good")

		late := codeOf(t, c.Post("/me/connections", consent(client)))
		s.Travel(3 * time.Minute)
		status, _ = ask(t, s, "/oauth/token", forCode(client, late))
		require.Equal(t, 400, status)
	})
	t.Run("what an assistant asks for is checked", func(t *testing.T) {
		client := assistantAt(t, s, callback, "http://127.0.0.1:8000/cb", "http://localhost/cb")
		for name, change := range map[string][]any{
			"client_id":             {"client_id", "0198c5e0-0000-7000-8000-000000000000"},
			"no client_id":          {"client_id", "me"},
			"redirect_uri":          {"redirect_uri", "https://evil.example/callback"},
			"a longer address":      {"redirect_uri", callback + "/more"},
			"a query":               {"redirect_uri", callback + "?x=1"},
			"another case":          {"redirect_uri", "https://assistant.example/Callback"},
			"user info":             {"redirect_uri", "https://assistant.example@evil.example/callback"},
			"another local path":    {"redirect_uri", "http://127.0.0.1:8000/other"},
			"another local name":    {"redirect_uri", "http://localhost.evil.example:8000/cb"},
			"a fragment":            {"redirect_uri", callback + "#x"},
			"plain PKCE":            {"code_challenge_method", "plain"},
			"no PKCE":               {"code_challenge_method", nil, "code_challenge", nil},
			"a short challenge":     {"code_challenge", "abc"},
			"another resource":      {"resource", "https://elsewhere.example/mcp"},
			"an unknown permission": {"permissions", []string{"everything"}},
		} {
			t.Run(name, func(*testing.T) {
				c.Post("/me/connections", consent(client, change...)).Fails(400, "svc_invalid_param")
			})
		}
		for _, address := range []string{"http://127.0.0.1:4711/cb", "http://127.0.0.1:8000/cb", "http://localhost:4711/cb"} {
			c.Post("/me/connections", consent(client, "redirect_uri", address)).Is(201)
		}
		for _, addresses := range [][]string{{}, {"http://assistant.example/cb"}, {"javascript:alert(1)"}, {"https://a.example/#x"}, {"https://user@a.example/"}, {"myapp://cb"},
			{"https://a.example/\nSet-Cookie: x"}, {"https:///cb"}, {""}, slices.Repeat([]string{callback}, 11)} {
			status, refused := ask(t, s, "/oauth/register", map[string]any{"client_name": "Helper", "redirect_uris": addresses})
			require.Equal(t, []any{400, "invalid_redirect_uri"}, []any{status, refused["error"]}, addresses)
		}
		status, _ := ask(t, s, "/oauth/register", map[string]any{"client_name": "two\nlines", "redirect_uris": []string{callback}})
		require.Equal(t, 400, status)
	})
	t.Run("the server and its resource are described", func(t *testing.T) {
		get := func(path string) (about map[string]any) {
			res, err := http.Get(s.URL + path)
			require.NoError(t, err)
			defer res.Body.Close()
			require.Equal(t, 200, res.StatusCode)
			require.NoError(t, json.NewDecoder(res.Body).Decode(&about))
			return about
		}
		for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
			about := get(path)
			require.Equal(t, "http://localhost:8080/mcp", about["resource"])
			require.Equal(t, []any{"http://localhost:8080"}, about["authorization_servers"])
		}
		about := get("/.well-known/oauth-authorization-server")
		require.Equal(t, "http://localhost:8080", about["issuer"])
		require.Equal(t, []any{"S256"}, about["code_challenge_methods_supported"])
		require.Equal(t, "http://localhost:8080/account/connect", about["authorization_endpoint"])
	})
}

func TestRegistrationsAreLimited(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 0.2 }) // two registrations a minute
	var statuses []int
	for range 4 {
		status, _ := ask(t, s, "/oauth/register", map[string]any{"redirect_uris": []string{callback}})
		statuses = append(statuses, status)
	}
	require.Equal(t, []int{201, 201, 429, 429}, statuses)
}

func TestAssistantsWithoutConnectionsAreDeletedAndTokensWithTheirTime(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	unused := assistantAt(t, s, callback)
	used, got := connected(t, s, c)
	s.Travel(25 * time.Hour)
	job := func(name string) {
		i := slices.IndexFunc(s.Parts.Jobs, func(j app.Job) bool { return j.Name == name })
		require.NoError(t, s.Parts.Jobs[i].Run(t.Context()))
	}
	job("assistants")
	job("connections")
	c = admin(t, s)
	c.Post("/me/connections", consent(unused)).Fails(400, "svc_invalid_param")
	c.Post("/me/connections", consent(used)).Is(201)
	status, next := ask(t, s, "/oauth/token", forRefresh(used, got))
	require.Equal(t, 200, status, "an assistant may come back after a day")
	s.Travel(91 * 24 * time.Hour)
	status, _ = ask(t, s, "/oauth/token", forRefresh(used, next))
	require.Equal(t, 400, status, "not after three months")
	job("connections")
	require.Empty(t, admin(t, s).Get("/me/connections").Is(200).Items())
}

// toolsOf are the names of the tools that /mcp lists.
func toolsOf(t *testing.T, s *apptest.Service, token string) (names []string) {
	t.Helper()
	answer := rpc(t, s, token, "?tools=all", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &list), answer)
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// rpc sends a message to /mcp and gives the answer.
func rpc(t *testing.T, s *apptest.Service, token, query, message string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.URL+"/mcp"+query, strings.NewReader(message))
	require.NoError(t, err)
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2025-06-18"} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode, string(body))
	return string(body)
}
