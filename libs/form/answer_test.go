package form

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
)

var siteFields = FieldsOf(
	Field{Entity: "contact", Key: "size", Label: "Size", Type: KindDropdown, Options: []string{"S", "M", "L"}},
	Field{Entity: "contact", Key: "hobbies", Label: "Hobbies", Type: KindChoices, Options: []string{"Chess", "Go", "Bridge"}},
	Field{Entity: "contact", Key: "born", Label: "Date of birth", Type: KindDate},
	Field{Entity: "contact", Key: "age", Label: "Age", Type: KindNumber},
	Field{Entity: "contact", Key: "site", Label: "Site", Type: KindURL},
	Field{Entity: "contact", Key: "vip", Label: "VIP", Type: KindCheckbox},
	Field{Entity: "contact", Key: "old", Label: "Old", Type: KindText, Archived: true},
	Field{Entity: "submission", Key: "story", Label: "Your story", Type: KindLongText},
	Field{Entity: "submission", Key: "title", Label: "Title", Type: KindText},
)

func asked(t require.TestingT, elements string, fields Fields) []Question {
	var list []Element
	require.NoError(t, json.Unmarshal([]byte("["+elements+"]"), &list), elements)
	return Ask(list, fields)
}

// one is a form with a single optional question, called x, for a target.
func one(t require.TestingT, target string) []Question {
	return asked(t, `{"id":"x","type":"field","target":"`+target+`"}`, siteFields)
}

// problems gives what Check says, by name.
func problems(t require.TestingT, err error) fault.Problems {
	f, ok := errors.AsType[*fault.Fault](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []any{400, "svc_invalid_param"}, []any{f.Status, f.Code})
	return fault.Problems(f.Data["details"].(map[string]fault.Problem))
}

// codes gives the codes of what Check says, by name.
func codes(t require.TestingT, err error) map[string]string {
	all := map[string]string{}
	for name, p := range problems(t, err) {
		all[name] = p.Code
	}
	return all
}

func decoded(t require.TestingT, raw string) map[string]any {
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(raw), &v))
	return v
}

const wholeForm = `
	{"type":"heading","text":"Hello"},
	{"id":"first","type":"field","target":"contact.first_name"},
	{"id":"last","type":"field","target":"contact.last_name"},
	{"id":"email","type":"field","target":"contact.email","required":true},
	{"id":"phone","type":"field","target":"contact.phone"},
	{"id":"size","type":"field","target":"contact.fields.size"},
	{"id":"hobbies","type":"field","target":"contact.fields.hobbies","options":["Chess","Go"]},
	{"id":"born","type":"field","target":"contact.fields.born"},
	{"id":"age","type":"field","target":"contact.fields.age"},
	{"id":"site","type":"field","target":"contact.fields.site"},
	{"id":"vip","type":"field","target":"contact.fields.vip"},
	{"id":"org","type":"field","target":"organization.name"},
	{"id":"vat","type":"field","target":"organization.vat_number"},
	{"id":"story","type":"field","target":"submission.fields.story"},
	{"id":"free","type":"field","target":"submission.fields.free","label":"Anything else?"},
	{"id":"privacy","type":"consent","text":"I agree.","purpose":"privacy","required":true},
	{"id":"news","type":"consent","text":"Mail me.","purpose":"newsletter","marketing":true}`

