package address

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// found are the addresses that Find finds, in order.
func found(text string) (all []string) {
	for _, f := range Find(text) {
		all = append(all, f.Address)
	}
	return all
}

func TestAddressesAreFoundWhereTheyStandInATextAndOnlyWhole(t *testing.T) {
	for text, want := range map[string][]string{
		"x@a.example":                                    {"x@a.example"},
		"Kind regards\nErika\nerika@x.be":                {"erika@x.be"},
		"Ann <x@a.example>, hello":                       {"x@a.example"},
		"mailto:x@a.example?subject=hi":                  {"x@a.example"},
		"see x@a.example. Bye":                           {"x@a.example"},
		"o'brien@x.ie":                                   {"o'brien@x.ie"},
		"write to d'hondt@x.be":                          {"d'hondt@x.be"},
		"'erika@x.be'":                                   {"'erika@x.be", "erika@x.be"},
		"email='erika@x.be'":                             {"email='erika@x.be", "'erika@x.be", "erika@x.be"},
		"jan@y.be, erika@x.be":                           {"jan@y.be", "erika@x.be"},
		"jan@y.be;erika@x.be":                            {"jan@y.be", "erika@x.be"},
		"jan@y.be/erika@x.be":                            {"jan@y.be", "y.be/erika@x.be", "erika@x.be"},
		"jan@y.be&erika@x.be":                            {"jan@y.be", "y.be&erika@x.be", "erika@x.be"},
		"@erika@x.be":                                    {"erika@x.be"},
		"a|erika@x.be|":                                  {"a|erika@x.be", "erika@x.be"},
		"email=x@a.example&y=1":                          {"email=x@a.example", "x@a.example"},
		"erika%40x.be":                                   {"erika@x.be"},
		"?email=erika%40x.be&b=1":                        {"?email=erika@x.be", "email=erika@x.be", "erika@x.be"},
		"o%27brien%40x.ie":                               {"o'brien@x.ie"},
		"?a=1+erika%40x.be":                              {"?a=1+erika@x.be", "a=1+erika@x.be", "1+erika@x.be", "erika@x.be"},
		"?to=https%3A%2F%2Fb.be%2F%3Fe%3Derika%2540x.be": {"//b.be/?e=erika@x.be", "/b.be/?e=erika@x.be", "b.be/?e=erika@x.be", "?e=erika@x.be", "e=erika@x.be", "erika@x.be"},
		"info@bücher.example":                            {"info@bücher.example"},
		"Info@BÜCHER.example":                            {"Info@bücher.example"},
		"...erika@x.be":                                  {"erika@x.be"},
		"éerika@x.be":                                    nil,
		"eri\u00adka@x\u200b.be, ja\u200dn.erika@x.be":   {"erika@x.be", "jan.erika@x.be"},
		"\u2068erika@x.be\u2069":                         {"erika@x.be"},
		"erika@x．be erika@x｡be":                          {"erika@x.be", "erika@x.be"},
		`"erika"@x.be`:                                   {"erika@x.be"},
		`{"a":"{\"b\":\"\nerika\u0040x.be`:               {"erika@x.be"},
		"erika+news@x.be":                                {"erika+news@x.be"},
		"erika+news@x\u00ad.be":                          {"erika+news@x.be"},
		"jan@localhost, 100%, a@b, @, x@":                nil,
		strings.Repeat("a", 65) + "@x.be":                nil,
		strings.Repeat("a", 64) + "@x.be":                {strings.Repeat("a", 64) + "@x.be"},
		"q=" + strings.Repeat("a", 63) + "@x.be":         {strings.Repeat("a", 63) + "@x.be"},
	} {
		require.Equal(t, want, found(text), text)
	}
}

// addresses are those that Parse takes, with fewer signs that may split them than find looks at.
var addresses = rapid.Custom(func(t *rapid.T) string {
	return rapid.StringMatching("[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}").Draw(t, "local") + "@" + rapid.StringMatching(`[a-zäö0-9-]{1,8}\.[a-z]{2,3}`).Draw(t, "domain")
}).Filter(func(typed string) bool {
	a, err := Parse(typed)
	local, _, _ := strings.Cut(typed, "@")
	return err == nil && a == typed && len(signs.FindAllString(local, -1)) < mostSplits
})

var signs = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// Whoever can be a contact is found, however a text around it or a link writes it.
func TestEachAddressThatIsTakenIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := addresses.Draw(t, "address")
		before := rapid.SampledFrom([]string{"", " ", "\n", "<", `"`, "(", "mailto:", ", ", "jan@y.be ", "é "}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", " ", "\n", ">", `"`, ")", ", x", "?subject=1", ". ", "'"}).Draw(t, "after")
		text := before + a + after
		require.Contains(t, found(text), a, text)
		for _, f := range Find(text) {
			if f.Address == a {
				require.Equal(t, []int{len(before), len(before) + len(a)}, []int{f.From, f.To}, text)
			}
		}
		link := "https://a.be/?e=" + url.QueryEscape(a) + "&b=1"
		require.Contains(t, found(link), a, link)
		require.Contains(t, found("https://a.be/?to="+url.QueryEscape(link)), a, link)
		at := rapid.IntRange(0, strings.Index(a, "@")).Draw(t, "at")
		marked := a[:at] + "\u00ad" + a[at:]
		require.Equal(t, found(a), found(marked), marked)
	})
}

// Whoever looks in a table for texts with an address, or with one of a person's, finds all of them.
func TestTheConditionsInSQLTakeEachTextInWhichAnAddressIsFound(t *testing.T) {
	inGo := func(condition string) *regexp.Regexp {
		return regexp.MustCompile(strings.TrimSuffix(strings.TrimPrefix(condition, " ~ '"), "'"))
	}
	mayHave, unplain := inGo(MayHaveSQL), inGo(UnplainSQL)
	rapid.Check(t, func(t *rapid.T) {
		text := addresses.Draw(t, "address")
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			i := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			before, c, after := text[:i], text[i:i+1], text[i+1:]
			text = rapid.SampledFrom([]string{
				before + c + "\u00ad" + after, before + fmt.Sprintf(`\u%04x`, c[0]) + after, before + fmt.Sprintf(`\%03o`, c[0]) + after, before + fmt.Sprintf("%%%02X", c[0]) + after,
				before + strings.ToUpper(c) + after, strings.ReplaceAll(text, ".", "．"), `"` + strings.ReplaceAll(text, "@", `"@`), "? " + text + ", ok", strings.ReplaceAll(text, "%", "%25"),
				strings.ReplaceAll(text, `\`, `\\`),
			}).Draw(t, "changed")
		}
		for _, a := range found(text) {
			local, _, _ := strings.Cut(Key(a), "@")
			require.True(t, mayHave.MatchString(text), text)
			require.True(t, unplain.MatchString(text) || strings.Contains(strings.ToLower(text), local+"@"), "%s in %s", a, text)
		}
	})
}

func TestNoTextCostsMoreThanItsLength(t *testing.T) {
	for _, c := range []string{"=", "'", "@", "a@", "%40", "a@b.be=", "{'"} {
		text := strings.Repeat(c, 40_000/len(c)) + "@a.be"
		begun := time.Now()
		all := Find(text)
		require.Less(t, time.Since(begun), 5*time.Second, c)
		require.LessOrEqual(t, len(all), (mostSplits+1)*strings.Count(text, "@")*3, c)
	}
	require.LessOrEqual(t, len(Find(strings.Repeat("=", 10_000)+"@a.be")), mostSplits+1)
}
