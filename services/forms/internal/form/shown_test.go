package form

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestADefinitionIsShownAsTheWidgetWouldShowIt(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.SetSite("general", m{"country": "FR"})
	definition := m{"elements": []any{m{"type": "heading", "text": "Say <hello>"}, field("email", "contact.email", "required", true)}, "submit_label": "Go",
		"style": m{"button_background": "#112233"}}
	preview := func(more m) *apptest.Answer {
		more["definition"] = definition
		return d.admin.Post("/forms/preview", more)
	}
	forms := d.admin.Get("/forms").Is(200).Field("total")
	a := preview(m{"lang": "nl"}).Is(200)
	html := a.Text("html")
	require.Contains(t, html, `lang="nl"`)
	require.Contains(t, html, "Say &lt;hello&gt;")
	require.Contains(t, html, `name="token" value=""`)
	require.Equal(t, "#112233", a.Map()["site"].(m)["look"].(m)["vars"].(m)["--svc-button-background"])
	d.Eventually(func() bool { return strings.Contains(preview(m{}).Is(200).Text("html"), `lang="fr"`) })
	require.Equal(t, forms, d.admin.Get("/forms").Is(200).Field("total"), "nothing is stored")

	definition["elements"] = []any{m{"type": "field", "target": "contact.shoe"}}
	require.Equal(t, "unknown", preview(m{}).Fails(400, "svc_invalid_param").Map()["data"].(m)["details"].(m)["definition.elements[0].target"].(m)["code"])
	preview(m{"lang": "xx"}).Fails(400, "svc_invalid_param")
	d.admin.Post("/forms/preview", m{}).Fails(400, "svc_invalid_param")
	d.As("staff").Post("/forms/preview", m{"definition": m{"elements": []any{}}}).Fails(403, "svc_forbidden")
}
