package definition

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// one is a form with a single optional element, called x, for a target.
func one(t require.TestingT, target string) Definition {
	return parsed(t, elements(`{"id":"x","type":"field","target":"`+target+`"}`))
}

func decoded(t require.TestingT, raw string) map[string]any {
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(raw), &v))
	return v
}

const wholeForm = `{"elements":[
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
	{"id":"privacy","type":"consent","text":"I agree.","required":true},
	{"id":"news","type":"consent","text":"Mail me.","marketing":true}]}`

func TestAWholeSubmissionIsSortedByWhereItGoes(t *testing.T) {
	sent := decoded(t, `{"contact.first_name":"  Jan  Piet ","last":"Peeters","email":" jan@example.com ","phone":"0470 12 34 56","size":"M",
		"hobbies":["Go","Chess","Go"],"born":"2000-02-29","contact.fields.age":42,"site":"example.com","vip":true,"org":"Acme","vat":"BE0123",
		"story":"one\ntwo","free":"no","privacy":true,"news":false}`)
	a, err := Values(parsed(t, wholeForm), sent)
	require.NoError(t, err)
	require.Equal(t, Contact{FirstName: "Jan Piet", LastName: "Peeters", Email: "jan@example.com", Phone: "0470 12 34 56"}, a.Contact)
	require.Equal(t, map[string]any{
		"size": "M", "hobbies": []string{"Go", "Chess"}, "born": "2000-02-29", "age": json.Number("42"), "site": "https://example.com", "vip": true,
	}, a.ContactFields)
	require.Equal(t, map[string]string{"name": "Acme", "vat_number": "BE0123"}, a.Organization)
	require.Equal(t, map[string]any{"story": "one\ntwo", "free": "no"}, a.SubmissionFields)
	require.Equal(t, []Consent{{Purpose: "privacy", Text: "I agree."}}, a.Consents)
	require.Equal(t, sent, a.Values, "values stay as sent")

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
		a, err := Values(one(t, c.target), decoded(t, `{"x":`+c.sent+`}`))
		require.NoError(t, err, c.sent)
		_, key, _ := strings.Cut(c.target, "fields.")
		require.Equal(t, c.want, a.ContactFields[key], c.sent)
	}
}

func TestAnswersOfEveryTypeThatAreRefused(t *testing.T) {
	for _, c := range []struct{ target, sent, says string }{
		{"contact.first_name", `5`, "must be a string"},
		{"contact.first_name", `["x"]`, "must be a string"},
		{"contact.first_name", `"` + strings.Repeat("x", 101) + `"`, "at most 100"},
		{"contact.first_name", `"a\r\nBcc: b"`, "must be one line"},
		{"contact.email", `"jan"`, "email address"},
		{"contact.email", `"Jan <jan@example.com>"`, "email address"},
		{"contact.email", `"jan@example.com,piet@example.com"`, "email address"},
		{"contact.email", `"` + strings.Repeat("x", 180) + `@example.com"`, "at most 190"},
		{"contact.phone", `"call me"`, "phone number"},
		{"contact.phone", `"12"`, "phone number"},
		{"contact.fields.site", `"javascript:alert(1)"`, "web address"},
		{"contact.fields.site", `"https://localhost"`, "web address"},
		{"contact.fields.site", `"https://a:b@example.com"`, "web address"},
		{"contact.fields.born", `"2001-02-29"`, "must be a date"},
		{"contact.fields.born", `"29/02/2000"`, "must be a date"},
		{"contact.fields.born", `20000229`, "must be a string"},
		{"contact.fields.age", `"forty"`, "must be a number"},
		{"contact.fields.age", `"1,5"`, "must be a number"},
		{"contact.fields.age", `true`, "must be a number"},
		{"contact.fields.age", `1e300`, "must be a number"},
		{"contact.fields.age", `"NaN"`, "must be a number"},
		{"contact.fields.age", `"0x10"`, "must be a number"},
		{"contact.fields.vip", `"maybe"`, "must be true or false"},
		{"contact.fields.vip", `1`, "must be true or false"},
		{"contact.fields.size", `"XL"`, "must be one of the options"},
		{"contact.fields.size", `"s"`, "must be one of the options"},
		{"contact.fields.hobbies", `["Golf"]`, "can be chosen"},
		{"contact.fields.hobbies", `[1]`, "array of options"},
		{"contact.fields.hobbies", `{"a":1}`, "array of options"},
		{"submission.fields.story", `"` + strings.Repeat("x", MaxLongText+1) + `"`, "at most 10000"},
		{"submission.fields.story", `"a\u0000b"`, "control characters"},
		{"submission.fields.title", `"` + strings.Repeat("x", MaxText+1) + `"`, "at most 1000"},
	} {
		_, err := Values(one(t, c.target), decoded(t, `{"x":`+c.sent+`}`))
		require.Error(t, err, c.sent)
		require.Contains(t, params(t, err)["values.x"], c.says, c.sent)
	}
}

