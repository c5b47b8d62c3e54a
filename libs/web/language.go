package web

import (
	"cmp"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/lang"
)

var languageNames = map[string]string{"en": "English", "nl": "Nederlands", "fr": "Français", "de": "Deutsch"}

// Reader chooses the language: the parameter lang, else what the browser prefers, else English.
func (u *UI) Reader(r *http.Request) *Reader {
	chosen := strings.ToLower(r.FormValue("lang"))
	if !slices.Contains(lang.Languages, chosen) {
		chosen = ""
	}
	out := u.ReaderOf(cmp.Or(chosen, lang.Preferred(r.Header.Get("Accept-Language"))))
	out.Chosen = chosen
	return out
}

// ReaderOf is a reader of one of our languages, "" for that of the business's country.
func (u *UI) ReaderOf(language string) *Reader {
	country := u.Business().Country
	language = cmp.Or(language, lang.OfCountry(country))
	return &Reader{Language: language, country: country, texts: u.texts[language], zone: u.Zone}
}

// Readers gives whoever writes without a request, such as the author of a mail, the texts of a folder (text/*.json, over
// those of this package) in a language, with dates on the clock of a zone and in the habits of a country.
func Readers(folder fs.FS) func(language, country string, zone *time.Location) *Reader {
	all := readTexts(own, folder)
	return func(language, country string, zone *time.Location) *Reader {
		return &Reader{Language: language, Chosen: language, country: country, texts: all[language], zone: zone}
	}
}
