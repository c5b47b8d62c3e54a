package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
)

var siteFields = form.FieldsOf(
	form.Field{Entity: "contact", Key: "size", Label: "Size", Type: form.KindDropdown, Options: []string{"S", "M", "L"}},
	form.Field{Entity: "contact", Key: "hobbies", Label: "Hobbies", Type: form.KindChoices, Options: []string{"Chess", "Go", "Bridge"}},
	form.Field{Entity: "contact", Key: "born", Label: "Date of birth", Type: form.KindDate},
	form.Field{Entity: "contact", Key: "age", Label: "Age", Type: form.KindNumber},
	form.Field{Entity: "contact", Key: "site", Label: "Site", Type: form.KindURL},
	form.Field{Entity: "contact", Key: "vip", Label: "VIP", Type: form.KindCheckbox},
	form.Field{Entity: "contact", Key: "old", Label: "Old", Type: form.KindText, Archived: true},
	form.Field{Entity: "submission", Key: "story", Label: "Your story", Type: form.KindLongText},
	form.Field{Entity: "submission", Key: "title", Label: "Title", Type: form.KindText},
)

// refused gives what Parse says about a definition, by path below definition.
func refused(t *testing.T, raw string, env Env) map[string]string {
	t.Helper()
	_, err := Parse(json.RawMessage(raw), env)
	require.Error(t, err, raw)
	return params(t, err)
}

func params(t require.TestingT, err error) map[string]string {
	var f *fault.Fault
	require.True(t, errors.As(err, &f), "%v", err)
	require.Equal(t, 400, f.Status)
	require.Equal(t, "svc_invalid_param", f.Code)
	return f.Data["params"].(map[string]string)
}

func parsed(t require.TestingT, raw string) Definition {
	d, err := Parse(json.RawMessage(raw), Env{Fields: siteFields})
	require.NoError(t, err, raw)
	return d
}

func elements(list ...string) string { return `{"elements":[` + strings.Join(list, ",") + `]}` }

const emailElement = `{"id":"email","type":"field","target":"contact.email","required":true}`

