package mcp_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/mcp"
	"frontdesk/services/settings/internal/settings"
)

const password = "correct horse battery" // of the first administrator in a test

// desk is settings, its administrator in a browser, and a key of theirs for assistants.
type desk struct {
	*apptest.Service
	t     *testing.T
	admin *apptest.Client
	key   string // the header Authorization
}

func start(t *testing.T) *desk {
	t.Helper()
	s := apptest.Start(t, settings.Service, func(c *app.Config) { c.RateFactor = 0 })
	a := s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": password}).Is(200)
	cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	d := &desk{Service: s, t: t, admin: s.Visitor().With("Cookie", cookie)}
	d.key = d.newKey(nil)
	s.Eventually(func() bool { return len(d.admin.Get("/abilities").Is(200).Items()) > 0 })
	return d
}

// newKey makes a key for assistants, limited to permissions unless they are nil.
func (d *desk) newKey(permissions []string) string {
	d.t.Helper()
	in := map[string]any{"name": "assistant", "assistant": true}
	if permissions != nil {
		in["permissions"] = permissions
	}
	made := d.admin.Post("/me/application-passwords", in).Is(201)
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+made.Text("password")))
}

// send posts one message and returns the answer; headers are name and value in turn.
func (d *desk) send(query, body string, headers ...string) (*http.Response, string) {
	d.t.Helper()
	req, err := http.NewRequest(http.MethodPost, d.URL+"/mcp"+query, strings.NewReader(body))
	require.NoError(d.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", d.key)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(d.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(d.t, err)
	require.NotEqual(d.t, 500, res.StatusCode, string(raw))
	return res, string(raw)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// connect connects the official client.
func (d *desk) connect(query, key string, changed func()) *sdk.ClientSession {
	d.t.Helper()
	options := &sdk.ClientOptions{}
	if changed != nil {
		options.ToolListChangedHandler = func(_ context.Context, _ *sdk.ToolListChangedRequest) { changed() }
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(d.t.Context(), &sdk.StreamableClientTransport{Endpoint: d.URL + "/mcp" + query,
		HTTPClient: &http.Client{Transport: withKey(key)}}, nil)
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = session.Close() })
	return session
}

func (d *desk) tools(s *sdk.ClientSession) map[string]*sdk.Tool {
	d.t.Helper()
	listed, err := s.ListTools(d.t.Context(), nil)
	require.NoError(d.t, err)
	all := map[string]*sdk.Tool{}
	for _, tool := range listed.Tools {
		all[tool.Name] = tool
	}
	return all
}

// call runs a tool and returns its structured content.
func (d *desk) call(s *sdk.ClientSession, name string, input any) (result *sdk.CallToolResult, content map[string]any) {
	d.t.Helper()
	result, err := s.CallTool(d.t.Context(), &sdk.CallToolParams{Name: name, Arguments: input})
	require.NoError(d.t, err)
	content, _ = result.StructuredContent.(map[string]any)
	return result, content
}

// stream opens the stream of a session. The function gives its next line with a prefix, and whether the stream is open still.
func (d *desk) stream(session string) func(prefix string) (line string, open bool) {
	d.t.Helper()
	req, err := http.NewRequest(http.MethodGet, d.URL+"/mcp", nil)
	require.NoError(d.t, err)
	req.Header.Set("Authorization", d.key)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", session)
	stream, err := http.DefaultClient.Do(req)
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = stream.Body.Close() })
	require.Equal(d.t, 200, stream.StatusCode)
	require.Equal(d.t, "text/event-stream", stream.Header.Get("Content-Type"))
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for read := bufio.NewScanner(stream.Body); read.Scan(); {
			lines <- read.Text()
		}
	}()
	return func(prefix string) (line string, open bool) {
		for {
			select {
			case line, open = <-lines:
				if !open || strings.HasPrefix(line, prefix) {
					return line, open
				}
			case <-time.After(20 * time.Second):
				require.Fail(d.t, "the stream says nothing")
			}
		}
	}
}