func TestWhatIsMissingOrUnknownIsNamed(t *testing.T) {
	d := parsed(t, wholeForm)
	_, err := Values(d, decoded(t, `{"privacy":false,"email":"  "}`))
	require.Equal(t, map[string]string{"values.email": "must be given", "values.privacy": "must be ticked"}, params(t, err))

	_, err = Values(d, nil)
	require.Equal(t, map[string]string{"values.contact.email": "must be given", "values.privacy": "must be ticked"}, params(t, err))

	_, err = Values(d, decoded(t, `{"email":"a@b.cd","contact.email":"a@b.cd","privacy":true}`))
	require.Equal(t, map[string]string{"values.email": "is there twice: also as contact.email"}, params(t, err))

	_, err = Values(d, decoded(t, `{"email":"a@b.cd","privacy":true,"e1":"heading","contact.status":"customer"}`))
	require.Equal(t, map[string]string{"values.e1": "is not a field of this form", "values.contact.status": "is not a field of this form"}, params(t, err))

	many := map[string]any{}
	for i := range MaxValues + 1 {
		many[fmt.Sprint(i)] = i
	}
	_, err = Values(d, many)
	require.Equal(t, map[string]string{"values": "must have at most 200 entries"}, params(t, err))
}

func TestAConsentToMailsNeedsAnAddressToConfirmBy(t *testing.T) {
	d := parsed(t, elements(`{"id":"mail","type":"field","target":"contact.email"}`, `{"id":"news","type":"consent","text":"Mail me.","marketing":true}`))
	_, err := Values(d, map[string]any{"news": true})
	require.Equal(t, map[string]string{"values.contact.email": "is needed to confirm by mail"}, params(t, err))

	a, err := Values(d, map[string]any{"news": true, "mail": "a@b.cd"})
	require.NoError(t, err)
	require.Equal(t, []Consent{{Purpose: "newsletter", Text: "Mail me.", Marketing: true}}, a.Consents)
}

func TestDetailsOfAnOrganizationWithoutItsNameGoNowhere(t *testing.T) {
	a, err := Values(parsed(t, wholeForm), map[string]any{"email": "a@b.cd", "privacy": true, "vat": "BE1"})
	require.NoError(t, err)
	require.Empty(t, a.Organization)
}

func TestAnAnswerForAFieldThatIsGoneIsKeptAsSentOnly(t *testing.T) {
	stored, err := json.Marshal(one(t, "contact.fields.size"))
	require.NoError(t, err)
	d, err := Load(stored, nil)
	require.NoError(t, err)

	a, err := Values(d, map[string]any{"x": "anything"})
	require.NoError(t, err)
	require.Empty(t, a.ContactFields)
	require.Empty(t, a.Lines)
	require.Equal(t, map[string]any{"x": "anything"}, a.Values)

	for _, sent := range []any{"a\x00b", strings.Repeat("x", MaxLongText+1), map[string]any{}, []any{map[string]any{}}, []any{"\x00"}} {
		_, err = Values(d, map[string]any{"x": sent})
		require.Error(t, err)
	}
}

