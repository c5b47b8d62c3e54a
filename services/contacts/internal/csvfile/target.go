package csvfile

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// targets that a column can go to beside fields.<key>, and "" for a column that is skipped.
var targets = []string{"first_name", "last_name", "email", "phone", "status", "source", "tags"}

// Field is a custom field of contacts that a column can go to.
type Field struct {
	Key   string
	Label string
}

// Names of columns, as plain writes them, in English, Dutch, French and German.
var names = map[string]string{}

// Names that mean the whole name in a file without a column for the first name, else the last name.
var wholeNames = map[string]bool{}

func init() {
	for target, list := range map[string]string{
		"first_name": `first name, firstname, first, given name, givenname, forename, christian name,
			voornaam, roepnaam, voornamen, prenom, prenoms, vorname, vornamen, rufname, contact first name`,
		"last_name": `last name, lastname, last, surname, family name, familyname, contact last name,
			achternaam, familienaam, nom de famille, nom famille, nachname, familienname, zuname`,
		"email": `email, e mail, mail, email address, e mail address, emailaddress, mail address, primary email, contact email, work email,
			email 1 value, e mail 1 value, e mailadres, emailadres, mailadres, e mail adres, email adres,
			courriel, mel, adresse email, adresse e mail, adresse mail, adresse de courriel, adresse courriel, adresse electronique,
			email adresse, e mail adresse, mailadresse, emailadresse, elektronische adresse`,
		"phone": `phone, phone number, phonenumber, phone no, telephone, telephone number, telephone no, tel, tel no, tel nr, telnr, mobile, mobile phone,
			mobile number, mobile no, cell, cell phone, cellphone, cell number, contact number, primary phone, work phone, business phone, home phone,
			phone 1 value, telefoon, telefoonnummer, telefoon nummer, telefoonnr, telefoon nr, gsm, gsm nummer, gsmnummer, gsm nr, mobiel,
			mobiel nummer, mobiele nummer, mobiele telefoon, numero de telephone, numero telephone, no de telephone, n de telephone, no tel,
			numero de gsm, numero gsm, telephone portable, telephone mobile, tel portable, tel mobile, portable, numero de portable,
			telefon, telefonnummer, telefon nr, telefonnr, tel nummer, handy, handynummer, handynr, mobil, mobiltelefon, mobilnummer, mobilfunk,
			mobilfunknummer, natel, rufnummer, festnetz`,
		"status": `status, contact status, customer status, lead status, lifecycle stage, klantstatus, klant status, statut, statut client, etat,
			kundenstatus, kontaktstatus`,
		"source": `source, lead source, contact source, origin, bron, herkomst, origine, provenance, quelle, herkunft`,
		"tags": `tags, tag, labels, label, keywords, etiket, etiketten, trefwoorden, etiquette, etiquettes, mots cles, libelles,
			schlagwort, schlagworte, schlagworter, stichworte, stichworter, etikett, etiketten, markierungen`,
	} {
		for name := range strings.SplitSeq(list, ",") {
			names[plain(name)] = target
		}
	}
	for name := range strings.SplitSeq(`name, full name, fullname, contact name, display name, naam, volledige naam, contactnaam, contactpersoon,
		nom, nom complet, nom et prenom, nom prenom, prenom nom, prenom et nom, vollstandiger name, vor und nachname,
		ansprechpartner, kontaktname`, ",") {
		wholeNames[plain(name)] = true
	}
}

// Guess gives the targets for the columns with these names, in column order, with "" for the names it does
// not know. No target is given twice: the first column that fits has it. Custom fields are known
// by label and by key. A column with the whole name goes to the first name, unless the file has
// one for the first name: then it holds the last.
func Guess(headers []string, fields []Field) []string {
	custom := map[string]string{}
	for _, f := range fields {
		for _, name := range []string{f.Label, f.Key} {
			if name = plain(name); name != "" && custom[name] == "" {
				custom[name] = "fields." + f.Key
			}
		}
	}
	out := make([]string, len(headers))
	taken := map[string]bool{"": true}
	whole := -1
	for i, header := range headers {
		if len(header) > 400 {
			continue // no name is that long
		}
		name := plain(header)
		target := names[name]
		if target == "" {
			target = custom[strings.TrimPrefix(name, "fields ")]
		}
		if target == "" && whole < 0 && wholeNames[name] {
			whole = i
		}
		if !taken[target] {
			out[i], taken[target] = target, true
		}
	}
	if whole >= 0 {
		switch {
		case !taken["first_name"] && !taken["last_name"]:
			out[whole] = "first_name"
		case !taken["last_name"]:
			out[whole] = "last_name"
		}
	}
	return out
}

// CheckMapping checks targets for a file with this many columns. A shorter mapping skips the columns behind its
// end. The error is a phrase to put behind the name of the parameter.
func CheckMapping(mapping []string, columns int, fields []Field) error {
	if len(mapping) > columns {
		return fmt.Errorf("has %d targets for %d columns", len(mapping), columns)
	}
	known := map[string]bool{"": true}
	for _, t := range targets {
		known[t] = true
	}
	for _, f := range fields {
		known["fields."+f.Key] = true
	}
	first := map[string]int{}
	mapped := false
	for i, target := range mapping {
		if !known[target] {
			return fmt.Errorf("has the unknown target %q for column %d", shorten(target, 60), i+1)
		}
		if target == "" {
			continue
		}
		if before, twice := first[target]; twice {
			return fmt.Errorf("has the target %q for the columns %d and %d", target, before, i+1)
		}
		first[target], mapped = i+1, true
	}
	if !mapped {
		return fmt.Errorf("must have a target for one column at least")
	}
	return nil
}

// plain is a name of a column in lower case, without accents, and with one blank for everything that is neither
// letter nor digit.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(s))
	return strings.Join(strings.Fields(s), " ")
}
