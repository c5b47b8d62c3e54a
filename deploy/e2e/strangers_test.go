package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// hasNothing are abilities that only read and have nothing to answer with in the test: no picture, no feed, no definition of a form.
var hasNothing = []string{"svc-get-calendar-feed", "svc-get-media", "svc-preview-form"}

// mostTried is how many inputs a tool that writes is rehearsed with: a contact, an organization, an appointment and a submission among them.
const mostTried = 6

// Visitors type words that nobody else has, wherever they may type. Whichever answer to an assistant has one of them says so in _meta.untrusted.
func TestWhatVisitorsTypeIsMarkedInEveryAnswerToAnAssistant(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	w := strangersWorld(t)
	made := sys.SignIn(t).Post(t, "/me/application-passwords", map[string]any{"name": "reader", "assistant": true, "approval": "destructive"}).Is(201)
	visitor.As("admin", made.Text("password")).Known(t)
	all, omitting := assistant{"?tools=all", made.Text("password")}, assistant{"?tools=all&untrusted=omit", made.Text("password")}
	seen := map[string]bool{}
	look := func(a mcpAnswer, about string) {
		t.Helper()
		w.found(a.Structured, func(word, place string) {
			seen[word] = true
			assert.True(t, marked(place, a.Meta.Untrusted), "%s has %s at %s, which is not among %v", about, word, place, a.Meta.Untrusted)
		})
		for _, c := range a.Content {
			for _, word := range w.words {
				if !strings.Contains(strings.ToLower(c.Text), word) {
					continue
				}
				seen[word] = true
				assert.NotEmpty(t, a.Meta.Untrusted, "%s has %s", about, word)
			}
		}
	}
	// A call that waits shows what it would do.
	waits := all.call(t, "svc-delete-contact", map[string]any{"id": w.ids["id"][0]})
	look(waits, "svc-delete-contact, which waits")
	data := waits.Structured.(map[string]any)["data"].(map[string]any)
	w.ids["id"] = append(w.ids["id"], data["approval"].(map[string]any)["id"])
	answered := map[string]bool{}
	for _, tool := range all.tools(t) {
		for i, input := range w.inputs(tool) {
			switch {
			case tool.Annotations.ReadOnly:
			case i >= mostTried:
				continue
			case tool.InputSchema.Properties["dry_run"].Type == "boolean":
				input["dry_run"] = true
			default:
				continue
			}
			about := fmt.Sprint(tool.Name, input)
			a := all.call(t, tool.Name, input)
			look(a, about)
			if a.IsError {
				continue
			}
			answered[tool.Name] = true
			left := omitting.call(t, tool.Name, input)
			for _, word := range w.words {
				assert.NotContains(t, strings.ToLower(left.raw), word, "%s, with what visitors typed left out", about)
			}
		}
		if tool.Annotations.ReadOnly && !slices.Contains(hasNothing, tool.Name) {
			assert.True(t, answered[tool.Name], "%s was never answered: %v", tool.Name, w.inputs(tool))
		}
	}
	for _, word := range w.words {
		assert.True(t, seen[word], "%s is in no answer, so the test says nothing of it", word)
	}
}

// world has what visitors typed, and the records that came of it.
type world struct {
	system.Desk
	words []string
	ids   map[string][]any // values for inputs, by the names of properties; those of "id" for all that ends in it
}

