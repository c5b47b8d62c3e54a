package controller

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/libs/lang"
)

// words are what a person reads where no service answers.
type words struct{ Language, NotFound, NotFoundText, Unavailable, UnavailableText string }

// spoken are the words in each of lang.Languages, in that order.
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

// wordsFor returns the words in the language that the address (lang) or else the browser asks for.
func wordsFor(r *http.Request) words {
	query := r.URL.Query()
	if failed, err := url.Parse(query.Get("url")); err == nil && query.Has("url") {
		query = failed.Query() // Traefik replaces a failed answer by a request of its own, and names the failed one
	}
	language := query.Get("lang")
	if !slices.Contains(lang.Languages, language) {
		language = lang.Preferred(r.Header.Get("Accept-Language"))
	}
	return spoken[slices.Index(lang.Languages, language)]
}