func TestAnAssistantFindsAndRunsWhatItMay(t *testing.T) {
	t.Parallel()
	d := start(t)
	t.Run("there is a tool for each ability that the caller may use", func(t *testing.T) {
		all := d.tools(d.connect("?tools=all", d.key, nil))
		require.Contains(t, all, "svc-list-apps")
		require.NotContains(t, all, "svc-update-app", "hidden by default")
		for name, tool := range all {
			require.Regexp(t, `^svc-[a-z-]{1,60}$`, name)
			require.NotEmpty(t, tool.Description)
			schema, err := json.Marshal([]any{tool.InputSchema, tool.OutputSchema})
			require.NoError(t, err)
			require.NotContains(t, string(schema), "$ref")
			if tool.OutputSchema != nil {
				either := tool.OutputSchema.(map[string]any)["anyOf"].([]any)
				require.Contains(t, either[1].(map[string]any)["required"], "code", "%s: a refusal fits the schema too", name)
			}
		}
		require.True(t, all["svc-list-apps"].Annotations.ReadOnlyHint)
		require.True(t, *all["svc-revoke-invitation"].Annotations.DestructiveHint)
		require.True(t, all["svc-update-form-style"].Annotations.IdempotentHint)

		few := d.tools(d.connect("?tools=settings", d.newKey([]string{"svc_view_contacts"}), nil))
		require.Contains(t, few, "svc-list-apps")
		require.NotContains(t, few, "svc-update-form-style", "it needs svc_manage_crm")
		res, body := d.send("?tools=settings,kitchen", initialize)
		require.Equal(t, 400, res.StatusCode)
		require.Contains(t, body, "svc_invalid_param")
		require.NotEmpty(t, res.Header.Get("X-Request-Id"))
		require.Contains(t, body, res.Header.Get("X-Request-Id"), "the refusal names its request")
	})
	t.Run("an assistant finds reads and runs abilities", func(t *testing.T) {
		s := d.connect("", d.key, nil)
		tools := d.tools(s)
		require.Len(t, tools, 3)
		require.True(t, tools["discover-abilities"].Annotations.ReadOnlyHint)
		require.False(t, tools["execute-ability"].Annotations.ReadOnlyHint)

		_, found := d.call(s, "discover-abilities", map[string]any{"search": "form style", "group": "settings"})
		require.EqualValues(t, 2, found["total"])
		_, info := d.call(s, "get-ability-info", map[string]any{"name": "svc/update-form-style"})
		require.Contains(t, info["input_schema"].(map[string]any)["properties"], "size")
		done, style := d.call(s, "execute-ability", map[string]any{"name": "svc/update-form-style", "input": map[string]any{"size": 15}})
		require.False(t, done.IsError)
		require.EqualValues(t, 15, style["size"])
		_, style = d.call(s, "execute-ability", map[string]any{"name": "get-form-style"})
		require.EqualValues(t, 15, style["size"])
		d.Eventually(func() bool {
			entry := d.admin.Get("/audit-log?action=update-form-style").Is(200)
			return entry.Text("items.0.channel") == "ability" && entry.Text("items.0.actor_label") == "assistant"
		})
	})
	t.Run("a change is rehearsed, and then made as it was seen or not at all", func(t *testing.T) {
		s := d.connect("?tools=settings", d.key, nil)
		require.Contains(t, d.tools(s)["svc-update-form-style"].InputSchema.(map[string]any)["properties"], "dry_run")
		_, seen := d.call(s, "svc-update-form-style", map[string]any{"size": 17, "dry_run": true})
		change := seen["effects"].(map[string]any)["changes"].([]any)[0].(map[string]any)
		require.Equal(t, []any{"size", 17.0}, []any{change["field"], change["new"]})
		_, again := d.call(d.connect("", d.key, nil), "execute-ability", map[string]any{"name": "update-form-style", "input": map[string]any{"size": 17}, "dry_run": true})
		require.Equal(t, seen["hash"], again["hash"])
		_, refused := d.call(s, "svc-update-form-style", map[string]any{"size": 18, "if_effects": seen["hash"]})
		require.Equal(t, "svc_effects_changed", refused["code"])
		_, style := d.call(s, "svc-update-form-style", map[string]any{"size": 17, "if_effects": seen["hash"]})
		require.EqualValues(t, 17, style["size"])
	})
	t.Run("a call of an ability that asks is made once a person approves it", func(t *testing.T) {
		chosen := func(approval string) {
			d.admin.Patch("/integrations/ai", map[string]any{"approval": map[string]any{"svc/update-form-style": approval}}).Is(200)
			d.Eventually(func() bool { return d.Kit.Site.Approval("svc/update-form-style") == approval })
		}
		chosen(op.ApprovalWrites)
		s := d.connect("?tools=settings", d.key, nil)
		result, asked := d.call(s, "svc-update-form-style", map[string]any{"size": 14})
		require.False(t, result.IsError)
		require.Equal(t, "svc_approval_needed", asked["code"])
		approval := asked["data"].(map[string]any)["approval"].(map[string]any)
		_, waiting := d.call(s, "svc-get-approval", map[string]any{"id": approval["id"]})
		require.Equal(t, []any{"waiting", "key", nil}, []any{waiting["state"], waiting["asked_by"].(map[string]any)["kind"], waiting["answer"]})
		d.admin.Post("/approvals/"+approval["id"].(string)+"/approve", map[string]any{"hash": approval["hash"]}).Is(200)
		_, done := d.call(s, "svc-get-approval", map[string]any{"id": approval["id"]})
		require.Equal(t, []any{"approved", 14.0}, []any{done["state"], done["answer"].(map[string]any)["size"]})
		chosen(op.ApprovalNever)
	})
	t.Run("who asks for reading only is offered nothing else", func(t *testing.T) {
		s := d.connect("?tools=settings&readonly=1&untrusted=omit", d.key, nil)
		for name, tool := range d.tools(s) {
			require.True(t, tool.Annotations.ReadOnlyHint, name)
		}
		_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "svc-update-form-style"})
		require.Error(t, err)
		res, _ := d.send("?readonly=perhaps", initialize)
		require.Equal(t, 400, res.StatusCode)
	})
	t.Run("the audit log has the address of the assistant, not of this process", func(t *testing.T) {
		_, body := d.send("?tools=settings", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc-update-form-style","arguments":{"size":16}}}`,
			"X-Forwarded-For", "198.51.100.7")
		require.Contains(t, body, `"size":16`)
		d.Eventually(func() bool {
			return d.admin.Get("/audit-log?action=update-form-style").Is(200).Text("items.0.address") == "198.51.100.7"
		})
	})
	t.Run("an empty filter and null are none, as over REST", func(t *testing.T) {
		s := d.connect("?tools=settings", d.key, nil)
		all, _ := d.call(s, "svc-find-audit-entries", map[string]any{"action": "", "channel": nil, "cursor": "", "per_page": 5.0})
		require.False(t, all.IsError, "%v", all.StructuredContent)
		_, refused := d.call(s, "svc-find-audit-entries", map[string]any{"channel": "nonsense"})
		require.Equal(t, "svc_invalid_param", refused["code"])
	})
	t.Run("a refusal is an error with our code message and data", func(t *testing.T) {
		s := d.connect("?tools=settings", d.key, nil)
		for name, c := range map[string]struct {
			tool, code string
			input      map[string]any
		}{
			"a wrong value":        {"svc-update-form-style", "svc_invalid_param", map[string]any{"size": 99}},
			"an unknown key":       {"svc-update-form-style", "svc_invalid_param", map[string]any{"nonsense": 1}},
			"an unknown record":    {"svc-revoke-invitation", "svc_not_found", map[string]any{"id": "0198c5e0-0000-7000-8000-000000000000"}},
			"a name as in the API": {"svc/update-form-style", "svc_invalid_param", map[string]any{"size": 99}},
			"too long an input":    {"svc-find-audit-entries", "svc_too_large", map[string]any{"action": strings.Repeat("x", 40<<10)}},
		} {
			t.Run(name, func(t *testing.T) {
				r, refused := d.call(s, c.tool, c.input)
				require.True(t, r.IsError)
				require.Equal(t, c.code, refused["code"])
				require.NotEmpty(t, refused["message"])
				require.NotEmpty(t, refused["data"].(map[string]any)["status"])
			})
		}
		_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "svc-make-coffee"})
		require.ErrorContains(t, err, "svc-make-coffee")
	})
}

func TestWhoMayNotComeInIsRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	t.Run("who comes without a credential is told where to get one", func(t *testing.T) {
		cookie := d.admin.Get("/auth/session").Is(200)
		require.NotEmpty(t, cookie.Body)
		for name, headers := range map[string][]string{
			"none":             {"Authorization", ""},
			"a wrong password": {"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:nonsense"))},
			"a wrong token":    {"Authorization", "Bearer nonsense"},
		} {
			t.Run(name, func(t *testing.T) {
				res, body := d.send("", initialize, headers...)
				require.Equal(t, 401, res.StatusCode, body)
				require.Contains(t, res.Header.Get("WWW-Authenticate"), `Bearer resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp"`)
				require.Contains(t, res.Header.Get("WWW-Authenticate"), `scope="svc_manage_crm svc_view_contacts svc_manage_integrations"`, "no ability of contacts, bookings or forms is here")
				require.Contains(t, body, "svc_unauthorized")
			})
		}
	})
	t.Run("pages of other sites and large bodies are refused", func(t *testing.T) {
		for name, headers := range map[string][]string{
			"another origin": {"Origin", "https://evil.example"},
			"no origin":      {"Origin", "null"},
			"a name that leads here by another's DNS": {"Origin", "http://evil.example:8080", "Host", "evil.example:8080"},
			"a page of another site":                  {"Sec-Fetch-Site", "cross-site"},
		} {
			t.Run(name, func(t *testing.T) {
				res, body := d.send("", initialize, headers...)
				require.Equal(t, 403, res.StatusCode)
				require.Contains(t, body, "cross_origin")
			})
		}
		res, _ := d.send("", initialize, "Origin", "http://localhost:8080")
		require.Equal(t, 200, res.StatusCode)
		res, body := d.send("", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute-ability","arguments":{"name":"`+strings.Repeat("x", 10<<20)+`"}}}`)
		require.Equal(t, 413, res.StatusCode)
		require.Contains(t, body, "svc_too_large")
		for _, nonsense := range []string{"", "{", "[]", "null", `"text"`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute-ability","arguments":[1]}}`} {
			res, body := d.send("", nonsense)
			require.Less(t, res.StatusCode, 500, "%s: %s", nonsense, body)
		}
	})
	t.Run("a session belongs to the credential that began it", func(t *testing.T) {
		res, _ := d.send("", initialize)
		id := res.Header.Get("Mcp-Session-Id")
		require.NotEmpty(t, id)
		const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
		res, body := d.send("", list, "Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-11-25")
		require.Equal(t, 200, res.StatusCode)
		require.Contains(t, body, "discover-abilities")
		res, body = d.send("", list, "Mcp-Protocol-Version", "2025-11-25")
		require.Equal(t, 200, res.StatusCode, "nor is a session needed")
		require.Contains(t, body, "discover-abilities")
		for _, headers := range [][]string{{"Mcp-Session-Id", id, "Authorization", d.newKey(nil)}, {"Mcp-Session-Id", id[1:]}, {"Mcp-Session-Id", "A" + id}} {
			res, body := d.send("", list, headers...)
			require.Equal(t, 404, res.StatusCode)
			require.Contains(t, body, "svc_not_found")
		}
	})
}

