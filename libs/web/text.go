package web

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/lang"
)

// texts by key.
type texts map[string]string

// readTexts merges text/<language>.json, which widgets have too, and page/text/<language>.json, which only pages have,
// of each folder. A key of a later folder wins.
func readTexts(folders ...fs.FS) map[string]texts {
	all := map[string]texts{}
	for _, l := range lang.Languages {
		all[l] = texts{}
		for _, folder := range folders {
			for _, dir := range []string{"text", "page/text"} {
				raw, err := fs.ReadFile(folder, dir+"/"+l+".json")
				if err != nil {
					continue
				}
				var t texts
				if err := json.Unmarshal(raw, &t); err != nil {
					panic(fmt.Sprintf("web: %s/%s.json: %v", dir, l, err))
				}
				maps.Copy(all[l], t)
			}
		}
	}
	return all
}

// Reader is who reads a page: the language, and the region whose habits dates and prices follow.
type Reader struct {
	Language string
	// Chosen is the language when the address or form names it, else "". Links and forms pass it on as lang.
	Chosen string
	// country is that of the business, "" when it did not say.
	country string
	texts   texts
	zone    *time.Location
}

// Locale is the language with the country of the business, where people speak it: "nl-BE", "fr-CH"; "en-GB" for English.
func (t *Reader) Locale() string {
	spoken := map[string]string{"en": "GB", "nl": "NL BE", "fr": "FR BE CH", "de": "DE AT CH BE"}[t.Language]
	if t.country != "" && strings.Contains(spoken, t.country) {
		return t.Language + "-" + t.country
	}
	return t.Language + "-" + strings.Fields(spoken + " GB")[0]
}

// T is the text under key with {name} replaced by the value that follows the name. A key without text is
// shown as itself; a test keeps that from happening.
func (t *Reader) T(key string, pairs ...any) string {
	s, ok := t.texts[key]
	if !ok {
		return key
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		s = strings.ReplaceAll(s, "{"+fmt.Sprint(pairs[i])+"}", fmt.Sprint(pairs[i+1]))
	}
	if t.Locale() == "de-CH" { // Switzerland has no ß
		return strings.ReplaceAll(s, "ß", "ss")
	}
	return s
}

// Texts gives the texts whose keys begin with one of prefixes, for a page's script.
func (t *Reader) Texts(prefixes ...string) map[string]string {
	some := map[string]string{}
	for key := range t.texts {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			some[key] = t.T(key)
		}
	}
	return some
}

// N is T for a number: the text under key_one or key_other, with {n} replaced.
func (t *Reader) N(key string, n int, pairs ...any) string {
	form := "_other"
	if n == 1 || n == 0 && t.Language == "fr" {
		form = "_one"
	}
	return t.T(key+form, append([]any{"n", n}, pairs...)...)
}
