package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// asking makes a key for assistants whose calls that write wait.
func (d *desk) asking() (authorization string) {
	d.t.Helper()
	made := d.admin.Post("/me/application-passwords", map[string]any{"name": "asking", "assistant": true, "approval": "writes"}).Is(201)
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+made.Text("password")))
}

func TestAnApprovalIsAResourceThatTellsOfItsEnd(t *testing.T) {
	t.Parallel()
	d := start(t)
	key, other := d.asking(), d.asking()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			updated := make(chan string, 8)
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI }})
			s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: d.URL + "/mcp?tools=settings", HTTPClient: &http.Client{Transport: withKey(key)}},
				&sdk.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(t, err)
			defer s.Close()
			ask := func(size int) (uri, path, hash string) {
				_, asked := d.call(s, "svc-update-form-style", map[string]any{"size": size})
				require.Equal(t, "svc_approval_needed", asked["code"])
				a := asked["data"].(map[string]any)["approval"].(map[string]any)
				d.Settle() // it is asked for by a command
				return "frontdesk://approvals/" + a["id"].(string), "/approvals/" + a["id"].(string), a["hash"].(string)
			}
			read := func(uri string) (state string) {
				found, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				require.NoError(t, err)
				var a struct{ State string }
				require.NoError(t, json.Unmarshal([]byte(found.Contents[0].Text), &a))
				return a.State
			}
			hears := func(uri string) {
				t.Helper()
				select {
				case told := <-updated:
					require.Equal(t, uri, told)
				case <-time.After(20 * time.Second):
					require.Fail(t, "nothing is told")
				}
			}
			templates, err := s.ListResourceTemplates(t.Context(), nil)
			require.NoError(t, err)
			require.Equal(t, "frontdesk://approvals/{id}", templates.ResourceTemplates[0].URITemplate)

			approved, path, hash := ask(15)
			require.Equal(t, "waiting", read(approved))
			require.NoError(t, s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: approved}))
			unheard, path2, hash2 := ask(16)
			refused, path3, _ := ask(17)
			require.NoError(t, s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: refused}))
			d.admin.Post(path2+"/approve", map[string]any{"hash": hash2}).Is(200)
			hash = d.admin.Post(path+"/approve", map[string]any{"hash": hash}).Fails(412, "svc_effects_changed").Text("data.hash") // the size it had is another one by now
			d.admin.Post(path+"/approve", map[string]any{"hash": hash}).Is(200)
			hears(approved)
			require.Equal(t, "approved", read(approved))
			d.admin.Post(path3+"/refuse", nil).Is(200)
			hears(refused)
			require.Equal(t, []string{"refused", "approved"}, []string{read(refused), read(unheard)})

			listed, err := s.ListResources(t.Context(), nil)
			require.NoError(t, err)
			var uris []string
			for _, r := range listed.Resources {
				uris = append(uris, r.URI)
			}
			require.Subset(t, uris, []string{approved, refused, unheard})

			for _, wrong := range []string{"frontdesk://approvals/" + uuid.NewString(), "frontdesk://approvals/x", "frontdesk://contacts/1"} {
				_, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: wrong})
				require.Error(t, err, wrong)
			}
			theirs := d.connect("?tools=settings&readonly=1", other, nil)
			_, err = theirs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: approved})
			require.Error(t, err, "of another key of the same person")
			none, err := theirs.ListResources(t.Context(), nil)
			require.NoError(t, err)
			require.Empty(t, none.Resources)
		})
	}
	t.Run("what ended while there was no stream is told with the next one", func(t *testing.T) {
		d := *d
		d.key = key
		res, _ := d.send("?tools=settings", initialize)
		session := res.Header.Get("Mcp-Session-Id")
		_, asked := d.call(d.connect("?tools=settings", key, nil), "svc-update-form-style", map[string]any{"size": 18})
		a := asked["data"].(map[string]any)["approval"].(map[string]any)
		uri := "frontdesk://approvals/" + a["id"].(string)
		subscribe := `{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":"` + uri + `"}}`
		_, body := d.send("", subscribe)
		require.Contains(t, body, "belongs to a session")
		_, body = d.send("", subscribe, "Mcp-Session-Id", session)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, body)
		theirs := d
		theirs.key = other
		begun, _ := theirs.send("", initialize)
		_, body = theirs.send("", subscribe, "Mcp-Session-Id", begun.Header.Get("Mcp-Session-Id"))
		require.Contains(t, body, "Resource not found", "it is another key's")
		d.admin.Post("/approvals/"+a["id"].(string)+"/refuse", nil).Is(200)
		next := d.stream(session)
		line, _ := next("data:")
		require.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"`+uri+`"}}`, line[len("data: "):])
	})
}
