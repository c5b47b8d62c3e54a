package person

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
	"pgregory.net/rapid"
)

func TestPhoneTakesTheCallingCodeOfTheBusinessCountry(t *testing.T) {
	for _, c := range []struct{ typed, country, stored string }{
		{"0470 12 34 56", "BE", "+32470123456"},
		{"02/555.12.12", "BE", "+3225551212"},
		{" 016 20-30-40 ", "BE", "+3216203040"},
		{"06 12345678", "NL", "+31612345678"},
		{"06 12 34 56 78", "FR", "+33612345678"},
		{"0151 23456789", "DE", "+4915123456789"},
		{"0664 1234567", "AT", "+436641234567"},
		{"079 123 45 67", "CH", "+41791234567"},
		{"07700 900123", "GB", "+447700900123"},
		{"0470\u00a012\u00a034\u00a056", "BE", "+32470123456"},
	} {
		require.Equal(t, c.stored, Phone(c.typed, c.country), c.typed)
	}
}

func TestPhoneOtherwiseStaysAsTyped(t *testing.T) {
	for _, c := range []struct{ typed, country, stored string }{
		{"0470 12 34 56", "", "0470 12 34 56"},
		{"+32 470 12 34 56", "BE", "+32 470 12 34 56"},
		{"470 12 34 56", "BE", "470 12 34 56"},
		{"(0)470 12 34 56", "BE", "(0)470 12 34 56"},
		{"0470 12 34 56 (ask for Jan)", "BE", "0470 12 34 56 (ask for Jan)"},
		{"012", "BE", "012"},
		{"0", "BE", "0"},
		{"0470 12 34 56 0470 12 34 57", "BE", "0470 12 34 56 0470 12 34 57"},
		{"  ", "BE", ""},
		{"", "BE", ""},
	} {
		require.Equal(t, c.stored, Phone(c.typed, c.country), c.typed)
	}
}

func TestPhoneWithTwoZeroesStartsWithPlus(t *testing.T) {
	for typed, stored := range map[string]string{
		"0032470123456":     "+32470123456",
		"00 32 470 12 34 5": "+32 470 12 34 5",
		"0044-20-7946-0000": "+44-20-7946-0000",
		"00":                "00",
		"000":               "000",
	} {
		require.Equal(t, stored, Phone(typed, "BE"), typed)
		require.Equal(t, stored, Phone(typed, ""), typed)
	}
}

func TestPhoneInBrackets(t *testing.T) {
	for typed, stored := range map[string]string{
		"(0470) 12 34 56":      "+32470123456",
		"(09)123.45.67":        "+3291234567",
		"+32 (0)9 123 45 67":   "+32 9 123 45 67",
		"+32(0)470/12.34.56":   "+32 470/12.34.56",
		"0032 (0)470 12 34 56": "+32 470 12 34 56",
		"+39 (0)6 1234 5678":   "+39 (0)6 1234 5678",
		"+1 (555) 123-4567":    "+1 (555) 123-4567",
		"(00) 12":              "(00) 12",
	} {
		require.Equal(t, stored, Phone(typed, "BE"), typed)
		require.Equal(t, stored, Phone(stored, "BE"), typed)
	}
}

func TestWebsites(t *testing.T) {
	for typed, stored := range map[string]string{
		"":                             "",
		"example.com":                  "https://example.com",
		" www.example.com/a?b=c#d ":    "https://www.example.com/a?b=c#d",
		"http://example.com":           "http://example.com",
		"HTTPS://Example.com/Path":     "https://Example.com/Path",
		"//example.com/x":              "https://example.com/x",
		"example.com:8443/x":           "https://example.com:8443/x",
		"bücher.example":               "https://bücher.example",
		"http://192.0.2.1/":            "http://192.0.2.1/",
		"http://[2001:db8::1]:8080/":   "http://[2001:db8::1]:8080/",
		"https://example.com/?u=a:b@c": "https://example.com/?u=a:b@c",
	} {
		got, err := Website(typed)
		require.NoError(t, err, typed)
		require.Equal(t, stored, got)
	}
	for _, typed := range []string{
		"javascript:alert(1)", "mailto:jan@example.com", "ftp://example.com", "data:text/html,x", "https://", "https:///x",
		"http:example.com", "localhost", "https://localhost", "jan peeters", "https://user:secret@example.com",
		"https://example.com:0", "https://example.com:70000", "https://exa mple.com", "https://example.com\\@evil.example",
		"https://-x.example", "java\nscript:alert(1)", "vbscript:x", "https://a..b", "https://%zz", "n.v.t.",
		"https://example.com/" + strings.Repeat("x", 2048),
	} {
		_, err := Website(typed)
		require.Error(t, err, typed)
	}
}

