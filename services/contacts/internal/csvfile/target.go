package csvfile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// targets that a column can go to beside fields.<key>, and "" for a column that is skipped.
var targets = []string{"first_name", "last_name", "email", "phone", "organization", "owner", "status", "source", "tags"}

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
			mobilfunknummer, natel, rufnummer, festnetz, sms, whatsapp`,
		"organization": `organization, organisation, organization name, organisation name, organization 1 name, company, company name, companyname,
			associated company, account, account name, business name, employer, bedrijf, bedrijfsnaam, organisatie, firma, firmanaam, werkgever,
			vennootschap, zaak, societe, entreprise, nom de l entreprise, nom de la societe, raison sociale, firmenname, unternehmen, arbeitgeber,
			default address company`,
		"owner": `owner, contact owner, account owner, assigned to, owner email, eigenaar, verantwoordelijke, toegewezen aan, proprietaire,
			responsable, attribue a, besitzer, inhaber, zustandig, verantwortlich, zugewiesen an`,
		"status": `status, contact status, customer status, lead status, lifecycle stage, klantstatus, klant status, statut, statut client, etat,
			kundenstatus, kontaktstatus`,
		"source": `source, lead source, contact source, origin, bron, herkomst, origine, provenance, quelle, herkunft`,
		"tags": `tags, tag, labels, label, keywords, etiket, etiketten, trefwoorden, etiquette, etiquettes, mots cles, libelles,
			schlagwort, schlagworte, schlagworter, stichworte, stichworter, etikett, etiketten, markierungen, group membership, groups, categories,
			groepen, categorieen, groupes, gruppen, kategorien`,
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

// around are words that stand around the name of an address or a number: whose it is, and which of several.
var around = map[string]bool{}

// whose are words in front of the name of a column that say whose it is.
var whose = []string{"person ", "contact ", "customer ", "client ", "billing ", "attendee ", "invitee ", "guest ", "member ", "default address "}

func init() {
	for word := range strings.FieldsSeq(`1 2 3 4 5 work home mobile business primary main other personal private value address number person contact
		customer client billing attendee invitee guest member default company car assistant s
		werk thuis prive zakelijk adres nummer bureau domicile travail professionnel privat geschaftlich arbeit adresse`) {
		around[word] = true
	}
}

// targetOf is the target that the plain name of a column means, or "".
func targetOf(name string) string {
	if target := names[name]; target != "" {
		return target
	}
	for _, prefix := range whose {
		if rest, ok := strings.CutPrefix(name, prefix); ok && names[rest] != "" {
			return names[rest]
		}
	}
	core := strings.Join(slices.DeleteFunc(strings.Fields(name), func(word string) bool { return around[word] }), " ")
	if target := names[core]; target == "email" || target == "phone" {
		return target
	}
	return ""
}

func isWholeName(name string) bool {
	return wholeNames[name] || slices.ContainsFunc(whose, func(prefix string) bool {
		rest, ok := strings.CutPrefix(name, prefix)
		return ok && wholeNames[rest]
	})
}

// Guess gives the targets for the columns of the file: by their names, by their values in a file without names.
func (f *File) Guess(fields []Field) []string {
	if f.Header == 0 {
		return guessByValues(len(f.Headers), f.Sample())
	}
	return guess(f.Headers, fields, f.Sample())
}

// guess gives the targets for the columns with these names, in column order, with "" for the names it does
// not know. Every column with an address, a number or tags has that target; of others that mean the same, the one that
// is filled most often in the sample has it, the first of equals. A status is guessed if the sample holds ours, an owner if it
// holds more than numbers. Custom fields are known by label and by key. A column with the whole name goes to the first name, unless
// the file has one for the first name: then it holds the last. Without a column of that name, addresses are found by their looks.
func guess(headers []string, fields []Field, sample [][]string) []string {
	custom := map[string]string{}
	for _, f := range fields {
		for _, name := range []string{f.Label, f.Key} {
			if name = plain(name); name != "" && custom[name] == "" {
				custom[name] = "fields." + f.Key
			}
		}
	}
	out := make([]string, len(headers))
	holder := map[string]int{}
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
		if target == "" {
			target = targetOf(name)
		}
		if target == "" && isWholeName(name) && (whole < 0 || filled(sample, i) > filled(sample, whole)) {
			whole = i
		}
		switch target {
		case "":
			continue
		case "status":
			if filled(sample, i) > 0 && !mostly(sample, i, isStatus) {
				continue
			}
		case "owner":
			if filled(sample, i) > 0 && !mostly(sample, i, func(cell string) bool { return !isDigits(cell) }) {
				continue
			}
		}
		before, taken := holder[target]
		switch {
		case target == "email", target == "phone", target == "tags", !taken:
		case filled(sample, i) > filled(sample, before):
			out[before] = ""
		default:
			continue
		}
		out[i], holder[target] = target, i
	}
	has := func(target string) bool { _, ok := holder[target]; return ok }
	if whole >= 0 {
		switch {
		case !has("first_name") && !has("last_name"):
			out[whole] = "first_name"
		case !has("last_name"):
			out[whole] = "last_name"
		}
	}
	if !has("email") {
		for i := range out {
			if out[i] == "" && mostly(sample, i, isAddress) {
				out[i] = "email"
			}
		}
	}
	return out
}

func isStatus(cell string) bool {
	_, ok := Status(cell)
	return ok
}

func isDigits(cell string) bool { return strings.Trim(cell, "0123456789") == "" }

// CheckMapping checks targets for a file with this many columns. A shorter mapping skips the columns behind its
// end; one without any target skips all. Several columns may have one target. The error is a phrase to put behind the name of the parameter.
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
	for i, target := range mapping {
		if !known[target] {
			return fmt.Errorf("has the unknown target %q for column %d", Shorten(target, 60), i+1)
		}
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
