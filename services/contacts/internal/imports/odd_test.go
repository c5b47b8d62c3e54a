package imports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/services/contacts/contactstest"
)

// odd are files as people make them, with what becomes of their rows: first and last name, address, number, tags, and values of custom fields.
var odd = []struct {
	name, text string
	failed     int
	people     []string
}{
	{"quoted line ends between semicolons, and numbers in brackets", "Voornaam;Naam;E-mail;GSM;Text\r\n\"Jan\";\"Peeters\";jan@example.com;(0470) 12 34 56;\"Kerkstraat 1\r\n9000 Gent; België\"\r\nAn;Maes;an@example.com;+32 (0)9 123 45 67;\r\n", 0,
		[]string{"Jan|Peeters|jan@example.com|+32470123456|[]|text:Kerkstraat 1 9000 Gent; België", "An|Maes|an@example.com|+32 9 123 45 67|[]|"}},
	{"a title and an empty row over the names, and a sum below", "Ledenlijst 2026;;;\n;;;\nVoornaam;Naam;E-mail;Nummer\nJan;P;jan@example.com;1\nAn;M;an@example.com;2\n;;;\n;;;2 leden\n", 1,
		[]string{"Jan|P|jan@example.com||[]|", "An|M|an@example.com||[]|"}},
	{"the same name over several columns", "Email,Email,Phone,Phone,First name,First name,Tags,Tags\n,a@example.com,,0470 12 34 56,,Ann,VIP,\"Gent;VIP\"\nb@example.com,b2@example.com,09 123 45 67,0470 12 34 57,Bo,Bob,,\n", 0,
		[]string{"Ann||a@example.com|+32470123456|[VIP Gent]|", "Bob||b@example.com|+3291234567|[]|"}},
	{"three hundred columns", strings.Repeat("x,", 298) + "first name,email\n" + strings.Repeat("1,", 298) + "Ann,ann@example.com\n" + strings.Repeat(",", 298) + "Bo,\n" + "short\n", 1,
		[]string{"Ann||ann@example.com||[]|", "Bo||||[]|"}},
	{"a row of a megabyte", "first name,email,text\nAnn,ann@example.com," + strings.Repeat("long ", 200_000) + "\nBo,bo@example.com,short\n" + strings.Repeat("n", 1_000_000) + ",cas@example.com,\n", 0,
		[]string{"Ann||ann@example.com||[]|", "Bo||bo@example.com||[]|text:short", "||cas@example.com||[]|"}},
	{"bytes that no cell holds", "\ufeff\ufefffirst name,email,text\r\nAnn,ann@example.com,\ufeffx\x01y\r\nBo\u200b,\u202abo@example.com\u202c,\u00a0\r\n\u00a0,\u200b,\u3000\r\n\x02,\x03,\ufeff\r\n", 1,
		[]string{"Ann||ann@example.com||[]|text:xy", "Bo||bo@example.com||[]|"}},
	{"days in every spelling", "first name;day\nA;31.12.1999\nB;1999-12-31T00:00\nC;36525\nD;31-12-99\nE;12/31/1999\nF;1/2/2000\nG;31/12/1999 00:00:00\nH;1999.12.31\nI;31 déc. 1999\nJ;31. Dezember 1999\nK;Dec 31, 1999\nL;36525.5\nM;yesterday\nN;00.00.0000\nO;29.02.1999\nP;19991231\nQ;1999-12-31 00:00:00.000\nR;Fri 31 Dec 1999\nS;vrijdag 31 december 1999\nT;\"Freitag, 31. Dezember 1999\"\nU;mar 31 déc. 1999\n", 0,
		[]string{"A|||||day:1999-12-31", "B|||||day:1999-12-31", "C|||||day:1999-12-31", "D|||||day:1999-12-31", "E|||||day:1999-12-31", "F|||||day:2000-02-01", "G|||||day:1999-12-31",
			"H|||||day:1999-12-31", "I|||||day:1999-12-31", "J|||||day:1999-12-31", "K|||||day:1999-12-31", "L|||||day:1999-12-31", "M|||||", "N|||||", "O|||||", "P|||||day:1999-12-31", "Q|||||day:1999-12-31", "R|||||day:1999-12-31", "S|||||day:1999-12-31", "T|||||day:1999-12-31", "U|||||day:1999-12-31"}},
	{"numbers in every spelling", "first name;number\nA;1.234,56\nB;1 234,56\nC;1\u00a0234,56\nD;1'234.56\nE;€ 1.234,56\nF;1234,56 EUR\nG;-1.234,56\nH;1,234,567.5\nI;12,5\nJ;1.234\nK;1,234\nL;0,125\nM;1.2.3\nN;12 %\nO;(5)\nP;1e3\nQ;٣\nR;1234.56-\n", 0,
		[]string{"A|||||number:1234.56", "B|||||number:1234.56", "C|||||number:1234.56", "D|||||number:1234.56", "E|||||number:1234.56", "F|||||number:1234.56", "G|||||number:-1234.56", "H|||||number:1.2345675e+06",
			"I|||||number:12.5", "J|||||number:1234", "K|||||", "L|||||number:0.125", "M|||||", "N|||||", "O|||||", "P|||||number:1000", "Q|||||", "R|||||"}},
	{"yes and no in German, and tags between semicolons and bars", "Vorname;Tick;Schlagworte\nA;WAHR;\"VIP;Gent\"\nB;falsch;VIP|Gent| neu \nC;Ja;\"\"\"Blog, news\"\";VIP\"\nD;nein;VIP, vip , VIP\nE;x;#vip\nF;Wahr;;\nG;0;-\n", 0,
		[]string{"A||||[VIP Gent]|tick:true", "B||||[VIP Gent neu]|tick:false", "C||||[Blog, news VIP]|tick:true", "D||||[VIP]|tick:false", "E||||[#vip]|tick:true", "F||||[]|tick:true", "G||||[-]|tick:false"}},
	{"joiners and emoji in names", "first name,last name,email\nعلی\u200cرضا,ر,ali@example.com\n👨\u200d👩\u200d👧 Familie,Peeters,fam@example.com\nශ්\u200dරී,,sri@example.com\nZoe\u0301,M\u00fcller,zoe@example.com\n🏳\ufe0f\u200d🌈,,flag@example.com\n", 0,
		[]string{"علی\u200cرضا|ر|ali@example.com||[]|", "👨\u200d👩\u200d👧 Familie|Peeters|fam@example.com||[]|", "ශ්\u200dරී||sri@example.com||[]|", "Zoé|Müller|zoe@example.com||[]|", "🏳\ufe0f\u200d🌈||flag@example.com||[]|"}},
	{"line ends of an old Mac and tabs", "Prénom\tNom\tCourriel\tTél\rJean\t\"Le \"\"Grand\"\"\"\tjean@example.com\t=\"0470 12 34 56\"\rLuc\tD'Hondt\tluc@example.com\t'0470123457\r", 0,
		[]string{"Jean|Le \"Grand\"|jean@example.com|+32470123456|[]|", "Luc|D'Hondt|luc@example.com|+32470123457|[]|"}},
	{"several addresses and numbers in a cell", "first name,email,phone\nA,\"a@example.com; a2@example.com\",0470 12 34 56 / 09 123 45 67\nB,\"b@example.com, b2@example.com\",\"0470 12 34 57, 09 123 45 68\"\nC,Cas Vos <c@example.com>,tel:+32470123458\nD,mailto:d@example.com,0032 470 12 34 59\nE,e@example.com / e2@example.com,0470-12-34-60 (privé)\nF,F@Example.com.,3.24701E+10\n", 0,
		[]string{"A||a@example.com|+32470123456|[]|", "B||b@example.com|+32470123457|[]|", "C||c@example.com|+32470123458|[]|", "D||d@example.com|+32 470 12 34 59|[]|", "E||e@example.com|0470-12-34-60 (privé)|[]|", "F||F@example.com||[]|"}},
	{"quotes of every kind", "first name;email;text\n\"De Linde\" vzw;a@example.com;5\" hak\nBo;b@example.com;\"6\" hak\nCas;c@example.com;\nDea;d@example.com;\"zij zei \"\"ja\"\"\"\nEva;e@example.com;'t is goed\n„Fee“;f@example.com;«x»\n", 0,
		[]string{"\"De Linde\" vzw||a@example.com||[]|text:5\" hak", "Bo||b@example.com||[]|text:\"6\" hak", "Cas||c@example.com||[]|", "Dea||d@example.com||[]|text:zij zei \"ja\"", "Eva||e@example.com||[]|text:'t is goed", "„Fee“||f@example.com||[]|text:«x»"}},
}

