package settings

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
)

// described is a server with the description of a program, which says what change makes of it, and how often it was read.
func described(t *testing.T, change func(says map[string]any)) (address string, read *atomic.Int32) {
	t.Helper()
	read = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read.Add(1)
		says := map[string]any{"client_id": "http://" + r.Host + r.URL.RequestURI(), "client_name": "Helper", "redirect_uris": []string{callback},
			"token_endpoint_auth_method": "none", "client_uri": "https://assistant.example"}
		change(says)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(says)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/oauth/client.json", read
}

func local(c *app.Config) { c.WebhookLocal = true }

// checked is the answer to what an assistant asks for.
func checked(c *apptest.Client, client, redirect string) *apptest.Answer {
	return c.Get("/me/connections/check?" + url.Values{"client_id": {client}, "redirect_uri": {redirect}, "code_challenge": {s256(verifier)}, "code_challenge_method": {"S256"}}.Encode())
}

func TestAProgramIsNamedByTheAddressOfItsDescription(t *testing.T) {
	t.Parallel()
	s := start(t, local)
	c := admin(t, s)
	redirects := atomic.Pointer[[]string]{}
	redirects.Store(&[]string{callback, "http://127.0.0.1/cb"})
	client, read := described(t, func(says map[string]any) { says["redirect_uris"] = *redirects.Load() })

	require.Equal(t, []any{"Helper", "assistant.example"}, []any{checked(c, client, callback).Is(200).Field("name"), checked(c, client, callback).Is(200).Field("host")})
	checked(c, client, "http://127.0.0.1:4711/cb").Is(200)
	checked(c, client, "https://evil.example/callback").Fails(400, "svc_invalid_param")
	status, got := ask(t, s, "/oauth/token", forCode(client, codeOf(t, c.Post("/me/connections", consent(client)))))
	require.Equal(t, 200, status, got)
	require.EqualValues(t, 1, read.Load(), "it is kept for an hour")
	other, _ := described(t, func(map[string]any) {})
	checked(c, other, callback).Is(200)
	require.Equal(t, "invalid_grant", refused(t, s, "/oauth/token", forRefresh(other, got)))
	status, got = ask(t, s, "/oauth/token", forRefresh(client, got))
	require.Equal(t, 200, status, got)

	redirects.Store(&[]string{"https://moved.example/callback"})
	s.Travel(61 * time.Minute)
	c = admin(t, s)
	checked(c, client, callback).Fails(400, "svc_invalid_param")
	checked(c, client, "https://moved.example/callback").Is(200)
	require.EqualValues(t, 2, read.Load())
	status, _ = ask(t, s, "/oauth/token", forRefresh(client, got))
	require.Equal(t, 200, status, "a connection goes on")
	var rows int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from assistant where url = $1`, client).Scan(&rows))
	require.Equal(t, 1, rows)

	// Nobody needs to have asked before they agree.
	direct, _ := described(t, func(map[string]any) {})
	c.Post("/me/connections", consent(direct)).Is(201)
}

func TestADescriptionThatIsNotTheProgramsOwnConnectsNothing(t *testing.T) {
	t.Parallel()
	s := start(t, local)
	c := admin(t, s)
	for name, change := range map[string]func(says map[string]any){
		"another client":         func(says map[string]any) { says["client_id"] = "https://assistant.example/client.json" },
		"no client":              func(says map[string]any) { delete(says, "client_id") },
		"no addresses":           func(says map[string]any) { says["redirect_uris"] = []string{} },
		"a bad address":          func(says map[string]any) { says["redirect_uris"] = []string{"javascript:alert(1)"} },
		"addresses that are one": func(says map[string]any) { says["redirect_uris"] = callback },
		"a name of two lines":    func(says map[string]any) { says["client_name"] = "two\nlines" },
		"a secret":               func(says map[string]any) { says["client_secret"] = "x" },
		"a way with a secret":    func(says map[string]any) { says["token_endpoint_auth_method"] = "client_secret_basic" },
		"too much":               func(says map[string]any) { says["more"] = strings.Repeat("x", 40<<10) },
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := described(t, change)
			a := checked(c, client, callback).Fails(400, "svc_invalid_param")
			require.NotEmpty(t, a.Text("data.params.client_id"))
			require.Nil(t, a.Field("data.lead_back"))
			c.Post("/me/connections", consent(client)).Fails(400, "svc_invalid_param")
		})
	}
	good, _ := described(t, func(map[string]any) {})
	root := strings.TrimSuffix(good, "/oauth/client.json")
	moved := httptest.NewServer(http.RedirectHandler(good, http.StatusFound))
	defer moved.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, client := range []string{root, root + "/", good + "#x", root + "/oauth/../oauth/client.json", root + "/./oauth/client.json", strings.Replace(good, "http://", "http://user@", 1),
		moved.URL + "/client.json", gone.URL + "/client.json", "http://127.0.0.1:1/client.json", good + "?" + strings.Repeat("x", 2048)} {
		checked(c, client, callback).Fails(400, "svc_invalid_param")
	}
}

func TestADescriptionInsideANetworkIsNotRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	client, read := described(t, func(map[string]any) {})
	for _, client := range []string{client, "https://127.0.0.1/client.json", "https://localhost/client.json", "https://10.0.0.1/client.json", "https://169.254.169.254/client.json", "http://assistant.example/client.json"} {
		checked(c, client, callback).Fails(400, "svc_invalid_param")
	}
	require.Zero(t, read.Load())
	res, err := http.Get(s.URL + "/.well-known/oauth-authorization-server")
	require.NoError(t, err)
	defer res.Body.Close()
	var about map[string]any
	require.NoError(t, json.NewDecoder(res.Body).Decode(&about))
	require.Equal(t, true, about["client_id_metadata_document_supported"])
}

func TestAnAssistantThatMayReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	s.Eventually(func() bool { return len(c.Get("/abilities").Is(200).Items()) > 0 })
	client := assistantAt(t, s, callback)
	_, got := ask(t, s, "/oauth/token", forCode(client, codeOf(t, c.Post("/me/connections", consent(client, "read_only", true)))))
	require.Equal(t, true, c.Get("/me/connections").Is(200).Items()[0]["read_only"])
	changing, reading := "", 0
	for _, x := range c.Get("/integrations/ai").Is(200).Field("abilities").([]any) {
		x := x.(map[string]any)
		if x["mcp"] != true {
			continue
		}
		path := fmt.Sprint("/abilities/", x["name"])
		listed := strings.Contains(bearer(s, got).Get("/abilities").Is(200).Body, fmt.Sprintf("%q", x["name"]))
		if x["readonly"] == true {
			reading++
			require.True(t, listed, x["name"])
		} else {
			changing = fmt.Sprint(x["name"])
			require.False(t, listed, x["name"])
			require.Equal(t, "ability", bearer(s, got).Get(path).Fails(403, "svc_forbidden").Text("data.reason"))
			a := bearer(s, got).Post(path+"/run", map[string]any{"input": map[string]any{}})
			require.Contains(t, []int{403, 405}, a.Status, a.Body)
		}
	}
	require.NotEmpty(t, changing)
	require.Positive(t, reading)
	require.NotContains(t, toolsOf(t, s, got["access_token"].(string)), strings.Replace(changing, "/", "-", 1))
	answer := rpc(t, s, got["access_token"].(string), "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute-ability","arguments":{"name":"`+changing+`"}}}`)
	require.Contains(t, answer, "has taken this ability away")
	_, got = ask(t, s, "/oauth/token", forRefresh(client, got))
	bearer(s, got).Get("/abilities/"+changing).Fails(403, "svc_forbidden")
	bearer(s, got).Get("/abilities/svc/get-general-settings/run").Is(200)
}