func TestAnswersAreThoseOfTheProtocol(t *testing.T) {
	t.Parallel()
	d := start(t)
	const newest = "2026-07-28"
	// sent is a message with a version of the protocol; "" is that of a client that says none.
	sent := func(t *testing.T, version, body string) (status int, answer map[string]any, raw string) {
		t.Helper()
		var headers []string
		if version != "" {
			headers = []string{"Mcp-Protocol-Version", version}
		}
		if method := regexp.MustCompile(`"method":"([^"]*)"`).FindStringSubmatch(body); version == newest && method != nil {
			headers = append(headers, "Mcp-Method", method[1])
			body = strings.Replace(body, `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+newest+`","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`, 1)
			body = strings.Replace(body, `},}`, `}}`, 1)
		}
		res, raw := d.send("", body, headers...)
		if raw != "" {
			require.Equal(t, "application/json", strings.Split(res.Header.Get("Content-Type"), ";")[0], raw)
			require.NoError(t, json.Unmarshal([]byte(raw), &answer), raw)
		}
		return res.StatusCode, answer, raw
	}
	code := func(answer map[string]any) any {
		e, _ := answer["error"].(map[string]any)
		return e["code"]
	}
	t.Run("the id comes back as it was sent", func(t *testing.T) {
		for _, id := range []string{"9007199254740993", "1.5", "1e3", "-0", `"a\u0041\"b"`, `""`, `"7"`, strings.Repeat("9", 40)} {
			for _, version := range []string{"", "2025-06-18", newest} {
				for _, method := range []string{"tools/list", "nonsense"} {
					_, _, raw := sent(t, version, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":{}}`)
					var back struct{ ID json.RawMessage }
					require.NoError(t, json.Unmarshal([]byte(raw), &back))
					require.Equal(t, id, string(back.ID), "%s %s", method, version)
				}
			}
		}
		for _, id := range []string{"null", "true", "[1]", "{}"} {
			status, answer, raw := sent(t, "2025-06-18", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list"}`)
			require.Equal(t, 400, status)
			require.EqualValues(t, -32600, code(answer), raw)
			require.Contains(t, raw, `"id":null`)
		}
	})
	t.Run("what is not announced is an unknown method, before and since the newest version", func(t *testing.T) {
		for _, method := range []string{"nonsense", "prompts/list", "prompts/get", "logging/setLevel", "completion/complete", "notifications/initialized"} {
			for version, is := range map[string]int{"": 200, "2025-11-25": 200, newest: 404} {
				status, answer, raw := sent(t, version, `{"jsonrpc":"2.0","id":"x","method":"`+method+`","params":{}}`)
				require.Equal(t, is, status, "%s %s: %s", method, version, raw)
				require.EqualValues(t, -32601, code(answer), "%s %s: %s", method, version, raw)
				require.Equal(t, "x", answer["id"])
			}
		}
		_, answer, _ := sent(t, "2025-11-25", initialize)
		require.Equal(t, map[string]any{"tools": map[string]any{"listChanged": true}, "resources": map[string]any{"subscribe": true}}, answer["result"].(map[string]any)["capabilities"])
	})
	t.Run("a call without its params is told so", func(t *testing.T) {
		for _, body := range []string{`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":null}`, `{"jsonrpc":"2.0","id":5,"method":"initialize"}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[1]}`, `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":"x"}`} {
			for version, is := range map[string]int{"": 200, "2025-11-25": 200, newest: 400} {
				status, answer, raw := sent(t, version, body)
				require.Equal(t, is, status, raw)
				require.EqualValues(t, -32602, code(answer), raw)
				require.EqualValues(t, 5, answer["id"])
			}
		}
	})
	t.Run("what is no message is told so, and no notification is answered", func(t *testing.T) {
		for body, is := range map[string]int{"{": -32700, "": -32700, "[]": -32600, `"text"`: -32600, `{"jsonrpc":"2.0","id":1}`: -32600, `{"id":1,"method":"ping"}`: -32600, `{"jsonrpc":"2.0","id":1,"method":7}`: -32600} {
			status, answer, raw := sent(t, "2025-03-26", body)
			require.Equal(t, 400, status, "%s: %s", body, raw)
			require.EqualValues(t, is, code(answer), "%s: %s", body, raw)
		}
		for _, body := range []string{`{"jsonrpc":"2.0","method":"notifications/nonsense"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
			`{"jsonrpc":"2.0","method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`} {
			for _, version := range []string{"", "2025-11-25", newest} {
				status, _, raw := sent(t, version, body)
				require.Equal(t, 202, status, raw)
				require.Empty(t, raw)
			}
		}
	})
	t.Run("messages of a batch are answered one by one, where the version has batches", func(t *testing.T) {
		const batch = `[{"jsonrpc":"2.0","id":1.0,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/nonsense"},{"jsonrpc":"2.0","id":"two","method":"nonsense"},7,{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{}}]`
		res, raw := d.send("", batch, "Mcp-Protocol-Version", "2025-03-26")
		require.Equal(t, 200, res.StatusCode)
		var answers []struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  struct{ Code int }
		}
		require.NoError(t, json.Unmarshal([]byte(raw), &answers), raw)
		require.Len(t, answers, 4)
		require.Equal(t, []string{"1.0", `"two"`, "null", "3"}, []string{string(answers[0].ID), string(answers[1].ID), string(answers[2].ID), string(answers[3].ID)})
		require.Equal(t, []int{0, -32601, -32600, -32601}, []int{answers[0].Error.Code, answers[1].Error.Code, answers[2].Error.Code, answers[3].Error.Code})
		status, answer, _ := sent(t, "2025-06-18", batch)
		require.Equal(t, 400, status)
		require.EqualValues(t, -32600, code(answer))
		res, raw = d.send("", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`)
		require.Equal(t, 202, res.StatusCode)
		require.Empty(t, raw)
	})
	t.Run("a list is one caller's", func(t *testing.T) {
		_, answer, raw := sent(t, newest, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
		require.Equal(t, "private", answer["result"].(map[string]any)["cacheScope"], raw)
		_, answer, raw = sent(t, newest, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`)
		require.Equal(t, "private", answer["result"].(map[string]any)["cacheScope"], raw)
	})
	t.Run("a stream belongs to a version that there is, and to a session", func(t *testing.T) {
		for version, is := range map[string]int{"1999-01-01": 400, "nonsense": 400, "2025-06-18": 405, "": 405} {
			req, err := http.NewRequest(http.MethodGet, d.URL+"/mcp", nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", d.key)
			req.Header.Set("Accept", "text/event-stream")
			if version != "" {
				req.Header.Set("Mcp-Protocol-Version", version)
			}
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, is, res.StatusCode, version)
			if is == 405 {
				require.Equal(t, "POST", res.Header.Get("Allow"))
			}
		}
		status, answer, _ := sent(t, "1999-01-01", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		require.Equal(t, 400, status)
		require.Equal(t, "svc_invalid_param", answer["code"])
	})
}