func strangersWorld(t *testing.T) *world {
	w := &world{Desk: sys.SetUp(t), ids: map[string][]any{}}
	echoes(t, w.Desk)
	tag := strings.ReplaceAll(uuid.NewString(), "-", "")[:8]
	word := func(name string) string {
		w.words = append(w.words, name+tag)
		return name + tag
	}
	number := func() string {
		n := fmt.Sprintf("+32475%06d", time.Now().UnixNano()%1_000_000)
		w.words = append(w.words, n)
		return n
	}
	page := func(name string) string { return "https://example.com/" + word(name) }
	w.Admin.Post(t, "/fields", map[string]any{"entity": "contact", "label": "Hobby " + tag, "type": "text"}).Is(201)
	hobby := ""
	for _, f := range w.Admin.Get(t, "/fields?entity=contact").Is(200).Items() {
		if f["label"] == "Hobby "+tag {
			hobby = f["key"].(string)
		}
	}
	field := func(id, target string) any {
		return map[string]any{"id": id, "type": "field", "target": target, "label": id}
	}
	form := fmt.Sprint(w.Admin.Post(t, "/forms", map[string]any{"name": "Everything", "status": "publish", "definition": map[string]any{"elements": []any{
		field("first", "contact.first_name"), field("last", "contact.last_name"), field("email", "contact.email"), field("phone", "contact.phone"),
		field("hobby", "contact.fields."+hobby), field("company", "organization.name"), field("site", "organization.website"), field("vat", "organization.vat_number"),
		field("street", "organization.address_line"), field("message", "submission.fields.message"), field("code", "submission.fields.code")}}}).Is(201).Field("id"))
	at := w.Admin.Post(t, "/services", map[string]any{"name": "Visit " + tag, "duration_min": 30, "staff": []int64{w.User}, "bookable_online": true, "location_type": "client"}).Is(201).Text("id")
	starts, token := w.Slots(t)
	submitted := w.Desk
	submitted.Form = form
	formToken := submitted.FormToken(t)
	var visits *system.Answer
	system.Eventually(t, func() bool {
		visits = visitor.Get(t, "/booking/slots?service="+at)
		return visits.Status == 200 && len(visits.Items()) > 20
	}, "no free times")
	system.Wait()

	// What visitors may call.
	email := word("fay") + "@example.com"
	visitor.Post(t, "/forms/"+form+"/submit", map[string]any{"token": formToken, "hp_url": "", "page": page("formpage"), "values": map[string]string{"first": word("first"), "last": word("last"), "email": email,
		"phone": number(), "hobby": word("hobby"), "company": word("company"), "site": "https://" + word("site") + ".example", "vat": "BE0" + fmt.Sprint(time.Now().UnixNano()%1_000_000_000), "street": word("street"), "message": word("message"), "code": word("code")}}).Is(200)
	visitor.Post(t, "/forms/"+form+"/submit", map[string]any{"token": formToken, "hp_url": "", "page": page("spampage"), "values": map[string]string{"first": word("spammer"), "email": word("spam") + "@example.com",
		"message": "https://a.example https://b.example https://c.example " + word("spamtext")}}).Is(200)
	book := func(service, start, token string, values map[string]string, more map[string]any) {
		t.Helper()
		body := map[string]any{"service": service, "starts_at": start, "token": token, "hp_url": "", "page": "https://example.com/", "values": values}
		for name, v := range more {
			body[name] = v
		}
		visitor.Post(t, "/booking/book", body).Is(201)
	}
	booked := word("bea") + "@example.com"
	book(w.Service, starts[len(starts)-9], token, map[string]string{"first_name": word("bookfirst"), "last_name": word("booklast"), "email": booked, "phone": number()}, nil)
	book(at, visits.Items()[len(visits.Items())-1]["starts_at"].(string), visits.Text("token"), map[string]string{"first_name": "Bo", "last_name": word("placed"), "email": word("plc") + "@example.com"}, map[string]any{"location": word("kerkstraat")})
	system.Eventually(t, func() bool { return len(w.Admin.Get(t, "/contacts?search="+booked).Is(200).Items()) == 1 }, "no contact")
	book(w.Service, starts[len(starts)-13], token, map[string]string{"first_name": word("forfirst"), "last_name": word("forlast"), "email": booked}, nil)
	visitor.Post(t, "/booking/manage/cancel", map[string]string{"token": sys.ManageToken(t, booked, 1), "reason": word("reason")}).Is(200)
	visitor.Post(t, "/auth/login", map[string]string{"login": word("login"), "password": "nothing"}).Fails(401, "svc_unauthorized")

	// What the team, and time, make of it.
	var contact, appointments, submissions []map[string]any
	arrived := func() bool {
		contact = append(w.Admin.Get(t, "/contacts?search="+email).Is(200).Items(), w.Admin.Get(t, "/contacts?search="+booked).Is(200).Items()...)
		appointments = w.Admin.Get(t, "/appointments?search="+tag).Is(200).Items()
		submissions = w.Admin.Get(t, "/submissions?form="+form).Is(200).Items()
		return len(contact) == 2 && contact[0]["organization"] != nil && len(appointments) >= 2 && len(submissions) > 0
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(contact, appointments, submissions)
		}
	})
	system.Eventually(t, arrived, "what visitors sent does not arrive")
	id := func(record map[string]any) string { return fmt.Sprint(record["id"]) }
	organization := id(contact[0]["organization"].(map[string]any))
	for _, c := range contact {
		w.Admin.Call(t, "PATCH", "/contacts/"+id(c), map[string]any{"mode": "overwrite", "source": "Fair"}).Is(200)
		w.Admin.Post(t, "/contacts/"+id(c)+"/mails", map[string]any{"subject": "About your " + w.words[len(w.words)-1], "body": "Hello"}).Is(201)
	}
	task := w.Admin.Post(t, "/tasks", map[string]any{"title": "Call", "contact": id(contact[0]), "organization": organization, "owner_user_id": w.User}).Is(201).Text("id")
	view := w.Admin.Post(t, "/views", map[string]any{"entity": "contacts", "name": "Mine " + tag, "query": map[string]any{}, "columns": []string{}}).Is(201).Text("id")
	imported := w.Admin.Post(t, "/imports", map[string]any{"file_name": "x.csv", "csv": "first name,email\nFay,fay" + tag + "@import.example\n"}).Is(201).Text("id")
	pageID := w.Admin.Post(t, "/pages", map[string]any{"title": "About " + tag}).Is(201).Field("id")
	hooks := w.Admin.Get(t, "/webhooks?per_page=100").Is(200).Items()
	hook := ""
	for _, h := range hooks {
		if h["name"] == "Echo" {
			hook = id(h)
		}
	}
	var deliveries []map[string]any
	system.Eventually(t, func() bool {
		deliveries = w.Admin.Get(t, "/webhooks/"+hook+"/deliveries?per_page=100").Is(200).Items()
		return len(deliveries) > 5
	}, "no deliveries")
	w.ids["id"] = []any{id(contact[0]), organization, id(appointments[0]), id(submissions[0]), id(contact[1]), task, view, imported, form, w.Service, hook, pageID}
	for _, a := range appointments {
		w.ids["id"] = append(w.ids["id"], id(a))
		w.ids["appointment"] = append(w.ids["appointment"], id(a))
	}
	for _, s := range submissions {
		w.ids["id"] = append(w.ids["id"], id(s))
	}
	for _, d := range deliveries[:min(6, len(deliveries))] {
		w.ids["id"] = append(w.ids["id"], id(d))
	}
	w.ids["other_id"], w.ids["contact"], w.ids["contact_id"] = []any{id(contact[1])}, []any{id(contact[0])}, []any{id(contact[0])}
	w.ids["user"], w.ids["user_id"] = []any{w.User}, []any{w.User}
	w.ids["service"], w.ids["form"], w.ids["organization"] = []any{w.Service}, []any{form}, []any{organization}
	w.ids["email"] = []any{email, booked}
	w.ids["search"], w.ids["path"], w.ids["tag"] = []any{tag}, []any{"/team"}, []any{"vip"}
	w.ids["from"], w.ids["to"] = []any{appointments[0]["starts_at"].(string)[:10]}, []any{appointments[0]["starts_at"].(string)[:10]}
	w.ids["kind"], w.ids["language"], w.ids["event"] = []any{"appointment.booked"}, []any{"en"}, []any{"form.submitted", "appointment.booked"}
	w.ids["reason"] = []any{"ill"}
	return w
}

