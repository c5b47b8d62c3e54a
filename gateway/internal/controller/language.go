package controller

import (
	"net/http"
	"net/url"

	"golang.org/x/text/language"
)

// words are what a person reads where no service answers.
type words struct{ Language, NotFound, NotFoundText, Unavailable, UnavailableText string }

// spoken are the languages of the pages; the first is what everybody else gets.
var spoken = []words{
	{"en", "This page does not exist", "The address may be misspelt, or what was here has moved.",
		"We will be back in a moment", "This page is not available right now. Please try again shortly."},
	{"nl", "Deze pagina bestaat niet", "Misschien staat er een fout in het adres, of is wat hier stond verplaatst.",
		"We zijn zo terug", "Deze pagina is nu niet beschikbaar. Probeer het dadelijk opnieuw."},
	{"fr", "Cette page n’existe pas", "L’adresse contient peut-être une erreur, ou ce qui était ici a été déplacé.",
		"Nous revenons dans un instant", "Cette page n’est pas disponible pour le moment. Veuillez réessayer dans un instant."},
	{"de", "Diese Seite gibt es nicht", "Vielleicht ist die Adresse falsch geschrieben, oder was hier war, ist umgezogen.",
		"Wir sind gleich wieder da", "Diese Seite ist gerade nicht erreichbar. Bitte versuchen Sie es gleich noch einmal."},
}

var matcher = language.NewMatcher([]language.Tag{language.English, language.Dutch, language.French, language.German})

// wordsFor are those of the language that the address or the browser asks for.
func wordsFor(r *http.Request) words {
	query := r.URL.Query()
	if failed, err := url.Parse(query.Get("url")); err == nil && query.Has("url") {
		query = failed.Query() // of the request that Traefik asks in the place of
	}
	for _, w := range spoken {
		if query.Get("lang") == w.Language {
			return w
		}
	}
	if header := r.Header.Get("Accept-Language"); len(header) <= 500 {
		if tags, _, err := language.ParseAcceptLanguage(header); err == nil && len(tags) > 0 {
			if _, i, confidence := matcher.Match(tags...); confidence > language.No {
				return spoken[i]
			}
		}
	}
	return spoken[0]
}
