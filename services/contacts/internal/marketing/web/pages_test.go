package web_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contacts"
)

type page struct {
	status int
	header http.Header
	body   string
}

func do(t *testing.T, s *apptest.Service, method, path string, form url.Values) page {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Empty(t, res.Header.Values("Set-Cookie"))
	require.NotEqual(t, 500, res.StatusCode)
	return page{res.StatusCode, res.Header, string(raw)}
}

// lastToken is the token of the newest mail with a link to a page.
func lastToken(t *testing.T, s *apptest.Service, path string) string {
	t.Helper()
	newest, token := "", ""
	for _, e := range s.Events(proto.MailTopic) {
		if e.GetKind() != proto.KindMail {
			continue
		}
		var m proto.Mail
		require.NoError(t, protobuf.Unmarshal(e.GetData(), &m))
		found := regexp.MustCompile(path + `#token=([A-Za-z0-9_-]+)`).FindStringSubmatch(m.GetText())
		// Ids sort by time; the topic has several partitions.
		if found != nil && m.GetId() > newest {
			newest, token = m.GetId(), found[1]
		}
	}
	require.NotEmpty(t, token)
	return token
}

func TestSomebodySubscribesAndLeaves(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, contacts.Service)
	t.Run("people confirm and unsubscribe without script", func(t *testing.T) {
		team := s.As("svc_admin")
		id := team.Post("/contacts", map[string]any{"first_name": "Ann", "email": "ann@example.com"}).Is(201).Text("id")
		state := func() string { return team.Get("/contacts/" + id).Is(200).Text("marketing") }
		team.Post("/contacts/"+id+"/marketing/request", nil).Is(200)
		token := lastToken(t, s, "/marketing/confirm")

		// A mail scanner that opens the link, with or without a token in its address, changes nothing.
		for range 2 {
			shown := do(t, s, "GET", "/marketing/confirm?token="+token, nil)
			require.Equal(t, 200, shown.status)
			require.Contains(t, shown.body, `value="`+token+`"`)
			require.NotContains(t, shown.body, "data-code", "nothing to copy")
		}
		require.Contains(t, do(t, s, "GET", "/marketing/confirm", nil).body, "data-code")
		require.Equal(t, "pending", state())

		wrong := do(t, s, "POST", "/marketing/confirm", url.Values{"token": {"x" + token}})
		require.Equal(t, 400, wrong.status)
		require.Contains(t, wrong.body, `value="x`+token+`"`, "what was typed stays")
		require.Contains(t, wrong.body, "This code is not right.")
		require.Equal(t, 400, do(t, s, "POST", "/marketing/confirm", url.Values{}).status)

		pasted := url.Values{"token": {" http://localhost:8080/marketing/confirm#token=" + token + " "}}
		done := do(t, s, "POST", "/marketing/confirm?lang=nl", pasted)
		require.Equal(t, 200, done.status)
		require.Contains(t, done.body, "U bent ingeschreven")
		require.Equal(t, "subscribed", state())
		again := do(t, s, "POST", "/marketing/confirm", pasted)
		require.Equal(t, 410, again.status)
		require.Contains(t, again.body, "If you pressed the button before, all is done.")

		leave := lastToken(t, s, "/marketing/unsubscribe")
		require.Equal(t, 200, do(t, s, "GET", "/marketing/unsubscribe?token="+leave, nil).status)
		require.Equal(t, "subscribed", state())
		for range 2 {
			require.Contains(t, do(t, s, "POST", "/marketing/unsubscribe", url.Values{"token": {leave}}).body, "You are unsubscribed")
			require.Equal(t, "unsubscribed", state())
		}
	})
	t.Run("a mail program unsubscribes with one click", func(t *testing.T) {
		team := s.As("svc_admin")
		id := team.Post("/contacts", map[string]any{"first_name": "Ann", "email": "bob@example.com"}).Is(201).Text("id")
		team.Post("/contacts/"+id+"/marketing/request", nil).Is(200)
		do(t, s, "POST", "/marketing/confirm", url.Values{"token": {lastToken(t, s, "/marketing/confirm")}})
		leave := lastToken(t, s, "/marketing/unsubscribe")
		require.Equal(t, 200, do(t, s, "POST", "/marketing/unsubscribe?token="+leave, url.Values{"List-Unsubscribe": {"One-Click"}}).status)
		require.Equal(t, "unsubscribed", team.Get("/contacts/"+id).Is(200).Text("marketing"))
	})
}

func TestTooManyTriesKeepTheToken(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, contacts.Service, func(c *app.Config) { c.RateFactor = 1 })
	var last page
	for range 15 {
		if last = do(t, s, "POST", "/marketing/unsubscribe", url.Values{"token": {"guess"}}); last.status == 429 {
			break
		}
	}
	require.Equal(t, 429, last.status)
	require.NotEmpty(t, last.header.Get("Retry-After"))
	require.Contains(t, last.body, `type="hidden" name="token" value="guess"`)
	require.Contains(t, last.body, "Please wait")
}
