package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"frontdesk/deploy/system"
)

// panel is a page of the gateway's controller for operators.
func panel(t *testing.T, path string) *html.Node {
	t.Helper()
	return panelOf(t, sys.Now(t).Processes["gateway"].Admin, path)
}

// panelOf is a page of the controller with this admin port.
func panelOf(t *testing.T, base, path string) *html.Node {
	t.Helper()
	res, err := http.Get(base + path)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 200, res.StatusCode, path)
	page, err := html.Parse(res.Body)
	require.NoError(t, err)
	return page
}

// text is what a reader sees of a node, with one space between words.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// cells are those of a row of a table.
type cells []string

// at is the text of a cell; empty if the row has fewer, or is not there.
func (c cells) at(i int) string {
	if i >= len(c) {
		return ""
	}
	return c[i]
}

// row returns the cells of the table row with the heading name; none if no row has it.
func row(page *html.Node, name string) (all cells) {
	for tr := range page.Descendants() {
		if tr.Data != "tr" || tr.FirstChild == nil || text(tr.FirstChild) != name {
			continue
		}
		for c := range tr.ChildNodes() {
			all = append(all, text(c))
		}
	}
	return all
}

func TestThePanelShowsEveryServiceAndWhichReplicaIsDown(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	for _, service := range append(system.Services, "gateway", "traefik") {
		system.Eventually(t, func() bool {
			r := row(panel(t, "/"), service)
			return len(r) == 11 && r.at(2) == "1 of 1" && r.at(3) == "1"
		}, service+" is not shown as ready")
	}
	for range 20 {
		d.Admin.Get(t, "/webhooks").Is(200)
	}
	system.Eventually(t, func() bool {
		r := row(panel(t, "/services/webhooks"), "list-webhooks")
		return len(r) == 8 && r.at(1) != "0" && strings.HasSuffix(r.at(6), "ms")
	}, "the operation is not counted")
	// A plot is there once something was measured.
	d.Admin.Post(t, "/contacts", map[string]string{"email": system.Address("panel")}).Is(201)
	for _, plot := range []string{"Requests per second", "Time of a request", "Messages not handled yet", "Outbox: age of the oldest", "Webhook deliveries that wait", "Webhook attempts per second", "Connections of the pool", "Wait for a connection", "Memory"} {
		system.Eventually(t, func() bool { return strings.Contains(text(panel(t, "/services/webhooks")), plot) }, "no plot "+plot)
	}

	up := sys.Down(t, "webhooks", syscall.SIGKILL)
	t.Cleanup(func() { sys.Healthy(t) })
	system.Eventually(t, func() bool {
		r := row(panel(t, "/"), "webhooks")
		return r.at(1) == "down" && r.at(2) == "0 of 1"
	}, "the replica that was killed is not shown as down")
	system.Eventually(t, func() bool { return strings.Contains(text(panel(t, "/")), "no sign of life since") }, "since when it is down is not said")
	up()
	system.Eventually(t, func() bool {
		r := row(panel(t, "/"), "webhooks")
		return r.at(1) != "down" && r.at(2) == "1 of 1"
	}, "its successor is not shown")
	require.Contains(t, text(panel(t, "/instances")), "has taken its place")
}

//e2e:broker
func TestAParkedMessageIsReplayedFromThePanel(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	email := system.Address("parked")
	admin, err := pgx.Connect(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	defer admin.Close(t.Context())
	// A defect of contacts: it cannot store this one person.
	_, err = admin.Exec(t.Context(), fmt.Sprintf(`alter table contacts.contact add constraint defect check (email <> '%s') not valid`, email))
	require.NoError(t, err)
	mend := func() {
		_, err := admin.Exec(t.Context(), `alter table contacts.contact drop constraint if exists defect`)
		require.NoError(t, err)
	}
	defer mend()
	token := d.FormToken(t)
	system.Wait()
	visitor.Post(t, "/forms/"+d.Form+"/submit", d.Submission(token, email)).Is(200)

	base := sys.Now(t).Processes["gateway"].Admin
	type message struct {
		ID    int64
		Error string
	}
	parked := func() []message {
		res, err := http.Get(sys.Now(t).Processes["contacts"].Admin + "/parked")
		require.NoError(t, err)
		defer res.Body.Close()
		var said struct{ Items []message }
		require.NoError(t, json.NewDecoder(res.Body).Decode(&said))
		return slices.DeleteFunc(said.Items, func(m message) bool { return !strings.Contains(m.Error, "defect") })
	}
	system.Eventually(t, func() bool { return len(parked()) == 1 }, "the message is not parked")
	path := fmt.Sprintf("/parked-messages/contacts/%d", parked()[0].ID)
	require.Contains(t, text(panel(t, "/parked-messages")), fmt.Sprintf("Replay %d…", parked()[0].ID))
	require.Contains(t, text(panel(t, path)), "contacts.command")
	system.Eventually(t, func() bool { return strings.Contains(text(panel(t, "/")), "messages are parked") }, "the overview does not say so")

	replay := func(header ...string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path+"/replay", nil)
		require.NoError(t, err)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(body)
	}
	status, _ := replay("Sec-Fetch-Site", "cross-site")
	require.Equal(t, 403, status, "another site does not replay")
	status, body := replay()
	require.Equal(t, 409, status, "the defect is still there")
	require.Contains(t, body, "It stays parked")
	require.Len(t, parked(), 1)
	found := "/contacts?search=" + url.QueryEscape(email)
	require.Empty(t, d.Admin.Get(t, found).Is(200).Items())

	mend()
	status, body = replay()
	require.Equal(t, 200, status)
	require.Contains(t, body, "Replayed")
	require.Empty(t, parked())
	system.Eventually(t, func() bool { return len(d.Admin.Get(t, found).Is(200).Items()) == 1 }, "the contact is not there")
	system.Eventually(t, func() bool {
		return len(d.Admin.Get(t, "/audit-log?action=replay-parked").Is(200).Items()) > 0
	}, "the audit log does not say so")
	status, _ = replay()
	require.Equal(t, 404, status, "nobody replays twice")
}
