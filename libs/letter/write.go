package letter

import (
	"embed"
	"time"

	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
)

//go:embed text/*.json
var texts embed.FS

// Reader gives the words of these mails in a language, "" for that of a country, with dates on the clock of a zone and in the habits of the country.
func Reader(language, country string, zone *time.Location) *web.Reader {
	if language == "" {
		language = lang.OfCountry(country)
	}
	return readers(language, country, zone)
}

var readers = web.Readers(texts)

// Key is the key on settings.site of the document that holds what a business wrote for a kind: a Template for each language that has one.
func Key(kind string) string { return "mail-templates/" + kind }

// Standard is the template of a kind that comes with the program, in the reader's language.
func Standard(t *web.Reader, kind string) Template {
	return Template{t.T(kind + ".subject"), t.T(kind + ".body")}
}

// Of is the template of a kind in the reader's language: that of the business, which read finds by its key, else the standard one.
func Of(read func(key string, v any), t *web.Reader, kind string) Template {
	var own map[string]Template
	read(Key(kind), &own)
	if written, ok := own[t.Language]; ok && written.Body != "" {
		return written
	}
	return Standard(t, kind)
}

// Write fills in the template of a kind in the reader's language. The caller adds recipient, business and small print.
func Write(read func(key string, v any), t *web.Reader, kind string, v Values) mail.Content {
	c := Of(read, t, kind).Fill(v)
	c.Kind, c.Language = kind, t.Language
	return c
}

// Hello greets a client by a name that may be empty.
func Hello(t *web.Reader, name string) string {
	if name == "" {
		return t.T("hello_nobody")
	}
	return t.T("hello", "name", name)
}