func TestSpam(t *testing.T) {
	d := parsed(t, wholeForm)
	for _, c := range []struct{ field, text, reason string }{
		{"story", "See https://a.example, http://b.example and www.c.example", SpamLinks},
		{"story", "HTTPS://a.example HTTPS://b.example HTTPS://c.example", SpamLinks},
		{"story", "See https://www.a.example and https://www.b.example", ""},
		{"story", `<A HREF="https://a.example">x</A>`, SpamMarkup},
		{"story", "<a\nclass=x\nhref=y>", SpamMarkup},
		{"story", "[URL=https://a.example]x[/URL]", SpamMarkup},
		{"free", "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X", SpamTest},
		{"first", "Win www.a.example", SpamName},
		{"last", "http://a.example", SpamName},
		{"story", "An honest question about a<b and awww...", ""},
		{"story", "", ""},
		{"org", "www.acme.example", ""},
	} {
		a, err := Values(d, map[string]any{"email": "a@b.cd", "privacy": true, c.field: c.text})
		require.NoError(t, err, c.text)
		require.Equal(t, c.reason, Spam(a), c.text)
	}
	links := "https://a.example https://b.example"
	a, err := Values(d, map[string]any{"email": "a@b.cd", "privacy": true, "story": links, "free": links})
	require.NoError(t, err)
	require.Empty(t, Spam(a), "two links in each of two answers are no sign")

	// What the form says itself is no answer.
	d = parsed(t, elements(`{"id":"c","type":"consent","text":"See https://a.example https://b.example https://c.example"}`))
	a, err = Values(d, map[string]any{"c": true})
	require.NoError(t, err)
	require.Empty(t, Spam(a))
}

func TestAnyAnswerByIDIsTheSameByTarget(t *testing.T) {
	d := parsed(t, wholeForm)
	text := rapid.StringMatching(`[ -~é\n]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		byID, byTarget := map[string]any{}, map[string]any{}
		for i := range d.Elements {
			e := &d.Elements[i]
			if e.Type != TypeField || !rapid.Bool().Draw(t, "sent?") {
				continue
			}
			sent := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](12.5), rapid.Just[any]("a@example.com"),
				rapid.Just[any]("M"), rapid.Just[any]([]any{"Go"}), rapid.Just[any]("2026-01-31"), rapid.Map(text, func(s string) any { return s })).Draw(t, e.ID)
			byID[e.ID], byTarget[e.Target] = sent, sent
		}
		byID["privacy"], byTarget["privacy"] = true, true
		a, errA := Values(d, byID)
		b, errB := Values(d, byTarget)
		require.Equal(t, errA == nil, errB == nil)
		if errA != nil {
			require.Len(t, params(t, errB), len(params(t, errA)))
			return
		}
		a.Values, b.Values = nil, nil
		require.Equal(t, a, b)
		require.Equal(t, Spam(a), Spam(b))
	})
}

func FuzzValues(f *testing.F) {
	stored, err := json.Marshal(parsed(f, wholeForm))
	require.NoError(f, err)
	now, err := Load(stored, siteFields)
	require.NoError(f, err)
	later, err := Load(stored, nil)
	require.NoError(f, err)
	f.Add([]byte(`{"first":"Jan","email":"jan@example.com","privacy":true,"age":1e3,"hobbies":["Go"],"site":"//a.bc","phone":"+32 1 2"}`))
	f.Add([]byte(`{"email":"a@bücher.example","privacy":"on","age":"-000.10","born":"0001-01-01","story":"<a href [url www. \u0000","vip":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var sent map[string]any
		if json.Unmarshal(raw, &sent) != nil {
			return
		}
		for _, d := range []Definition{now, later} {
			start := time.Now()
			a, err := Values(d, sent)
			if err == nil {
				Spam(a)
			}
			require.Less(t, time.Since(start), 2*time.Second)
			if err != nil {
				require.LessOrEqual(t, len(params(t, err)), maxProblems)
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