func TestCountries(t *testing.T) {
	for typed, stored := range map[string]string{"": "", "be": "BE", " NL ": "NL", "GB": "GB"} {
		got, err := Country(typed)
		require.NoError(t, err, typed)
		require.Equal(t, stored, got)
	}
	for _, typed := range []string{"B", "BEL", "UK", "XX", "EU", "ZZ", "A ", "E B", "Belgium", "BE NL"} {
		_, err := Country(typed)
		require.Error(t, err, typed)
	}
}

func TestEveryCountryIsOneToTheTextLibrary(t *testing.T) {
	codes := strings.Fields(countries)
	require.Len(t, codes, 249)
	for _, code := range codes {
		region, err := language.ParseRegion(code)
		require.NoError(t, err, code)
		require.True(t, region.IsCountry(), code)
		require.Equal(t, code, region.String())
	}
}

func TestVATNumbers(t *testing.T) {
	require.Equal(t, "BE0123456789", VAT(" be 0123.456.789 "))
	require.Equal(t, "NL123456789B01", VAT("NL1234.56.789.B01"))
	require.Equal(t, "CHE-123456789MWST", VAT("CHE-123.456.789 MWST"))
	require.Empty(t, VAT(" . "))

	require.Equal(t, VATKey(VAT("BE 0123.456.789")), VATKey("be0123-456-789"))
	require.Equal(t, VATKey("CHE-123456789MWST"), VATKey("CHE123456789TVA"))
	require.NotEqual(t, VATKey("BE0123456789"), VATKey("BE0123456788"))
	require.Empty(t, VATKey("none"))
	require.Empty(t, VATKey(""))
}

func TestSimilarOrganizationNames(t *testing.T) {
	for _, group := range [][]string{
		{"Acme", "ACME", "Acme NV", "Acme N.V.", "acme n v", "Acme B.V.", "Acme (BV)", "ACME, SRL", "S.A. Acme", "Acme S.A.", "Acme SPRL", "Acme BVBA",
			"Acme Comm.V", "Acme VZW", "asbl Acme", "Acme A.S.B.L.", "Acme CVBA", "Acme G.m.b.H.", "Acme GmbH & Co. KG", "Acme gGmbH", "Acme AG",
			"Acme UG (haftungsbeschränkt)", "Acme OHG", "Acme e.K.", "Acme e.V.", "Acme Ges.m.b.H.", "Acme Ges.m.b.H. & Co. KG", "Acme OG", "Acme e.U.",
			"Acme Sàrl", "Acme S.à r.l.", "SARL Acme", "Acme SAS", "Acme SASU", "Acme EURL", "Acme Sagl", "Acme Ltd", "Acme Ltd.", "Acme Limited",
			"Acme PLC", "Acme LLP", "Acme C.I.C.", "Acme Inc.", "Stichting Acme", "Coöperatie Acme U.A.", "Acme V.O.F.", "Acme BV i.o.", "Acme Genossenschaft",
			"Acme Société Anonyme", "Acme Public Limited Company", "Acme Besloten Vennootschap met Beperkte Aansprakelijkheid"},
		{"Café de l'Étoile", "CAFE DE L’ETOILE SRL", "Cafe-de-l'Etoile"},
		{"Müller & Söhne GmbH", "Muller Sohne", "MÜLLER+SÖHNE AG"},
		{"Groß Bau", "GROSS BAU GmbH"},
		{"A.B.C. Consulting", "ABC Consulting BV"},
		{"Bakker B B.V.", "Bakker B"},
		{"Ångström AB", "Angstrom"},
	} {
		for _, name := range group {
			require.Equal(t, NameKey(group[0]), NameKey(name), name)
			require.NotEmpty(t, NameKey(name))
		}
	}
}