// listedTool is a tool as it is listed.
type listedTool struct {
	Name        string
	Annotations struct {
		ReadOnly bool `json:"readOnlyHint"`
	}
	InputSchema struct {
		Required   []string
		Properties map[string]struct {
			Type   any
			Format string
			Enum   []any
		}
	}
}

// inputs are those with which a tool is called: without what is optional, and once with a search.
func (w *world) inputs(tool listedTool) []map[string]any {
	all := []map[string]any{{}}
	for _, name := range tool.InputSchema.Required {
		p := tool.InputSchema.Properties[name]
		values := w.ids[name]
		if values == nil {
			values = p.Enum
		}
		var next []map[string]any
		for _, input := range all {
			for _, v := range values {
				if n, err := strconv.Atoi(fmt.Sprint(v)); err == nil && p.Type == "integer" {
					v = n
				} else if p.Type == "integer" {
					continue
				}
				more := map[string]any{name: v}
				for k, x := range input {
					more[k] = x
				}
				next = append(next, more)
			}
		}
		all = next
	}
	for _, name := range []string{"search", "entity", "service"} {
		if p, ok := tool.InputSchema.Properties[name]; ok && !slices.Contains(tool.InputSchema.Required, name) && tool.Annotations.ReadOnly {
			for _, v := range append(slices.Clone(w.ids[name]), p.Enum...) {
				all = append(all, map[string]any{name: v})
			}
		}
	}
	return all
}

// found calls f with each word that visitors typed in a value, and where it is.
func (w *world) found(v any, f func(word, place string)) {
	var walk func(v any, path string)
	walk = func(v any, path string) {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v {
				below := strings.TrimPrefix(path+"."+name, ".")
				walk(x, below)
				walk(name, below)
			}
		case []any:
			for _, x := range v {
				walk(x, strings.TrimPrefix(path+".*", "."))
			}
		case string:
			for _, word := range w.words {
				if strings.Contains(strings.ToLower(v), word) {
					f(word, path)
				}
			}
		}
	}
	walk(v, "")
}

// marked reports whether a place is one of paths, or below one.
func marked(place string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return p == "." || place == p || strings.HasPrefix(place, p+".") })
}

// mcpAnswer is the result of a tool.
type mcpAnswer struct {
	IsError    bool                    `json:"isError"`
	Structured any                     `json:"structuredContent"`
	Content    []struct{ Text string } `json:"content"`
	Meta       struct {
		Untrusted []string `json:"untrusted"`
	} `json:"_meta"`
	raw string
}

// assistant calls the tools of /mcp with a key.
type assistant struct {
	query, key string
}

func (a assistant) send(t *testing.T, method string, params, into any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sys.Now(t).Gateway+"/mcp"+a.query, bytes.NewReader(body))
	require.NoError(t, err)
	req.SetBasicAuth("admin", a.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, string(raw))
	require.NoError(t, json.Unmarshal(raw, &struct{ Result any }{into}), string(raw))
	return string(raw)
}

func (a assistant) tools(t *testing.T) []listedTool {
	t.Helper()
	var out struct{ Tools []listedTool }
	a.send(t, "tools/list", map[string]any{}, &out)
	require.NotEmpty(t, out.Tools)
	return out.Tools
}

func (a assistant) call(t *testing.T, name string, input map[string]any) (out mcpAnswer) {
	t.Helper()
	out.raw = a.send(t, "tools/call", map[string]any{"name": name, "arguments": input}, &out)
	return out
}
