package settings

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
)

const nobody = "0198c5e0-0000-7000-8000-000000000000"

// with is a form with changes; a change to nothing takes the field away.
func with(in url.Values, changes ...string) url.Values {
	out := url.Values{}
	for name, values := range in {
		out[name] = values
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if out.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			out.Del(changes[i])
		}
	}
	return out
}

// refused sends a form and returns the error of OAuth with which it is refused.
func refused(t *testing.T, s *apptest.Service, path string, in url.Values) string {
	t.Helper()
	status, a := ask(t, s, path, in)
	require.Equal(t, 400, status, a)
	require.NotEmpty(t, a["error_description"])
	return a["error"].(string)
}

func TestAClientThatIsNotRegisteredIsToldSoAndAnotherOnesCodeIsNot(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	client, other := assistantAt(t, s, callback), assistantAt(t, s, callback)
	code := codeOf(t, c.Post("/me/connections", consent(client)))
	for _, id := range []string{nobody, "me", "https://nowhere.example/client.json"} {
		require.Equal(t, "invalid_client", refused(t, s, "/oauth/token", forCode(id, code)), id)
	}
	require.Equal(t, "invalid_grant", refused(t, s, "/oauth/token", forCode(other, code)))
	status, got := ask(t, s, "/oauth/token", forCode(client, code))
	require.Equal(t, 200, status, "none of these used the code up")
	require.Equal(t, "invalid_client", refused(t, s, "/oauth/token", forRefresh(nobody, got)))
	require.Equal(t, "invalid_grant", refused(t, s, "/oauth/token", forRefresh(other, got)))
	byBasic := func(id string) *http.Response {
		req, err := http.NewRequest(http.MethodPost, s.URL+"/oauth/token", strings.NewReader(with(forRefresh(client, got), "client_id", "").Encode()))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.SetBasicAuth(id, "")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res
	}
	res := byBasic(nobody)
	require.Equal(t, 401, res.StatusCode)
	require.Regexp(t, `^Basic `, res.Header.Get("WWW-Authenticate"))
	require.Equal(t, 200, byBasic(client).StatusCode, "the token is still good, and a public client may name itself so")
}

func TestARevocationEndsWhatItNamesAndIsOfItsOwnClient(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	client, got := connected(t, s, c)
	other := assistantAt(t, s, callback)
	token := got["refresh_token"].(string)
	for name, send := range map[string]func() (int, map[string]any){
		"JSON": func() (int, map[string]any) { return ask(t, s, "/oauth/revoke", map[string]any{"token": token}) },
		"a query": func() (int, map[string]any) {
			return ask(t, s, "/oauth/revoke?token="+url.QueryEscape(token), url.Values{})
		},
		"no token":   func() (int, map[string]any) { return ask(t, s, "/oauth/revoke", url.Values{"client_id": {client}}) },
		"two tokens": func() (int, map[string]any) { return ask(t, s, "/oauth/revoke", url.Values{"token": {token, "x"}}) },
	} {
		t.Run(name, func(t *testing.T) {
			status, a := send()
			require.Equal(t, []any{400, "invalid_request"}, []any{status, a["error"]})
		})
	}
	require.Equal(t, "invalid_grant", refused(t, s, "/oauth/revoke", url.Values{"token": {token}, "client_id": {other}}))
	require.Equal(t, "invalid_client", refused(t, s, "/oauth/revoke", url.Values{"token": {token}, "client_id": {nobody}}))
	bearer(s, got).Get("/abilities").Is(200)

	status, _ := ask(t, s, "/oauth/revoke", url.Values{"token": {got["access_token"].(string)}, "client_id": {client}, "token_type_hint": {"refresh_token"}})
	require.Equal(t, 200, status)
	s.Eventually(func() bool { return bearer(s, got).Get("/abilities").Status == 401 })
	status, _ = ask(t, s, "/oauth/revoke", url.Values{"token": {token}, "client_id": {client}})
	require.Equal(t, 200, status, "one that is gone is gone")
	s.Settle()
	entry := c.Get("/audit-log?action=revoke-connection").Is(200)
	require.Len(t, entry.Items(), 1)
	require.Equal(t, []any{"connection", "127.0.0.1", float64(userID(c))}, []any{entry.Items()[0]["record_type"], entry.Items()[0]["address"], entry.Items()[0]["user_id"]})
}

func TestWhatARequestForTokensLacksIsInvalidRequest(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	client, got := connected(t, s, c)
	code := codeOf(t, c.Post("/me/connections", consent(client)))
	for _, field := range []string{"grant_type", "code", "client_id", "code_verifier"} {
		require.Equal(t, "invalid_request", refused(t, s, "/oauth/token", with(forCode(client, code), field, "")), field)
	}
	require.Equal(t, "invalid_request", refused(t, s, "/oauth/token", with(forRefresh(client, got), "refresh_token", "")))
	require.Equal(t, "unsupported_grant_type", refused(t, s, "/oauth/token", with(forCode(client, code), "grant_type", "password")))
	status, a := ask(t, s, "/oauth/token", map[string]any{"grant_type": "authorization_code"})
	require.Equal(t, []any{400, "invalid_request"}, []any{status, a["error"]})

	elsewhere := forCode(client, code)
	elsewhere["resource"] = []string{"http://localhost:8080/mcp", "https://elsewhere.example/mcp"}
	require.Equal(t, "invalid_target", refused(t, s, "/oauth/token", elsewhere))
	twice := forCode(client, code)
	twice["resource"] = []string{"http://localhost:8080/mcp", "http://localhost:8080"}
	status, _ = ask(t, s, "/oauth/token", twice)
	require.Equal(t, 200, status, "each is ours")
}