func TestADefinitionComesBackWholeWithItsDefaults(t *testing.T) {
	d := parsed(t, elements(
		`{"type":"heading","text":"Hello"}`,
		`{"id":"e1","type":"field","target":"contact.first_name"}`,
		`{"type":"paragraph","text":"One\nTwo","width":"half"}`,
		`{"id":"size","type":"field","target":"contact.fields.size","options":["L","S"],"help":"EU","placeholder":"Choose","required":true}`,
		`{"type":"field","target":"submission.fields.how_many"}`,
		`{"type":"field","target":"submission.fields.when","options":["Now","Later"]}`,
		emailElement,
		`{"type":"consent","text":"I agree.","required":true}`,
		`{"type":"consent","text":"Mail me.","marketing":true}`,
	))
	got, err := json.Marshal(d)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"elements": [
			{"id":"e2","type":"heading","text":"Hello","level":2,"width":"full"},
			{"id":"e1","type":"field","target":"contact.first_name","width":"full"},
			{"id":"e3","type":"paragraph","text":"One\nTwo","width":"half"},
			{"id":"size","type":"field","target":"contact.fields.size","options":["L","S"],"help":"EU","placeholder":"Choose","required":true,"width":"full"},
			{"id":"e4","type":"field","target":"submission.fields.how_many","width":"full"},
			{"id":"e5","type":"field","target":"submission.fields.when","options":["Now","Later"],"width":"full"},
			{"id":"email","type":"field","target":"contact.email","required":true,"width":"full"},
			{"id":"e6","type":"consent","text":"I agree.","required":true,"purpose":"privacy","width":"full"},
			{"id":"e7","type":"consent","text":"Mail me.","marketing":true,"purpose":"newsletter","width":"full"}
		],
		"submit_label": "",
		"after_submit": {"type":"message","message":"","url":""},
		"notify": {"emails":[],"owner":false},
		"new_contacts": {"create":true,"status":"lead","source":"","owner_user_id":null,"tags":[]},
		"style": {}
	}`, string(got))
	require.True(t, form.NeedsEmail(d.Elements))

	questions := form.Ask(d.Elements, siteFields)
	for i, want := range []struct {
		kind, caption string
		choices       []string
	}{
		{"", "", nil}, {form.KindText, "First name", nil}, {"", "", nil}, {form.KindDropdown, "Size", []string{"L", "S"}},
		{form.KindLongText, "How many", nil}, {form.KindDropdown, "When", []string{"Now", "Later"}}, {form.KindEmail, "Email", nil}, {form.KindConsent, "I agree.", nil},
	} {
		require.Equal(t, want.kind, questions[i].Kind)
		require.Equal(t, want.caption, questions[i].Caption())
		require.Equal(t, want.choices, questions[i].Options)
	}
}

func TestTheOtherKeysComeBackAsGiven(t *testing.T) {
	owner := int64(7)
	d, err := Parse(json.RawMessage(`{
		"elements": [], "submit_label": " Send ",
		"after_submit": {"type":"redirect","url":"https://example.com/thanks?x=1"},
		"notify": {"emails":["Old@example.com"],"owner":true},
		"new_contacts": {"create":false,"status":"customer","source":"web","owner_user_id":7,"tags":["a","b"]},
		"style": {"font":"svc:inter","size":16,"label_weight":600,"color":"#A1b2C3","container":"card","button_icon":"send","heading_size":null,"background":""}
	}`), Env{NotifyEmails: []string{"old@example.com", "gone@example.com"}, KnownUser: func(id int64) bool { return id == 7 }})
	require.NoError(t, err)
	require.Equal(t, Definition{
		Elements: []form.Element{}, SubmitLabel: "Send",
		AfterSubmit: AfterSubmit{Type: "redirect", URL: "https://example.com/thanks?x=1"},
		Notify:      Notify{Emails: []string{"Old@example.com"}, Owner: true},
		NewContacts: NewContacts{Status: "customer", Source: "web", OwnerUserID: &owner, Tags: []string{"a", "b"}},
		Style:       map[string]any{"font": "svc:inter", "size": 16, "label_weight": 600, "color": "#A1b2C3", "container": "card", "button_icon": "send"},
	}, d)
	require.False(t, form.NeedsEmail(d.Elements))
}

func TestWhatIsWrongIsNamedByItsPlace(t *testing.T) {
	field := func(target string) string { return elements(`{"type":"field","target":"` + target + `"}`) }
	for _, c := range []struct{ raw, path, says string }{
		{`null`, "definition", "must be an object"},
		{`[]`, "definition", "must be an object"},
		{`"x"`, "definition", "must be an object"},
		{`{}`, "definition.elements", "must be an array"},
		{`{"elements":null}`, "definition.elements", "must be an array"},
		{`{"elements":{}}`, "definition.elements", "must be an array"},
		{`{"elements":[],"colour":1}`, "definition.colour", "is not a known key"},
		{`{"elements":[],"Elements":[]}`, "definition.Elements", "is not a known key"},
		{`{"elements":[1]}`, "definition.elements[0]", "must be an object"},
		{`{"elements":[null]}`, "definition.elements[0].type", "must be one of"},
		{elements(emailElement, `{"type":"button"}`), "definition.elements[1].type", "must be one of field, heading, paragraph, consent"},
		{elements(`{"type":"field"}`), "definition.elements[0].target", "must be given"},
		{elements(`{"type":"field","target":5}`), "definition.elements[0].target", "must be a string"},
		{field("contact.status"), "definition.elements[0].target", "must be contact.first_name"},
		{field("message"), "definition.elements[0].target", "must be contact.first_name"},
		{field("location"), "definition.elements[0].target", "must be contact.first_name"},
		{field("email"), "definition.elements[0].target", "must be contact.first_name"},
		{field("contact.fields.nope"), "definition.elements[0].target", `names the field "nope", which contacts do not have`},
		{field("contact.fields.story"), "definition.elements[0].target", `which contacts do not have`},
		{field("contact.fields.old"), "definition.elements[0].target", `names the archived field "old"`},
		{field("submission.fields."), "definition.elements[0].target", "must be contact.first_name"},
		{field("submission.fields.a b"), "definition.elements[0].target", "must be contact.first_name"},
		{field("organization.city"), "definition.elements[0].target", "needs an element with the target organization.name"},
		{elements(emailElement, `{"type":"field","target":"contact.email"}`), "definition.elements[1].target", "is the target of elements[0] too"},
		{elements(emailElement, `{"id":"email","type":"heading","text":"x"}`), "definition.elements[1].id", "is the id of elements[0] too"},
		{elements(`{"id":"a.b","type":"heading","text":"x"}`), "definition.elements[0].id", "must be letters"},
		{elements(`{"type":"heading"}`), "definition.elements[0].text", "must not be empty"},
		{elements(`{"type":"heading","text":"x","level":5}`), "definition.elements[0].level", "must be a whole number from 2 to 4"},
		{elements(`{"type":"heading","text":"x","level":2.5}`), "definition.elements[0].level", "must be a whole number from 2 to 4"},
		{elements(`{"type":"heading","text":"` + strings.Repeat("x", 191) + `"}`), "definition.elements[0].text", "at most 190"},
		{elements(`{"type":"heading","text":"x","target":"contact.email"}`), "definition.elements[0].target", "does not belong to an element of the type heading"},
		{elements(`{"type":"field","target":"contact.email","marketing":true}`), "definition.elements[0].marketing", "does not belong"},
		{elements(`{"type":"field","target":"contact.email","text":"x"}`), "definition.elements[0].text", "does not belong"},
		{elements(`{"type":"field","target":"contact.email","width":"third"}`), "definition.elements[0].width", "must be one of full, half"},
		{elements(`{"type":"field","target":"contact.email","required":"yes"}`), "definition.elements[0].required", "must be true or false"},
		{elements(`{"type":"field","target":"contact.email","colour":"red"}`), "definition.elements[0].colour", "is not a known key"},
		{elements(`{"type":"field","target":"contact.email","label":"a\u0000b"}`), "definition.elements[0].label", "control characters"},
		{elements(`{"type":"field","target":"contact.email","options":["x"]}`), "definition.elements[0].options", "do not belong"},
		{elements(`{"type":"field","target":"contact.fields.size","options":["XL"]}`), "definition.elements[0].options[0]", `is not an option of the field "size"`},
		{elements(`{"type":"field","target":"contact.fields.size","options":["S","S"]}`), "definition.elements[0].options[1]", "is there twice"},
		{elements(`{"type":"field","target":"submission.fields.x","options":["S",""]}`), "definition.elements[0].options[1]", "must not be empty"},
		{elements(`{"type":"field","target":"submission.fields.x","options":[1]}`), "definition.elements[0].options[0]", "must be a string"},
		{elements(`{"type":"consent"}`), "definition.elements[0].text", "must not be empty"},
		{elements(`{"type":"consent","text":"Mail me.","marketing":true}`), "definition.elements[0].marketing", "needs an element with the target contact.email"},
		{`{"elements":[],"after_submit":{"type":"popup"}}`, "definition.after_submit.type", "must be one of message, redirect"},
		{`{"elements":[],"after_submit":{"type":"redirect"}}`, "definition.after_submit.url", "must be given for a redirect"},
		{`{"elements":[],"after_submit":{"type":"redirect","url":"http://example.com"}}`, "definition.after_submit.url", "starts with https://"},
		{`{"elements":[],"after_submit":{"url":"javascript:alert(1)"}}`, "definition.after_submit.url", "starts with https://"},
		{`{"elements":[],"after_submit":{"type":"redirect","url":"example.com"}}`, "definition.after_submit.url", "starts with https://"},
		{`{"elements":[],"after_submit":"x"}`, "definition.after_submit", "must be an object"},
		{`{"elements":[],"after_submit":{"to":"x"}}`, "definition.after_submit.to", "is not a known key"},
		{`{"elements":[],"notify":{"emails":["new@example.com"]}}`, "definition.notify.emails[0]", "added in the app only"},
		{`{"elements":[],"notify":{"emails":"new@example.com"}}`, "definition.notify.emails", "must be an array"},
		{`{"elements":[],"notify":{"owner":1}}`, "definition.notify.owner", "must be true or false"},
		{`{"elements":[],"new_contacts":{"status":"vip"}}`, "definition.new_contacts.status", "must be one of lead, customer, inactive"},
		{`{"elements":[],"new_contacts":{"owner_user_id":0}}`, "definition.new_contacts.owner_user_id", "must be a whole number"},
		{`{"elements":[],"new_contacts":{"owner_user_id":9}}`, "definition.new_contacts.owner_user_id", "is not a user"},
		{`{"elements":[],"new_contacts":{"tags":["` + strings.Repeat("x", 101) + `"]}}`, "definition.new_contacts.tags[0]", "at most 100"},
		{`{"elements":[],"new_contacts":{"source":"` + strings.Repeat("x", 51) + `"}}`, "definition.new_contacts.source", "at most 50"},
		{`{"elements":[],"submit_label":"a\nb"}`, "definition.submit_label", "must be one line"},
		{`{"elements":[],"style":{"size":11}}`, "definition.style.size", "must be a whole number from 12 to 24"},
		{`{"elements":[],"style":{"size":"16"}}`, "definition.style.size", "must be a whole number from 12 to 24"},
		{`{"elements":[],"style":{"label_weight":450}}`, "definition.style.label_weight", "must be one of 400, 500, 600, 700"},
		{`{"elements":[],"style":{"label_weight":"600"}}`, "definition.style.label_weight", "must be one of 400, 500, 600, 700"},
		{`{"elements":[],"style":{"color":"red"}}`, "definition.style.color", "must be a colour"},
		{`{"elements":[],"style":{"font":"Comic Sans"}}`, "definition.style.font", "theme:<slug>"},
		{`{"elements":[],"style":{"button_icon":"skull"}}`, "definition.style.button_icon", "must be one of arrow-right"},
		{`{"elements":[],"style":{"button_icon":3}}`, "definition.style.button_icon", "must be a string"},
		{`{"elements":[],"style":{"blink":true}}`, "definition.style.blink", "is not a known key"},
		{`{"elements":[],"style":[]}`, "definition.style", "must be an object"},
		{`{"elements":[` + strings.Repeat(`{},`, 100) + `{}]}`, "definition.elements", "at most 100"},
		{`{"elements":[],"submit_label":"` + strings.Repeat(" ", maxBytes) + `"}`, "definition", "bytes of JSON"},
	} {
		t.Run(fmt.Sprintf("%s %.60s", c.path, c.raw), func(t *testing.T) {
			t.Parallel()
			found := refused(t, c.raw, Env{Fields: siteFields, NotifyEmails: []string{"old@example.com"}, KnownUser: func(id int64) bool { return id == 7 }})
			require.Contains(t, found[c.path], c.says)
		})
	}
}

func TestEverythingWrongIsNamedAtOnceButNotWithoutEnd(t *testing.T) {
	require.Len(t, refused(t, `{"elements":[{"type":"field"},{"type":"x"}],"submit_label":1}`, Env{}), 3)
	require.Len(t, refused(t, `{"elements":[`+strings.Repeat(`{"a":1},`, 50)+`{}]}`, Env{}), maxProblems)
}

func TestStylesOfAllAllowedValues(t *testing.T) {
	for _, s := range []string{
		`{"font":"theme"}`, `{"font":"theme:my-font"}`, `{"font":"system-mono"}`, `{"heading_size":40}`, `{"field_radius":0}`, `{"button_radius":40}`,
		`{"heading_weight":700}`, `{"button_weight":400}`, `{"label_style":"italic"}`, `{"button_transform":"uppercase"}`, `{"button_decoration":"underline"}`,
		`{"button_width":"full"}`, `{"button_icon":"check-circle"}`, `{"button_icon_position":"right"}`, `{"container":"plain"}`, `{"error_color":"#000000"}`,
	} {
		d := parsed(t, `{"elements":[],"style":`+s+`}`)
		got, err := json.Marshal(d.Style)
		require.NoError(t, err)
		require.JSONEq(t, s, string(got))
	}
}

func TestNotificationAddressesAreKeptOrRemovedAndAddedByPeopleOnly(t *testing.T) {
	raw := json.RawMessage(`{"elements":[],"notify":{"emails":["a@example.com","new@example.com"]}}`)
	has := []string{"a@example.com", "b@example.com"}

	_, err := Parse(raw, Env{NotifyEmails: has})
	require.Contains(t, params(t, err), "definition.notify.emails[1]")

	d, err := Parse(raw, Env{NotifyEmails: has, MayAddEmails: true})
	require.NoError(t, err)
	require.Equal(t, []string{"a@example.com", "new@example.com"}, d.Notify.Emails)

	_, err = Parse(json.RawMessage(`{"elements":[],"notify":{"emails":["x@y.com\r\nBcc: z@y.com"]}}`), Env{MayAddEmails: true})
	require.Contains(t, params(t, err), "definition.notify.emails[0]")
	_, err = Parse(json.RawMessage(`{"elements":[],"notify":{"emails":["Jan <x@example.com>"]}}`), Env{MayAddEmails: true})
	require.Contains(t, params(t, err), "definition.notify.emails[0]")
	_, err = Parse(json.RawMessage(`{"elements":[],"notify":{"emails":["x@example.com","X@example.com"]}}`), Env{MayAddEmails: true})
	require.Contains(t, params(t, err), "definition.notify.emails[1]")
}

func TestLoadingChangesNothingThatIsStored(t *testing.T) {
	stored, err := json.Marshal(parsed(t, `{"elements":[{"id":"size","type":"field","target":"contact.fields.size","options":["L","S"],"required":true}],"style":{"size":16}}`))
	require.NoError(t, err)
	d, err := Load(stored)
	require.NoError(t, err)
	require.Equal(t, 16, d.Style["size"])
	again, err := json.Marshal(d)
	require.NoError(t, err)
	require.JSONEq(t, string(stored), string(again))
	_, err = Load(json.RawMessage(`{`))
	require.Error(t, err)
}

func TestWhetherAFormHasAField(t *testing.T) {
	require.False(t, parsed(t, elements(`{"type":"heading","text":"x"}`, `{"type":"consent","text":"x"}`)).HasField())
	require.True(t, parsed(t, elements(emailElement)).HasField())
}

func TestEveryTemplateIsADefinitionOnASiteWithoutFields(t *testing.T) {
	keys := []string{}
	for _, template := range Templates() {
		keys = append(keys, template.Key)
		raw, err := json.Marshal(template.Definition)
		require.NoError(t, err)
		// Before and after its fields are made.
		for _, fields := range []form.Fields{nil, form.FieldsOf(template.Fields...)} {
			d, err := Parse(raw, Env{Fields: fields})
			require.NoError(t, err, template.Key)
			again, err := json.Marshal(d)
			require.NoError(t, err)
			require.JSONEq(t, string(raw), string(again), "a template has no defaults left to fill in")
		}
		made := map[string]bool{}
		for _, e := range template.Definition.Elements {
			made[e.Target] = true
		}
		for _, f := range template.Fields {
			require.True(t, made[f.Entity+".fields."+f.Key], "%s makes a field it does not ask for", template.Key)
		}
	}
	require.Equal(t, []string{"contact", "quote_request", "callback_request", "newsletter"}, keys)
	Templates()[0].Definition.Elements[0].Label = "changed"
	require.Equal(t, "First name", Templates()[0].Definition.Elements[0].Label)
}

// anyElement draws an element that is valid on a site with siteFields; n makes it differ from the others.
func anyElement(t *rapid.T, n int) map[string]any {
	text := rapid.StringMatching(`[A-Za-zé<>&"' ]{1,30}[a-z]`)
	e := map[string]any{"id": fmt.Sprintf("x%d", n), "width": rapid.SampledFrom([]string{"full", "half"}).Draw(t, "width")}
	switch e["type"] = rapid.SampledFrom([]string{form.TypeField, form.TypeHeading, form.TypeParagraph, form.TypeConsent}).Draw(t, "type"); e["type"] {
	case form.TypeField:
		e["target"] = fmt.Sprintf("submission.fields.f%d", n)
		e["required"] = rapid.Bool().Draw(t, "required")
		if rapid.Bool().Draw(t, "options?") {
			e["options"] = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}`), 1, 5, rapid.ID).Draw(t, "options")
		}
	case form.TypeHeading:
		e["text"], e["level"] = text.Draw(t, "text"), rapid.IntRange(2, 4).Draw(t, "level")
	case form.TypeParagraph:
		e["text"] = text.Draw(t, "text")
	case form.TypeConsent:
		e["text"], e["purpose"] = text.Draw(t, "text"), rapid.StringMatching(`[a-z]{1,10}`).Draw(t, "purpose")
	}
	return e
}

func TestEveryValidDefinitionSurvivesStoring(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := []map[string]any{}
		for n := range rapid.IntRange(0, 20).Draw(t, "n") {
			list = append(list, anyElement(t, n))
		}
		raw, err := json.Marshal(map[string]any{"elements": list})
		require.NoError(t, err)
		d := parsed(t, string(raw))
		require.Len(t, d.Elements, len(list))

		stored, err := json.Marshal(d)
		require.NoError(t, err)
		require.Equal(t, d, parsed(t, string(stored)))
		loaded, err := Load(stored)
		require.NoError(t, err)
		require.Equal(t, form.Ask(d.Elements, siteFields), form.Ask(loaded.Elements, siteFields))
	})
}

func FuzzParse(f *testing.F) {
	for _, template := range Templates() {
		raw, _ := json.Marshal(template.Definition)
		f.Add(raw)
	}
	f.Add([]byte(`{"elements":[{"type":"field","target":"contact.fields.size","options":["S"]}],"style":{"size":12,"font":"theme:x"}}`))
	f.Add([]byte(`{"elements":[{"id":"\u0000","type":"consent","text":"x","marketing":true}],"notify":{"emails":["a@b.cd"]},"after_submit":{"url":"https://a.bc"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		start := time.Now()
		d, err := Parse(raw, Env{Fields: siteFields, MayAddEmails: true})
		require.Less(t, time.Since(start), 2*time.Second)
		if err != nil {
			require.LessOrEqual(t, len(params(t, err)), maxProblems)
			return
		}
		stored, err := json.Marshal(d)
		require.NoError(t, err)
		require.NotContains(t, string(stored), `\u0000`)
		again, err := Parse(stored, Env{Fields: siteFields, MayAddEmails: true})
		require.NoError(t, err, string(stored))
		require.Equal(t, d, again)
		_, err = Load(stored)
		require.NoError(t, err)
	})
}

func BenchmarkLoad(b *testing.B) {
	raw, err := json.Marshal(Templates()[1].Definition)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(raw); err != nil {
			b.Fatal(err)
		}
	}
}