func TestAPersonDecidesWhatAssistantsMayUse(t *testing.T) {
	t.Parallel()
	d := start(t)
	bearer := d.Visitor().With("Authorization", d.key)
	status := func(name string) map[string]any {
		for _, a := range d.admin.Get("/integrations/ai").Is(200).Field("abilities").([]any) {
			if a.(map[string]any)["name"] == name {
				return a.(map[string]any)
			}
		}
		return nil
	}
	require.Equal(t, []any{false, false}, []any{status("svc/update-role")["mcp"], status("svc/update-role")["default"]})
	require.Equal(t, true, d.admin.Get("/integrations/ai").Field("adapter"))
	bearer.Get("/abilities/svc/update-role").Fails(404, "svc_not_found")
	bearer.Post("/abilities/svc/update-role/run", map[string]any{"input": map[string]any{"role": "staff"}}).Fails(404, "svc_not_found")

	d.admin.Patch("/integrations/ai", map[string]any{"abilities": map[string]any{"svc/update-role": true, "svc/list-apps": false}}).Is(200)
	require.Equal(t, []any{true, false}, []any{status("svc/update-role")["mcp"], status("svc/update-role")["default"]})
	d.Eventually(func() bool { return d.admin.Get("/abilities/svc/list-apps").Status == 404 })
	bearer.Get("/abilities/svc/update-role").Is(200)
	bearer.Get("/abilities/svc/list-apps/run").Fails(404, "svc_not_found")
	bearer.Post("/abilities/svc/update-role/run", map[string]any{"input": map[string]any{"role": "nobody", "visibility": "all"}}).Fails(404, "svc_not_found")
	d.admin.Get("/apps").Is(200)

	d.admin.Patch("/integrations/ai", map[string]any{"abilities": map[string]any{"svc/make-coffee": true}}).Fails(400, "svc_invalid_param")
	d.admin.Patch("/integrations/ai", map[string]any{"abilities": map[string]any{"svc/list-apps": nil}}).Fails(400, "svc_invalid_param")
	made := d.admin.Post("/me/application-passwords", map[string]any{"name": "a key"}).Is(201)
	key := d.Visitor().With("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("admin:"+made.Text("password"))))
	require.Equal(t, "person_only", key.Patch("/integrations/ai", map[string]any{"abilities": map[string]any{"svc/list-apps": true}}).Fails(403, "svc_forbidden").Text("data.reason"))
	require.Equal(t, "assistant", bearer.Patch("/integrations/ai", map[string]any{"abilities": map[string]any{"svc/list-apps": true}}).Fails(403, "svc_forbidden").Text("data.reason"))
}

func TestAClientIsToldOfChangesUntilItsCredentialEnds(t *testing.T) {
	t.Parallel()
	d := start(t)
	t.Run("a client is told that the tools have changed", func(t *testing.T) {
		changed := make(chan bool, 10)
		s := d.connect("?tools=settings", d.key, func() { changed <- true })
		require.NotContains(t, d.tools(s), "svc-update-app")
		tell := func(exposed bool) {
			d.admin.Patch("/integrations/ai", map[string]any{"abilities": map[string]any{"svc/update-app": exposed}}).Is(200)
		}
		// The subscription may begin after the first change.
		exposed := false
		d.Eventually(func() bool {
			exposed = !exposed
			tell(exposed)
			select {
			case <-changed:
				return true
			case <-time.After(time.Second):
				return false
			}
		})
		_, there := d.tools(s)["svc-update-app"]
		require.Equal(t, exposed, there)
	})
	t.Run("a client is told that a role has changed", func(t *testing.T) {
		changed := make(chan bool, 10)
		told := func() bool {
			select {
			case <-changed:
				return true
			case <-time.After(time.Second):
				return false
			}
		}
		who := d.AsAssistant("staff")
		s := d.connect("?tools=settings", who.Basic(), func() { changed <- true })
		require.NotContains(t, d.tools(s), "svc-get-roles")
		// The subscription may begin after the first change.
		more := false
		d.Eventually(func() bool {
			more = !more
			held := []string{auth.ViewContacts, auth.EditContacts, auth.ManageBookings}
			if more {
				held = append(held, auth.ManageCRM)
			}
			d.admin.Patch("/settings/roles/staff", map[string]any{"capabilities": held}).Is(200)
			return told()
		})
		_, there := d.tools(s)["svc-get-roles"]
		require.Equal(t, more, there)

		// Another role of the person, too.
		d.Role("nobody", "own", auth.ViewContacts, auth.ManageIntegrations)
		d.SetRoles(who, "nobody")
		d.Eventually(told)
		d.Eventually(func() bool { _, there := d.tools(s)["svc-get-ai-status"]; return there })
		require.NotContains(t, d.tools(s), "svc-get-roles")
	})
	t.Run("a stream tells of changes and ends with the credential", func(t *testing.T) {
		made := d.admin.Post("/me/application-passwords", map[string]any{"name": "assistant", "assistant": true}).Is(201)
		d.key = "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+made.Text("password")))
		res, _ := d.send("", initialize)
		next := d.stream(res.Header.Get("Mcp-Session-Id"))
		next(":")
		d.admin.Patch("/integrations/ai", map[string]any{"abilities": map[string]any{"svc/list-apps": false}}).Is(200)
		line, _ := next("data:")
		require.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, strings.TrimPrefix(line, "data: "))
		d.admin.Delete("/me/application-passwords/"+made.Text("id"), nil).Is(204)
		_, open := next("data:")
		require.False(t, open, "the key is revoked")
	})
}

