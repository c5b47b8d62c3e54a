package panel

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	token  = regexp.MustCompile(`(--[a-z-]+):\s*(?:var\(--svc-[a-z-]+,\s*)?(light-dark\([^)]*\))`)
	colour = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch|oklab)a?\([^)]*\)`)
)

func sheet(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// tokensOf are the colours by name, in the long form.
func tokensOf(text string) map[string]string {
	all := map[string]string{}
	for _, m := range token.FindAllStringSubmatch(text, -1) {
		all[m[1]] = strings.ReplaceAll(m[2], "#fff,", "#ffffff,")
	}
	return all
}

// The gateway is a module of its own and shows its pages while every service is down, so its colours are copies.
func TestThePagesOfTheGatewayHaveTheColoursOfTheProduct(t *testing.T) {
	product := tokensOf(sheet(t, "../../../services/settings/internal/portal/web/src/kit/css/tokens.css"))
	own := sheet(t, "static/panel.css")
	tokens := tokensOf(own)
	// Lines of a plot, of which the product has one colour.
	delete(tokens, "--second")
	delete(tokens, "--third")
	require.NotEmpty(t, tokens)
	require.Subset(t, product, tokens, "panel.css")
	root := regexp.MustCompile(`:root \{[^}]*\}`).FindString(own)
	require.Empty(t, colour.FindAllString(strings.Replace(own, root, "", 1), -1), "panel.css: a colour outside of :root")

	var palette strings.Builder
	for _, value := range product {
		palette.WriteString(value)
	}
	for _, c := range colour.FindAllString(sheet(t, "../controller/answer.css"), -1) {
		if strings.HasPrefix(c, "#") {
			require.Contains(t, palette.String(), c, "answer.css")
		}
	}
}
