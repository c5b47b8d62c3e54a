package look

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write look.json anew")

// The portal reads the list from look.json.
func TestThePortalHasTheSameList(t *testing.T) {
	want, err := json.MarshalIndent(map[string]any{"properties": Properties, "fonts": fonts}, "", " ")
	require.NoError(t, err)
	want = append(want, '\n')
	if *update {
		require.NoError(t, os.WriteFile("look.json", want, 0o644))
	}
	have, err := os.ReadFile("look.json")
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "go test ./libs/look -update writes it anew")
}

func TestTheStyleSheetOfWidgetsUsesEachProperty(t *testing.T) {
	sheet, err := os.ReadFile("../web/css/card.css")
	require.NoError(t, err)
	var used, there []string
	for _, m := range regexp.MustCompile(`var\((--svc-[a-z-]+)`).FindAllStringSubmatch(string(sheet), -1) {
		used = append(used, m[1])
	}
	slices.Sort(used)
	for _, p := range Properties {
		if p.Kind != choice {
			there = append(there, p.Custom())
		}
	}
	require.ElementsMatch(t, there, slices.Compact(used))
}

func TestAPropertyTakesWhatItsKindAllows(t *testing.T) {
	for _, c := range []struct {
		name, sent string
		value      any
		css, wrong string
	}{
		{"size", `12`, 12, "12px", ""},
		{"size", `11`, nil, "", "range"},
		{"size", `"12"`, nil, "", "range"},
		{"size", `12.5`, nil, "", "range"},
		{"field_radius", `0`, 0, "0px", ""},
		{"label_weight", `500`, 500, "500", ""},
		{"label_weight", `550`, nil, "", "not_one_of"},
		{"color", `"#00ffAA"`, "#00ffAA", "#00ffAA", ""},
		{"color", `"red;}"`, nil, "", "colour"},
		{"font", `"svc:lora"`, "svc:lora", `"svc-lora", Georgia, serif`, ""},
		{"font", `"theme"`, "theme", "", ""},
		{"font", `"theme:body"`, "theme:body", "var(--wp--preset--font-family--body, inherit)", ""},
		{"font", `"theme:\"}"`, nil, "", "not_one_of"},
		{"label_style", `" italic "`, "italic", "italic", ""},
		{"label_style", `3`, nil, "", "type"},
		{"button_width", `"full"`, "full", "100%", ""},
		{"button_icon", `"gift"`, "gift", "", ""},
		{"button_icon", `"skull"`, nil, "", "not_one_of"},
		{"container", `null`, nil, "", ""},
		{"container", `""`, nil, "", ""},
	} {
		p, ok := Named(c.name)
		require.True(t, ok, c.name)
		value, wrong := p.Value(json.RawMessage(c.sent))
		require.Equal(t, c.value, value, c)
		require.Equal(t, c.wrong, wrong.Code, c)
		text, isText := value.(string)
		if !isText && value != nil {
			text = c.sent
		}
		css, _ := p.CSS(text)
		require.Equal(t, c.css, css, c)
	}
}

func TestEachPropertyIsGivenWithItsOwnValue(t *testing.T) {
	seen := 0
	for p, v := range Each(Table[string, string]{Font: "font", Size: "size", Background: "background"}) {
		if v != "" {
			require.Equal(t, p.Name, v)
			seen++
		}
	}
	require.Equal(t, 3, seen)
	require.Len(t, Names(), 28)
	font, _ := Named("font")
	for _, name := range font.Values {
		require.Equal(t, name != "theme", fonts[name] != "", name)
	}
}
