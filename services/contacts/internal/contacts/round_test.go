package contacts

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/app/apptest"
	"frontdesk/services/contacts/contactstest"
)

// shown are the contacts as the list has them, without what no file brings.
func shown(items []map[string]any) []map[string]any {
	out := []map[string]any{}
	for _, c := range items {
		organization := ""
		if o, ok := c["organization"].(map[string]any); ok {
			organization = o["name"].(string)
		}
		tags := slices.Clone(c["tags"].([]any))
		out = append(out, map[string]any{"first_name": c["first_name"], "last_name": c["last_name"], "email": c["email"], "phone": c["phone"], "status": c["status"],
			"source": c["source"], "tags": tags, "fields": c["fields"], "organization": organization})
	}
	slices.SortFunc(out, func(a, b map[string]any) int { return cmp.Compare(a["email"].(string), b["email"].(string)) })
	return out
}

func TestWhatIsExportedIsImportedAsItWas(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.SetSite("general", object{"country": "BE"})
	admin := s.As("svc_admin")
	options := []string{"Tea", "Coffee, black", "a;b", `5" pipe`, "x|y", "* z"}
	fields := func() {
		for _, f := range []object{{"type": "text", "label": "Text"}, {"type": "long_text", "label": "Long"}, {"type": "number", "label": "Number"}, {"type": "checkbox", "label": "Tick"},
			{"type": "date", "label": "Day"}, {"type": "dropdown", "label": "One", "options": options}, {"type": "choices", "label": "Some", "options": options},
			{"type": "email", "label": "Second mail"}, {"type": "phone", "label": "Second phone"}, {"type": "url", "label": "Site"}} {
			f["entity"] = "contact"
			admin.Post("/fields", f).Is(201)
		}
	}
	word := rapid.OneOf(rapid.StringMatching(`[A-Za-zéüß',;|"=+@-]{1,8}( [a-z]{1,5})?`), rapid.SampledFrom([]string{"=1+1", "'=x", "@cmd", "-5", "Gent, centrum", `"VIP"`, "علی\u200cرضا", "王", "a\\b"}))
	rounds := 0
	rapid.Check(t, func(rt *rapid.T) {
		if rounds++; rounds > 12 {
			return // each takes a service two seconds
		}
		contactstest.Afresh(t, s)
		fields()
		text := func(name string) string { return strings.TrimSpace(word.Draw(rt, name)) }
		for i := range rapid.IntRange(1, 5).Draw(rt, "people") {
			values := object{}
			maybe := func(key string, v any) {
				if rapid.Bool().Draw(rt, key) {
					values[key] = v
				}
			}
			maybe("text", text("text"))
			maybe("long", text("long")+"\n"+text("long"))
			maybe("number", rapid.SampledFrom([]float64{0, 1.234, -12.5, 1234.567, 1e6, 0.001, 999.999, 12}).Draw(rt, "number"))
			maybe("tick", rapid.Bool().Draw(rt, "tick"))
			maybe("day", rapid.SampledFrom([]string{"2026-03-04", "1990-12-31", "0999-01-02"}).Draw(rt, "day"))
			maybe("one", rapid.SampledFrom(options).Draw(rt, "one"))
			maybe("some", rapid.SliceOfNDistinct(rapid.SampledFrom(options), 1, 4, rapid.ID[string]).Draw(rt, "some"))
			maybe("second_mail", "second@example.com")
			maybe("second_phone", "+32 2 123 45 67")
			maybe("site", "https://example.com/a,b")
			c := object{"email": string(rune('a'+i)) + "@example.com", "first_name": text("first"), "last_name": text("last"), "status": rapid.SampledFrom([]string{"lead", "customer", "inactive"}).Draw(rt, "status"),
				"source": text("source"), "phone": rapid.SampledFrom([]string{"", "+32470123456", "0470 12 34 56", "+1 (555) 123-4567"}).Draw(rt, "phone"),
				"tags": rapid.SliceOfN(rapid.Map(word, strings.TrimSpace), 0, 3).Draw(rt, "tags"), "fields": values}
			made := admin.Post("/contacts", c).Is(201)
			if rapid.Bool().Draw(rt, "belongs") {
				o := admin.Post("/organizations", object{"name": text("organization") + string(rune('A'+i))}).Is(201).Text("id")
				admin.Put("/organizations/"+o+"/contacts/"+made.Text("id"), object{"is_primary": true}).Is(204)
			}
		}
		before := shown(admin.Get("/contacts?per_page=100").Is(200).Items())
		separator := rapid.SampledFrom([]string{",", ";"}).Draw(rt, "separator")
		file := admin.Get("/exports/contacts.csv?separator=" + map[string]string{",": ",", ";": "%3B"}[separator]).Is(200).Body
		contactstest.Afresh(t, s)
		fields()
		id := admin.Post("/imports", object{"file_name": "x", "csv": file}).Is(201).Text("id")
		admin.Post("/imports/"+id+"/start", nil).Is(200)
		a := contactstest.Finished(s, admin, id)
		require.EqualValues(rt, len(before), a.Field("totals.created"), a.Body+file)
		require.EqualValues(rt, 0, a.Field("totals.cells"), a.Body+file)
		require.Equal(rt, before, shown(admin.Get("/contacts?per_page=100").Is(200).Items()), file)
		id = admin.Post("/imports", object{"file_name": "x", "csv": file}).Is(201).Text("id")
		admin.Post("/imports/"+id+"/start", object{"options": object{"duplicates": "overwrite"}}).Is(200)
		a = contactstest.Finished(s, admin, id)
		require.EqualValues(rt, len(before), a.Field("totals.skipped"), "the same file once more changes nothing: "+a.Body+file)
	})
}