func TestAWholeSubmissionIsSortedByWhereItGoes(t *testing.T) {
	sent := decoded(t, `{"contact.first_name":"  Jan  Piet ","last":"Peeters","email":" jan@example.com ","phone":"0470 12 34 56","size":"M",
		"hobbies":["Go","Chess","Go"],"born":"2000-02-29","contact.fields.age":42,"site":"example.com","vip":true,"org":"Acme","vat":"BE0123",
		"story":"one\ntwo","free":"no","privacy":true,"news":false}`)
	a, err := Check(asked(t, wholeForm, siteFields), sent)
	require.NoError(t, err)
	require.Equal(t, Contact{FirstName: "Jan Piet", LastName: "Peeters", Email: "jan@example.com", Phone: "0470 12 34 56"}, a.Contact)
	require.Equal(t, map[string]any{
		"size": "M", "hobbies": []string{"Go", "Chess"}, "born": "2000-02-29", "age": json.Number("42"), "site": "https://example.com", "vip": true,
	}, a.contactFields)
	require.Equal(t, map[string]string{"name": "Acme", "vat_number": "BE0123"}, a.Organization)
	require.Equal(t, map[string]any{"story": "one\ntwo", "free": "no"}, a.submissionFields)
	require.Equal(t, []consent{{Purpose: "privacy", Text: "I agree."}}, a.Consents)

	lines := []string{}
	for _, l := range a.Lines {
		lines = append(lines, l.Label+": "+l.Text)
	}
	require.Equal(t, []string{
		"First name: Jan  Piet", "Last name: Peeters", "Email: jan@example.com", "Phone: 0470 12 34 56", "Size: M", "Hobbies: Go, Chess",
		"Date of birth: 2000-02-29", "Age: 42", "Site: https://example.com", "VIP: Yes", "Organization: Acme", "VAT number: BE0123",
		"Your story: one\ntwo", "Anything else?: no", "I agree.: Yes", "Mail me.: No",
	}, lines)
}

func TestAnswersOfEveryTypeThatAreTaken(t *testing.T) {
	for _, c := range []struct {
		target, sent string
		want         any
	}{
		{"contact.fields.age", `42`, json.Number("42")},
		{"contact.fields.age", `-1.50`, json.Number("-1.5")},
		{"contact.fields.age", `"007.10"`, json.Number("7.10")},
		{"contact.fields.age", `"-0"`, json.Number("0")},
		{"contact.fields.age", `1e3`, json.Number("1000")},
		{"contact.fields.age", `" "`, nil},
		{"contact.fields.vip", `false`, false},
		{"contact.fields.vip", `"on"`, true},
		{"contact.fields.vip", `""`, nil},
		{"contact.fields.hobbies", `"Go"`, []string{"Go"}},
		{"contact.fields.hobbies", `[]`, nil},
		{"contact.fields.hobbies", `[""]`, nil},
		{"contact.fields.site", `"HTTP://Example.com/x"`, "HTTP://Example.com/x"},
		{"contact.fields.born", `null`, nil},
	} {
		t.Run(c.target+" "+c.sent, func(t *testing.T) {
			questions := append(one(t, c.target), asked(t, `{"id":"y","type":"field","target":"contact.last_name"}`, nil)...)
			a, err := Check(questions, decoded(t, `{"x":`+c.sent+`,"contact.last_name":"Peeters"}`))
			require.NoError(t, err)
			_, key, _ := strings.Cut(c.target, "fields.")
			require.Equal(t, c.want, a.contactFields[key])
		})
	}
}

func TestAnswersOfEveryTypeThatAreRefused(t *testing.T) {
	for _, c := range []struct{ target, sent, code string }{
		{"contact.first_name", `5`, "type"},
		{"contact.first_name", `["x"]`, "type"},
		{"contact.first_name", `"` + strings.Repeat("x", 101) + `"`, "too_long"},
		{"contact.first_name", `"a\r\nBcc: b"`, "control_characters"},
		{"contact.first_name", `"a\u0085b"`, "control_characters"},
		{"contact.email", `"jan"`, "email"},
		{"contact.email", `"Jan <jan@example.com>"`, "email"},
		{"contact.email", `"jan@example.com,piet@example.com"`, "email"},
		{"contact.email", `"` + strings.Repeat("x", 180) + `@example.com"`, "too_long"},
		{"contact.phone", `"call me"`, "phone"},
		{"contact.phone", `"12"`, "phone"},
		{"contact.fields.site", `"javascript:alert(1)"`, "url"},
		{"contact.fields.site", `"https://localhost"`, "url"},
		{"contact.fields.site", `"https://a:b@example.com"`, "url"},
		{"contact.fields.born", `"2001-02-29"`, "date"},
		{"contact.fields.born", `"29/02/2000"`, "date"},
		{"contact.fields.born", `20000229`, "type"},
		{"contact.fields.age", `"forty"`, "number"},
		{"contact.fields.age", `"1,5"`, "number"},
		{"contact.fields.age", `true`, "number"},
		{"contact.fields.age", `1e300`, "number"},
		{"contact.fields.age", `"NaN"`, "number"},
		{"contact.fields.age", `"0x10"`, "number"},
		{"contact.fields.vip", `"maybe"`, "type"},
		{"contact.fields.vip", `1`, "type"},
		{"contact.fields.size", `"XL"`, "not_one_of"},
		{"contact.fields.size", `"s"`, "not_one_of"},
		{"contact.fields.hobbies", `["Golf"]`, "not_one_of"},
		{"contact.fields.hobbies", `[1]`, "type"},
		{"contact.fields.hobbies", `{"a":1}`, "type"},
		{"submission.fields.story", `"` + strings.Repeat("x", maxLongText+1) + `"`, "too_long"},
		{"submission.fields.story", `"a\u0000b"`, "control_characters"},
		{"submission.fields.title", `"` + strings.Repeat("x", maxText+1) + `"`, "too_long"},
	} {
		t.Run(fmt.Sprintf("%s %.40s", c.target, c.sent), func(t *testing.T) {
			_, err := Check(one(t, c.target), decoded(t, `{"x":`+c.sent+`}`))
			require.Equal(t, map[string]string{"values.x": c.code}, codes(t, err))
		})
	}
}

