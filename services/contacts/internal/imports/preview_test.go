package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

// previewed is what a preview says of a column: each value, and behind an arrow what becomes of it or why it would be left out.
func previewed(a *apptest.Answer, column int) string {
	var out []string
	for _, v := range a.Field(fmt.Sprintf("columns.%d.values", column)).([]any) {
		v := v.(map[string]any)
		becomes := v["becomes"].(string)
		if e, ok := v["error"].(map[string]any); ok {
			becomes = fmt.Sprintf("!%s %v", e["dropped"], e["details"].(map[string]any)["code"])
		}
		out = append(out, fmt.Sprintf("%v %s -> %s", v["row"], v["cell"], becomes))
	}
	return strings.Join(out, " | ")
}

func TestAPreviewSaysWhatTheFirstValuesOfEachColumnBecome(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.SetSite("general", object{"country": "BE"})
	admin := s.As("svc_admin")
	admin.Post("/fields", object{"entity": "contact", "type": "date", "label": "Birthday"}).Is(201)
	admin.Post("/fields", object{"entity": "contact", "type": "number", "label": "Amount"}).Is(201)
	admin.Post("/fields", object{"entity": "contact", "type": "checkbox", "label": "News"}).Is(201)
	text := "Voornaam;E-mail;GSM;GSM 2;Birthday;Amount;News;Status;Labels;Shoe\n" +
		" Ann  Lee ;Ann <ANN@Example.com>;0470 12 34 56;09 123 45 67;31.12.1999;1.234,56;WAAR;klant;VIP|Gent;40\n" +
		"Bo;bo@example.com;;0471 12 34 56;36525;1.234;misschien;friend;;41\n" +
		"Cas;nowhere;3.24701E+10;;;;;;;\n" +
		"Dea\n"
	id := admin.Post("/imports", object{"file_name": "x", "csv": text}).Is(201).Text("id")
	preview := func(body any) *apptest.Answer { return admin.Post("/imports/"+id+"/preview", body).Is(200) }
	a := preview(nil)
	for column, want := range []string{
		"2 Ann  Lee -> Ann Lee | 3 Bo -> Bo | 4 Cas -> !row email",
		"2 Ann <ANN@Example.com> -> ANN@example.com | 3 bo@example.com -> bo@example.com | 4 nowhere -> !row email",
		"2 0470 12 34 56 -> +32470123456 | 4 3.24701E+10 -> !row email",
		"2 09 123 45 67 ->  | 3 0471 12 34 56 -> +32471123456",
		"2 31.12.1999 -> 1999-12-31 | 3 36525 -> 1999-12-31",
		"2 1.234,56 -> 1234.56 | 3 1.234 -> 1234",
		"2 WAAR -> true | 3 misschien -> !cell type",
		"2 klant -> customer | 3 friend -> !cell not_one_of",
		"2 VIP|Gent -> VIP, Gent",
		"2 40 ->  | 3 41 -> ",
	} {
		require.Equal(t, want, previewed(a, column), column)
	}
	require.Equal(t, []any{"E-mail", "email"}, []any{a.Field("columns.1.header"), a.Field("columns.1.target")})

	// With another mapping the same cells become something else, and nothing is saved.
	a = preview(object{"mapping": []string{"", "", "", "", "first_name"}})
	require.Equal(t, "2 31.12.1999 -> 31.12.1999 | 3 36525 -> 36525", previewed(a, 4))
	require.Equal(t, "2 Ann <ANN@Example.com> ->  | 3 bo@example.com ->  | 4 nowhere -> !row nameless", previewed(a, 1))
	require.Contains(t, previewed(preview(object{"mapping": []string{}}), 0), "2 Ann  Lee -> !row nameless")
	require.Equal(t, "email", admin.Get("/imports/" + id).Is(200).Field("mapping").([]any)[1])
	admin.Post("/imports/"+id+"/preview", object{"mapping": []string{"nowhere"}}).Fails(400, "svc_invalid_param")
	s.As("staff").Post("/imports/"+id+"/preview", nil).Fails(403, "svc_forbidden")
	admin.Post("/imports/"+id+"/start", nil).Is(200)
	admin.Post("/imports/"+id+"/preview", nil).Fails(409, "svc_invalid_status")
}