func TestARefreshNarrowsAndNeverWidens(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	client, got := connected(t, s, c)
	refresh := func(scope string) url.Values { return with(forRefresh(client, got), "scope", scope) }
	for _, scope := range []string{"svc_view_contacts svc_manage_forms", "svc_fly", "svc_manage_crm openid"} {
		require.Equal(t, "invalid_scope", refused(t, s, "/oauth/token", refresh(scope)), scope)
	}
	status, narrow := ask(t, s, "/oauth/token", refresh("svc_view_contacts"))
	require.Equal(t, []any{200, "svc_view_contacts"}, []any{status, narrow["scope"]}, "none of these used the token up")
	bearer(s, narrow).Get("/abilities/svc/list-apps/run").Is(200)
	bearer(s, narrow).Get("/abilities/svc/get-general-settings/run").Fails(403, "svc_forbidden")
	require.NoError(t, s.Kit.DB.Do(t.Context(), func(tx *db.Tx) error { return app.PublishAll(t.Context(), tx, s.Parts.Published) }))
	s.Settle()
	bearer(s, narrow).Get("/abilities/svc/get-general-settings/run").Fails(403, "svc_forbidden")
	bearer(s, got).Get("/abilities/svc/get-general-settings/run").Is(200)

	got = narrow
	status, whole := ask(t, s, "/oauth/token", refresh(""))
	require.Equal(t, []any{200, "svc_manage_crm svc_view_contacts"}, []any{status, whole["scope"]}, "what the person agreed to is still what it is")
	got = whole
	status, sees := ask(t, s, "/oauth/token", refresh("svc_manage_crm"))
	require.Equal(t, []any{200, "svc_manage_crm svc_view_contacts"}, []any{status, sees["scope"]}, "seeing contacts is what everything else requires")
}

func TestARequestForAnUnknownScopeIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	client := assistantAt(t, s, callback)
	check := func(scope string) *apptest.Answer {
		return c.Get("/me/connections/check?" + url.Values{"client_id": {client}, "redirect_uri": {callback}, "code_challenge": {s256(verifier)},
			"code_challenge_method": {"S256"}, "scope": {scope}}.Encode())
	}
	for _, scope := range []string{"openid", "svc_view_contacts offline_access", "SVC_VIEW_CONTACTS", "svc_view_contacts,svc_manage_crm"} {
		a := check(scope).Fails(400, "svc_invalid_param")
		require.NotEmpty(t, a.Text("data.params.scope"), scope)
		require.Equal(t, true, a.Field("data.lead_back"), scope)
		c.Post("/me/connections", consent(client, "scope", scope)).Fails(400, "svc_invalid_param")
	}
	require.Equal(t, []any{"svc_view_contacts", "svc_manage_forms"}, check("svc_manage_forms").Is(200).Field("permissions"))
	require.Len(t, check("").Is(200).Field("permissions"), 9)
}

func TestATokenIsChallengedAsAToken(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	_, got := connected(t, s, c)
	challenge := func(a *apptest.Answer) string { return a.Header.Get("WWW-Authenticate") }
	bad := challenge(s.Visitor().With("Authorization", "Bearer nonsense").Get("/abilities").Fails(401, "svc_unauthorized"))
	require.Regexp(t, `^Bearer `, bad)
	require.Contains(t, bad, `error="invalid_token"`)
	require.Regexp(t, `^Basic `, challenge(s.Visitor().Get("/abilities").Fails(401, "svc_unauthorized")))
	require.Regexp(t, `^Basic `, challenge(basic(s, "admin", "nonsense").Get("/abilities").Fails(401, "svc_unauthorized")))

	little := challenge(bearer(s, got).Get("/abilities/svc/find-audit-entries/run").Fails(403, "svc_forbidden"))
	require.Regexp(t, `^Bearer `, little)
	require.Contains(t, little, `error="insufficient_scope"`)
	require.Contains(t, little, `scope="svc_manage_integrations"`)
	require.Empty(t, challenge(bearer(s, got).Get("/apps").Fails(403, "svc_forbidden")), "no scope leads there")
	key := withKey(t, s, c, "admin", true)
	key.Get("/apps").Fails(403, "svc_forbidden")
	require.Empty(t, challenge(key.Get("/me/connections").Fails(403, "svc_forbidden")))
}

func TestNoAnswerOfTheTokenEndpointIsKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	res, err := http.PostForm(s.URL+"/oauth/token", url.Values{})
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, []string{"no-store", "no-cache"}, []string{res.Header.Get("Cache-Control"), res.Header.Get("Pragma")})
	for _, path := range []string{"/oauth/token", "/oauth/register", "/oauth/revoke"} {
		res, err := http.Get(s.URL + path)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, []any{405, "POST"}, []any{res.StatusCode, res.Header.Get("Allow")}, path)
	}
}