func TestANumberThatTheDatabaseCannotKeepIsRefused(t *testing.T) {
	for _, sent := range []json.Number{"1e-99999", "1e999999"} {
		_, err := Check(one(t, "contact.fields.age"), map[string]any{"x": sent})
		require.Equal(t, map[string]string{"values.x": "number"}, codes(t, err))
	}
}

func TestWhatIsMissingOrUnknownIsNamed(t *testing.T) {
	d := asked(t, wholeForm, siteFields)
	many := map[string]any{}
	for i := range maxValues + 1 {
		many[fmt.Sprint(i)] = i
	}
	for name, c := range map[string]struct {
		sent map[string]any
		want map[string]string
	}{
		"blank and unticked": {decoded(t, `{"privacy":false,"email":"  "}`), map[string]string{"values.email": "required", "values.privacy": "required"}},
		"nothing":            {nil, map[string]string{"values.contact.email": "required", "values.privacy": "required"}},
		"by id and target":   {decoded(t, `{"email":"a@b.cd","contact.email":"a@b.cd","privacy":true}`), map[string]string{"values.email": "twice"}},
		"no question": {decoded(t, `{"email":"a@b.cd","privacy":true,"e1":"heading","contact.status":"customer"}`),
			map[string]string{"values.e1": "unknown", "values.contact.status": "unknown"}},
		"too many": {many, map[string]string{"values": "too_many"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Check(d, c.sent)
			require.Equal(t, c.want, codes(t, err))
		})
	}
	_, err := Check(one(t, "contact.first_name"), map[string]any{"x": strings.Repeat("x", 101)})
	require.Equal(t, fault.TooLong(100), problems(t, err)["values.x"], "facts come with the code")
}

func TestASubmissionThatAnswersNothingIsEmpty(t *testing.T) {
	d := asked(t, `{"id":"x","type":"field","target":"contact.first_name"},{"id":"tick","type":"field","target":"contact.fields.vip"},
		{"id":"ok","type":"consent","text":"I agree."}`, siteFields)
	for _, sent := range []string{`{}`, `{"x":" "}`, `{"x":null,"tick":false}`, `{"ok":true}`} {
		t.Run(sent, func(t *testing.T) {
			_, err := Check(d, decoded(t, sent))
			require.Equal(t, map[string]string{"values": "empty"}, codes(t, err))
		})
	}
	_, err := Check(d, decoded(t, `{"tick":true}`))
	require.NoError(t, err)
}

func TestAConsentToMailsNeedsAnAddressToConfirmBy(t *testing.T) {
	d := asked(t, `{"id":"mail","type":"field","target":"contact.email"},{"id":"news","type":"consent","text":"Mail me.","purpose":"newsletter","marketing":true}`, nil)
	_, err := Check(d, map[string]any{"news": true})
	require.Equal(t, map[string]string{"values.contact.email": "address_needed"}, codes(t, err))

	a, err := Check(d, map[string]any{"news": true, "mail": "a@b.cd"})
	require.NoError(t, err)
	require.Equal(t, []consent{{Purpose: "newsletter", Text: "Mail me.", Marketing: true}}, a.Consents)
}

