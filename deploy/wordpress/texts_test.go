// Package wordpress holds the checks of the plugin that need no WordPress.
package wordpress

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	said       = regexp.MustCompile(`(?:__|esc_html__|esc_attr__)\( '((?:[^'\\]|\\.)*)', 'frontdesk' \)`)
	counted    = regexp.MustCompile(`_n\( '((?:[^'\\]|\\.)*)', '((?:[^'\\]|\\.)*)',`)
	translated = regexp.MustCompile(`(?m)^\t\t'((?:[^'\\]|\\.)*)' (?:\. "\\0" \. '((?:[^'\\]|\\.)*)' )?=> '((?:[^'\\]|\\.)+)'`)
	// breaking is a space at which a French line breaks before a sign, and the apostrophe of a typewriter.
	breaking = regexp.MustCompile(`\pL\\?'[\pL{]| [:;?!»]|« `)
	place    = regexp.MustCompile(`%(?:\d+\$)?[sd]`)
)

func TestEachTextOfThePluginIsThereInEveryLanguage(t *testing.T) {
	wanted := map[string]bool{}
	files, err := filepath.Glob("frontdesk/includes/*.php")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		code := read(t, file)
		for _, m := range said.FindAllStringSubmatch(code, -1) {
			wanted[m[1]] = true
		}
		for _, m := range counted.FindAllStringSubmatch(code, -1) {
			wanted[m[1]] = true
		}
	}
	for _, language := range []string{"nl_NL", "fr_FR", "de_DE"} {
		t.Run(language, func(t *testing.T) {
			there := map[string]bool{}
			for _, m := range translated.FindAllStringSubmatch(read(t, "frontdesk/languages/frontdesk-"+language+".l10n.php"), -1) {
				there[m[1]] = true
				require.Equal(t, place.FindAllString(m[1], -1), place.FindAllString(m[3], -1), m[1])
				if language == "fr_FR" {
					require.NotRegexp(t, breaking, m[3], m[1])
				}
			}
			require.Equal(t, wanted, there)
		})
	}
}

// The version stands where WordPress reads it, and where the plugin does.
func TestThePluginHasOneVersion(t *testing.T) {
	code := read(t, "frontdesk/frontdesk.php")
	header := regexp.MustCompile(`(?m)^ \* Version: +(\S+)$`).FindStringSubmatch(code)
	require.NotNil(t, header)
	require.Contains(t, code, "const VERSION = '"+header[1]+"';")
	require.Contains(t, read(t, "frontdesk/readme.txt"), "Stable tag: "+header[1]+"\n")
}

// A file that is asked for by itself does nothing.
func TestNoFileOfThePluginRunsOutsideOfWordPress(t *testing.T) {
	require.NoError(t, filepath.WalkDir("frontdesk", func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".php") && !strings.HasSuffix(path, ".l10n.php") {
			require.Regexp(t, `(?m)^defined\( '(ABSPATH|WP_UNINSTALL_PLUGIN)' \) \|\| exit;$`, read(t, path), path)
		}
		return err
	}))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