func TestACallEndsWhenItsClientCancelsItOrGoes(t *testing.T) {
	t.Parallel()
	// The API, as far as it is needed here: an ability that takes as long as its caller waits.
	of := start(t)
	begun, ended := make(chan bool, 1), make(chan bool, 1)
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		begun <- true
		<-r.Context().Done()
		ended <- true
	}))
	defer func() { api.CloseClientConnections(); api.Close() }()
	ability := mcp.Ability{Group: "settings", Ability: &proto.Ability{Name: "svc/wait", Permission: op.SignedIn, ReadOnly: true, InputSchema: []byte(`{"type":"object"}`)}}
	options := mcp.Options{PublicURL: "http://localhost", Gateway: api.URL, Key: []byte("key"), Stopping: make(chan struct{}),
		Auth: of.Kit.Auth, Abilities: func() []mcp.Ability { return []mcp.Ability{ability} }, Changed: func() <-chan struct{} { return nil }}
	here := mcp.New(options)
	server := httptest.NewServer(here)
	defer server.Close()
	// Another replica, and what it tells this one over Postgres.
	options.Elsewhere = func(ctx context.Context, call string) error {
		return of.Kit.DB.Do(ctx, func(tx *db.Tx) error { return tx.Notify(ctx, "cancelled_test", call) })
	}
	elsewhere := httptest.NewServer(mcp.New(options))
	defer elsewhere.Close()
	listening := make(chan struct{})
	go of.Kit.DB.Listen(t.Context(), "cancelled_test", func(context.Context) error { close(listening); return nil }, func(_ context.Context, call string) error {
		here.Cancel(call)
		return nil
	})
	<-listening
	d := &desk{Service: &apptest.Service{URL: server.URL}, t: t, key: of.key}
	begin := func(key string) string {
		res, _ := d.send("", initialize, "Authorization", key)
		return res.Header.Get("Mcp-Session-Id")
	}
	session, other := begin(d.key), begin(d.key)
	const call = `{"jsonrpc":"2.0","id":"c 1","method":"tools/call","params":{"name":"svc-wait","arguments":{}}}`
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c 1"}}`
	within := func(what chan bool) bool {
		select {
		case <-what:
			return true
		case <-time.After(10 * time.Second):
			return false
		}
	}

	answered := make(chan string, 1)
	go func() {
		_, body := d.send("?tools=all", call, "Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25")
		answered <- body
	}()
	require.True(t, within(begun))
	for _, headers := range [][]string{{"Mcp-Session-Id", other}, {}} {
		res, _ := d.send("", cancelled, headers...)
		require.Equal(t, 202, res.StatusCode)
	}
	select {
	case <-ended:
		require.Fail(t, "another session has cancelled the call")
	case <-time.After(100 * time.Millisecond):
	}
	d.send("", cancelled, "Mcp-Session-Id", session)
	require.True(t, within(ended), "a notification ends the call")
	require.Contains(t, <-answered, `"id":"c 1"`)

	go func() {
		_, body := d.send("?tools=all", call, "Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25")
		answered <- body
	}()
	require.True(t, within(begun))
	(&desk{Service: &apptest.Service{URL: elsewhere.URL}, t: t, key: of.key}).send("", cancelled, "Mcp-Session-Id", session)
	require.True(t, within(ended), "the other replica has heard of it")
	<-answered

	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"?tools=all", strings.NewReader(strings.Replace(call, `"params":{`,
			`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`, 1)))
		require.NoError(t, err)
		for name, value := range map[string]string{"Authorization": d.key, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "svc-wait"} {
			req.Header.Set(name, value)
		}
		if version < "2026" {
			req.Body = io.NopCloser(strings.NewReader(call))
			req.ContentLength = int64(len(call))
		}
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
			}
		}()
		require.True(t, within(begun), version)
		leave()
		require.True(t, within(ended), "a client of %s goes, and the call ends", version)
	}
}