func TestDetailsOfAnOrganizationWithoutItsNameGoNowhere(t *testing.T) {
	a, err := Check(asked(t, wholeForm, siteFields), map[string]any{"email": "a@b.cd", "privacy": true, "vat": "BE1"})
	require.NoError(t, err)
	require.Empty(t, a.Organization)
}

func TestAnAddressIsKeptAsContactsKeepsIt(t *testing.T) {
	a, err := Check(one(t, "contact.email"), map[string]any{"x": "Jan@BÜCHER.example"})
	require.NoError(t, err)
	require.Equal(t, "Jan@bücher.example", a.Contact.Email)
}

func TestTheMessageOfABookingMayHaveLines(t *testing.T) {
	d := one(t, targetMessage)
	a, err := Check(d, map[string]any{"x": "See you\nsoon"})
	require.NoError(t, err)
	require.Equal(t, "See you\nsoon", a.Message)
	_, err = Check(d, map[string]any{"x": strings.Repeat("x", 1801)})
	require.Equal(t, fault.TooLong(1800), problems(t, err)["values.x"])
}

func TestAnAnswerForAFieldThatIsGoneIsKeptAsSentOnly(t *testing.T) {
	d := asked(t, `{"id":"x","type":"field","target":"contact.fields.size","required":true}`, nil)
	require.Empty(t, Shown(d))
	a, err := Check(d, map[string]any{"x": "anything"})
	require.NoError(t, err)
	require.Empty(t, a.contactFields)
	require.Equal(t, []Line{{Element: "x", Target: "contact.fields.size", Kind: KindText, Text: "anything"}}, a.Lines)

	for _, sent := range []any{"a\x00b", strings.Repeat("x", maxLongText+1), map[string]any{}, []any{map[string]any{}}, []any{"\x00"}, json.Number("1e999999")} {
		_, err = Check(d, map[string]any{"x": sent})
		require.Contains(t, codes(t, err), "values.x")
	}
}

func TestWhatCannotBeCheckedIsReadableAsItWasSent(t *testing.T) {
	lines := Unchecked(asked(t, wholeForm, siteFields), decoded(t, `{"email":"nonsense","hobbies":["Golf"],"other":1}`))
	require.Equal(t, []Line{{Element: "email", Target: "contact.email", Label: "Email", Kind: KindEmail, Text: "nonsense"},
		{Element: "hobbies", Target: "contact.fields.hobbies", Label: "Hobbies", Kind: KindChoices, Text: `["Golf"]`}}, lines)
}

func TestConsentsHaveAVersion(t *testing.T) {
	version := func(elements string) string {
		var list []Element
		require.NoError(t, json.Unmarshal([]byte("["+elements+"]"), &list))
		return ConsentVersion(list)
	}
	const email, agree = `{"id":"email","type":"field","target":"contact.email"}`, `{"id":"ok","type":"consent","text":"I agree."}`
	require.Empty(t, version(email))
	same := version(agree)
	require.NotEmpty(t, same)
	require.Equal(t, same, version(agree+`,{"id":"email","type":"field","target":"contact.email","label":"Your address"}`), "other elements may change")
	for _, other := range []string{`{"id":"ok","type":"consent","text":"I agree to all."}`, `{"id":"ok","type":"consent","text":"I agree.","marketing":true}`,
		`{"id":"ok","type":"consent","text":"I agree.","purpose":"other"}`, agree + `,{"id":"more","type":"consent","text":"And this."}`, email} {
		require.NotEqual(t, same, version(other), other)
	}
}

func TestThePageThatSomethingCameFrom(t *testing.T) {
	for _, s := range []string{"", "https://example.com/a?b=c", "http://localhost:8080/f/1"} {
		require.True(t, Page(s).IsZero(), s)
	}
	for _, s := range []string{"javascript:alert(1)", "/contact", "https:example.com", "//example.com", "file:///etc/passwd", "https://a b/", "https://", "x"} {
		require.Equal(t, "url", Page(s).Code, s)
	}
}