func TestOddFilesLoseNobody(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.SetSite("general", object{"country": "BE"})
	for _, file := range odd {
		t.Run(file.name, func(t *testing.T) {
			contactstest.Afresh(t, s)
			admin := s.As("svc_admin")
			for label, kind := range map[string]string{"Text": "text", "Day": "date", "Number": "number", "Tick": "checkbox"} {
				admin.Post("/fields", object{"entity": "contact", "type": kind, "label": label}).Is(201)
			}
			a := imported(t, s, admin, file.text)
			summed(t, a)
			require.EqualValues(t, file.failed, a.Field("totals.failed"), a.Field("errors"))
			var got []string
			for _, c := range admin.Get("/contacts?per_page=50").Is(200).Items() {
				tags, values := fmt.Sprint(c["tags"]), ""
				for key, v := range c["fields"].(map[string]any) {
					values = key + ":" + strings.Join(strings.Fields(fmt.Sprint(v)), " ")
				}
				line := fmt.Sprintf("%s|%s|%s|%s|%s|%s", c["first_name"], c["last_name"], c["email"], c["phone"], tags, values)
				got = append(got, strings.Replace(line, "||||[]|", "|||||", 1))
			}
			want := make([]string, len(file.people))
			for i, line := range file.people {
				want[i] = strings.Replace(line, "||||[]|", "|||||", 1)
			}
			require.ElementsMatch(t, want, got, a.Field("errors"))
		})
	}
}