func TestNamesThatAreNotSimilar(t *testing.T) {
	for _, pair := range [][2]string{
		{"Acme Gent", "Acme Brugge"}, {"Sanoma", "Noma"}, {"Agora", "Ora"}, {"NV", "BV"}, {"Salon", "Lon"}, {"Bvlgari", "Lgari"}, {"Nvidia", "Idia"},
	} {
		require.NotEqual(t, NameKey(pair[0]), NameKey(pair[1]))
	}
	require.Empty(t, NameKey("!!!"))
	require.Empty(t, NameKey(""))
	require.Equal(t, "nv", NameKey("N.V."))
}

func TestNamesAreOnOneLine(t *testing.T) {
	require.Equal(t, "Jan Peeters", Name("  Jan \t\r\n Peeters\x00 "))
}

func TestALegalFormAtTheEndNeverChangesTheKey(t *testing.T) {
	forms := rapid.SampledFrom([]string{"nv", "bv", "srl", "gmbh", "ag", "ltd", "plc", "sas", "sarl", "vzw", "kg"})
	rapid.Check(t, func(t *rapid.T) {
		// Words of four letters or more that no legal form ends in.
		name := rapid.StringMatching(`[A-Z][b-df-hj-np]{3,8}x( [A-Z][b-df-hj-np]{3,8}x){0,2}`).Draw(t, "name")
		form := forms.Draw(t, "form")
		dotted := strings.Join(strings.Split(strings.ToUpper(form), ""), ".") + "."
		for _, written := range []string{name + " " + form, name + ", " + strings.ToUpper(form), name + " " + dotted, strings.ToUpper(name)} {
			require.Equal(t, NameKey(name), NameKey(written), written)
		}
	})
}

func requireStored(t *testing.T, once string, again string, err error) {
	t.Helper()
	require.NoError(t, err)
	require.Equal(t, once, again, "what is stored must be stored unchanged")
	require.True(t, utf8.ValidString(once))
}

func FuzzStoredForms(f *testing.F) {
	for _, s := range []string{"0470 12 34 56", "0032 2", "jan@bücher.example", "example.com:80/x", "be0123.456.789", "S.à r.l.", "\u00ad@ß.de", "//x.y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // what arrives has been through a JSON decoder
		}
		phone := Phone(s, "BE")
		requireStored(t, phone, Phone(phone, "BE"), nil)

		vat := VAT(s)
		requireStored(t, vat, VAT(vat), nil)
		VATKey(vat)

		name := Name(s)
		requireStored(t, name, Name(name), nil)
		require.Equal(t, NameKey(s), NameKey(strings.Repeat(" ", 3)+s+"."))

		if site, err := Website(s); err == nil {
			again, err := Website(site)
			requireStored(t, site, again, err)
			require.LessOrEqual(t, utf8.RuneCountInString(site), maxWebsite)
		}
		if country, err := Country(s); err == nil {
			again, err := Country(country)
			requireStored(t, country, again, err)
		}
	})
}

func TestMarksThatNobodySeesAreTakenOffAndJoinersStay(t *testing.T) {
	for typed, want := range map[string]string{"علی\u200cرضا": "علی\u200cرضا", "ශ\u0dca\u200dර\u0dd3": "ශ\u0dca\u200dර\u0dd3", "👨\u200d👩\u200d👧": "👨\u200d👩\u200d👧", "Jan\u200bPeeters": "JanPeeters",
		"\u200eJan\u200f": "Jan", "\ufeffJan \u2060Peeters": "Jan Peeters", "Jan\u200d": "Jan", "\u200c Jan \u200c": "Jan", "\u202aJan\u202c": "Jan"} {
		require.Equal(t, want, Name(typed), "%+q", typed)
	}
	for _, typed := range []string{"\u202a0470 12 34 56\u202c", "0470\u201112\u201334\u201356", "\u202d0470\u00a012\u202f34 56\u202c", "0470\u200b123456"} {
		require.Equal(t, "+32470123456", Phone(typed, "BE"), "%+q", typed)
	}
}