func TestANameIsOneLineWithoutControlCharacters(t *testing.T) {
	require.True(t, Name("Contact us", 190).IsZero())
	for s, code := range map[string]string{"": "empty", " \t": "empty", "a\tb": "control_characters", "a\nb": "control_characters", "a\u0085b": "control_characters",
		strings.Repeat("é", 191): "too_long"} {
		require.Equal(t, code, Name(s, 190).Code, "%q", s)
	}
}

func TestAnyAnswerByIDIsTheSameByTarget(t *testing.T) {
	d := asked(t, wholeForm, siteFields)
	text := rapid.StringMatching(`[ -~é\n]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		byID, byTarget := map[string]any{}, map[string]any{}
		for _, q := range d {
			if q.Type != TypeField || !rapid.Bool().Draw(t, "sent?") {
				continue
			}
			sent := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](12.5), rapid.Just[any]("a@example.com"),
				rapid.Just[any]("M"), rapid.Just[any]([]any{"Go"}), rapid.Just[any]("2026-01-31"), rapid.Map(text, func(s string) any { return s })).Draw(t, q.ID)
			byID[q.ID], byTarget[q.Target] = sent, sent
		}
		byID["privacy"], byTarget["privacy"] = true, true
		a, errA := Check(d, byID)
		b, errB := Check(d, byTarget)
		require.Equal(t, errA == nil, errB == nil)
		if errA != nil {
			require.Len(t, problems(t, errB), len(problems(t, errA)))
			return
		}
		require.Equal(t, a, b)
	})
}

func FuzzCheck(f *testing.F) {
	now, later := asked(f, wholeForm, siteFields), asked(f, wholeForm, nil)
	f.Add([]byte(`{"first":"Jan","email":"jan@example.com","privacy":true,"age":1e3,"hobbies":["Go"],"site":"//a.bc","phone":"+32 1 2"}`))
	f.Add([]byte(`{"email":"a@bücher.example","privacy":"on","age":"-000.10","born":"0001-01-01","story":"<a href [url www. \u0000","vip":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var sent map[string]any
		if json.Unmarshal(raw, &sent) != nil {
			return
		}
		for _, d := range [][]Question{now, later} {
			start := time.Now()
			a, err := Check(d, sent)
			require.Less(t, time.Since(start), 2*time.Second)
			if err != nil {
				require.LessOrEqual(t, len(problems(t, err)), maxValues+len(d)+1)
				continue
			}
			out, err := json.Marshal(a)
			require.NoError(t, err, "whatever is taken can be stored")
			require.NotContains(t, strings.ReplaceAll(string(out), `\\`, ""), `\u0000`)
			require.LessOrEqual(t, len(a.Contact.Email), 4*MaxEmail)
			require.NotContains(t, a.Contact.Email+a.Contact.FirstName+a.Contact.Phone, "\n")
		}
	})
}

func TestQuestionsFollowTheFieldsOfNow(t *testing.T) {
	d := asked(t, `
		{"id":"size","type":"field","target":"contact.fields.size","options":["L","S"],"required":true},
		{"id":"born","type":"field","target":"contact.fields.born"},
		{"id":"title","type":"field","target":"submission.fields.title"},
		{"id":"free","type":"field","target":"submission.fields.free"},
		{"id":"name","type":"field","target":"contact.first_name"}`, FieldsOf(
		Field{Entity: "contact", Key: "size", Label: "Shirt", Type: KindDropdown, Options: []string{"L", "XL"}},
		Field{Entity: "contact", Key: "born", Label: "Born", Type: KindDate, Archived: true},
		Field{Entity: "submission", Key: "free", Label: "Free", Type: KindNumber},
	))
	require.Equal(t, []string{"L"}, d[0].Options, "an option that the field has lost is not offered")
	require.Equal(t, "Shirt", d[0].Caption())
	require.Equal(t, []bool{false, true, false, false, false}, []bool{d[0].Gone, d[1].Gone, d[2].Gone, d[3].Gone, d[4].Gone})
	require.Equal(t, KindLongText, d[2].Kind, "a submission field that was never made takes text")
	require.Equal(t, KindNumber, d[3].Kind)
	require.Equal(t, []string{"", "First name"}, []string{d[4].Label, d[4].Caption()}, "pages name the target in the visitor's language")
	require.Len(t, Shown(d), 4)
}
