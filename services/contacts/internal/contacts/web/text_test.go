package web

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/lang"
)

func TestEveryLanguageSaysEverything(t *testing.T) {
	placeholder := regexp.MustCompile(`\{[a-z]+\}`)
	read := func(language string) map[string]string {
		raw, err := folder.ReadFile("page/text/" + language + ".json")
		require.NoError(t, err)
		words := map[string]string{}
		require.NoError(t, json.Unmarshal(raw, &words))
		return words
	}
	english := read("en")
	for _, language := range lang.Languages[1:] {
		words := read(language)
		require.Equal(t, slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(words)), language)
		for key, text := range words {
			require.NotEmpty(t, text, "%s %s", language, key)
			require.ElementsMatch(t, placeholder.FindAllString(english[key], -1), placeholder.FindAllString(text, -1), "%s %s", language, key)
		}
	}
}
