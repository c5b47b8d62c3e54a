package web

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/lang"
)

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// Every folder of texts in the tree has the same keys with the same placeholders in each language.
func TestEveryLanguageSaysEverything(t *testing.T) {
	var folders []string
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && path != "../.." && (e.Name() == "node_modules" || strings.HasPrefix(e.Name(), ".")) {
			return filepath.SkipDir
		}
		if e.Name() == "en.json" && filepath.Base(filepath.Dir(path)) == "text" {
			folders = append(folders, filepath.Dir(path))
		}
		return err
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(folders), 2)
	for _, folder := range folders {
		english := readLanguage(t, folder, "en")
		for _, l := range lang.Languages[1:] {
			other := readLanguage(t, folder, l)
			require.Equal(t, slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(other)), "%s/%s.json", folder, l)
			for key, text := range english {
				require.Equal(t, placeholders(text), placeholders(other[key]), "%s/%s.json: %s", folder, l, key)
				require.NotEmpty(t, other[key], "%s/%s.json: %s", folder, l, key)
				require.Equal(t, strings.Count(text, ",") > 5, strings.Count(other[key], ",") > 5, "%s/%s.json: %s is a list", folder, l, key)
			}
		}
	}
}

// typed is what people type and printers do not set: a straight apostrophe, and in French a space at which a line breaks before a sign.
var typed = map[string]*regexp.Regexp{"nl": regexp.MustCompile(`\pL'\pL`), "de": regexp.MustCompile(`\pL'\pL`), "fr": regexp.MustCompile(`\pL'[\pL{]| [:;?!»]|« `)}

func TestSignsAreAsPrintersSetThem(t *testing.T) {
	var files int
	require.NoError(t, filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && path != "../.." && (e.Name() == "node_modules" || strings.HasPrefix(e.Name(), ".")) {
			return filepath.SkipDir
		}
		language, isJSON := strings.CutSuffix(e.Name(), ".json")
		if err != nil || !isJSON || typed[language] == nil {
			return err
		}
		files++
		for key, text := range readLanguage(t, filepath.Dir(path), language) {
			require.NotRegexp(t, typed[language], text, "%s: %s", path, key)
		}
		return nil
	}))
	require.Greater(t, files, 60)
}

func readLanguage(t *testing.T, folder, language string) (out map[string]string) {
	raw, err := os.ReadFile(filepath.Join(folder, language+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

func placeholders(s string) []string {
	return slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(s, -1))))
}

func site(t *testing.T, documents map[string]string) Site {
	zone, err := time.LoadLocation("Europe/Brussels")
	require.NoError(t, err)
	return Site{Zone: zone, PublicURL: "http://localhost:8080", On: func(string) bool { return true }, API: http.NotFoundHandler(),
		Read: func(key string, v any) {
			if doc := documents[key]; doc != "" {
				_ = json.Unmarshal([]byte(doc), v)
			}
		}}
}

func TestAPageIsInTheLanguageThatItsReaderPrefers(t *testing.T) {
	u := New("test", site(t, nil), fstest.MapFS{})
	for header, want := range map[string]string{"": "en", "nl-BE,nl;q=0.9,en;q=0.8": "nl", "fr-CH": "fr", "de-AT;q=0.7,es": "de", "ja": "en", ";;;": "en"} {
		r := httptest.NewRequest("GET", "/x", nil)
		r.Header.Set("Accept-Language", header)
		require.Equal(t, want, u.Reader(r).Language, header)
	}
	r := httptest.NewRequest("GET", "/x?lang=fr", nil)
	r.Header.Set("Accept-Language", "nl")
	require.Equal(t, "fr", u.Reader(r).Language)
	require.Equal(t, "fr", u.Reader(r).Chosen)
}

func TestAPageHasAStrictPolicyAndNoCookie(t *testing.T) {
	u := New("test", site(t, map[string]string{"general": `{"business":{"name":"Bakery <b>"}}`}), fstest.MapFS{})
	w := httptest.NewRecorder()
	u.NotFound(w, httptest.NewRequest("GET", "/x", nil))
	require.Equal(t, 404, w.Code)
	require.Equal(t, "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		w.Header().Get("Content-Security-Policy"))
	require.Empty(t, w.Header().Get("Set-Cookie"))
	require.Contains(t, w.Body.String(), "Bakery &lt;b&gt;")
	require.NotContains(t, w.Body.String(), "style=")
	require.NotContains(t, w.Body.String(), "<style")
}

func TestAssetsAreKeptForEverWhenTheirAddressNamesTheirContent(t *testing.T) {
	folder := fstest.MapFS{"dist/x.js": {Data: []byte("1")}, "dist/chunk-ABCD1234.js": {Data: []byte("2")}}
	u := New("test", site(t, nil), folder)
	get := func(address string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		u.Assets().ServeHTTP(w, httptest.NewRequest("GET", address, nil))
		return w
	}
	require.Contains(t, get(u.Asset("x.js")).Header().Get("Cache-Control"), "immutable")
	require.Contains(t, get("/_ui/test/chunk-ABCD1234.js").Header().Get("Cache-Control"), "immutable")
	require.Contains(t, get("/_ui/test/x.js").Header().Get("Cache-Control"), "max-age=300")
	require.Contains(t, get("/_ui/test/x.js?v=old").Header().Get("Cache-Control"), "max-age=300")
	require.Equal(t, 200, get("/_ui/test/card.css").Code)
	fonts := New("test", site(t, nil), fstest.MapFS{"dist/font/inter.woff2": {Data: []byte("font")}})
	sheet := httptest.NewRecorder()
	fonts.Assets().ServeHTTP(sheet, httptest.NewRequest("GET", "/_ui/test/page.css", nil))
	require.Contains(t, fonts.Asset("font/inter.woff2"), "?v=")
	require.Contains(t, sheet.Body.String(), strings.TrimPrefix(fonts.Asset("font/inter.woff2"), "/_ui/test/"), "the font that is preloaded is the one that is used")
	require.Equal(t, 404, get("/_ui/test/nothing.js").Code)
	require.Equal(t, 404, get("/_ui/test/.gitkeep").Code)
}

func TestAnAssetThatTheBuildCompressedIsSentSoToBrowsersThatTakeIt(t *testing.T) {
	u := New("test", site(t, nil), fstest.MapFS{"dist/x.js": {Data: []byte("plain")}, "dist/x.js.br": {Data: []byte("small")}, "dist/y.js": {Data: []byte("only")}})
	for accepts, body := range map[string]string{"gzip, deflate, br, zstd": "small", "BR;q=0.5": "small", "br;q=1.0": "small", "": "plain", "gzip": "plain", "br;q=0": "plain", "br;q=0.0": "plain", "brr": "plain"} {
		r := httptest.NewRequest("GET", "/_ui/test/x.js", nil)
		r.Header.Set("Accept-Encoding", accepts)
		w := httptest.NewRecorder()
		u.Assets().ServeHTTP(w, r)
		require.Equal(t, body, w.Body.String(), accepts)
		require.Equal(t, body == "small", w.Header().Get("Content-Encoding") == "br", accepts)
		require.Equal(t, "Accept-Encoding", w.Header().Get("Vary"))
		require.Equal(t, "text/javascript; charset=utf-8", w.Header().Get("Content-Type"))
		require.Equal(t, body == "small", strings.HasSuffix(w.Header().Get("ETag"), `-br"`), accepts)
		require.True(t, strings.HasPrefix(w.Header().Get("ETag"), `W/"`), "the gateway compresses what the build did not, under the same ETag")
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/_ui/test/y.js", nil)
	r.Header.Set("Accept-Encoding", "br")
	u.Assets().ServeHTTP(w, r)
	require.Equal(t, "only", w.Body.String())
	require.Empty(t, w.Header().Get("Content-Encoding"))
}

func TestTheFormStyleBecomesASheetThatCannotBeBrokenOutOf(t *testing.T) {
	u := New("test", site(t, map[string]string{"form-style": `{"font":"svc:lora","size":18,"button_background":"#ffe08a","color":"red;}","button_icon":"check-circle","container":"plain","label_weight":650}`}), fstest.MapFS{})
	l := u.Look(nil)
	require.Equal(t, "18px", l.Vars["--svc-size"])
	require.Equal(t, "#ffe08a", l.Vars["--svc-button-background"])
	require.Equal(t, "#000000", l.Vars["--svc-button-text"], "text on a light button is dark")
	require.NotContains(t, l.Vars, "--svc-color")
	require.NotContains(t, l.Vars, "--svc-label-weight")
	require.Equal(t, "light", l.Scheme)
	require.True(t, l.Plain)
	require.Contains(t, l.Icon, "<svg")
	require.Contains(t, l.Vars["--svc-font"], "svc-lora")
	require.NotContains(t, l.css(), "red;}")

	dark := u.Look(map[string]any{"background": "#101010", "size": 12.0, "font": "theme:body"})
	require.Equal(t, "dark", dark.Scheme)
	require.Equal(t, "12px", dark.Vars["--svc-size"])
	require.Contains(t, dark.Vars["--svc-font"], "--wp--preset--font-family--body")
	require.Equal(t, "background=%23101010&font=theme%3Abody&size=12", dark.Query())
}

func TestDatesAndPricesFollowTheCountry(t *testing.T) {
	read := func(lang, country string) *Reader {
		u := New("test", site(t, map[string]string{"general": `{"country":"` + country + `"}`}), fstest.MapFS{})
		return u.Reader(httptest.NewRequest("GET", "/?lang="+lang, nil))
	}
	at := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	require.Equal(t, "Sunday 1 March 2026", read("en", "").Date(at))
	require.Equal(t, "zondag 1 maart 2026", read("nl", "BE").Date(at))
	require.Equal(t, "dimanche 1er mars 2026", read("fr", "BE").Date(at))
	require.Equal(t, "Sonntag, 1. März 2026", read("de", "DE").Date(at))
	require.Equal(t, "13:30", read("de", "DE").Clock(at))
	require.Equal(t, "€1,250.50", read("en", "").Price("1250.5", "EUR"))
	require.Equal(t, "€\u00a01.250,50", read("nl", "BE").Price("1250.50", "EUR"))
	require.Equal(t, "45\u00a0€", read("fr", "FR").Price("45", "EUR"))
	require.Equal(t, "€20", read("en", "").Price("20.00", "EUR"))
	require.Equal(t, "CHF\u00a01’250.50", read("de", "CH").Price("1250.5", "CHF"))
	require.Equal(t, "de-CH", read("de", "CH").Locale())
	require.Equal(t, "nl-NL", read("nl", "FR").Locale())
	require.Equal(t, "1 h 30 min", read("en", "").Duration(90))
}

func TestAPageForEverybodySaysWhatItIsToThoseWhoDoNotReadIt(t *testing.T) {
	documents := map[string]string{"general": `{"business":{"name":"Salon </script>","phone":"+3291234567","email":"hello@example.com","address_line":"Lindelaan 1","postal_code":"9000","city":"Gent"},"country":"BE"}`}
	u := New("test", site(t, documents), fstest.MapFS{"page/hello.html": {Data: []byte(`{{define "main"}}Hello{{end}}`)}})
	place := u.Place()
	place.Hours = Openings(map[string][][2]string{"7": {{"20:00", "24:00"}}, "1": {{"09:00", "12:00"}, {"13:00", "17:30"}}})
	place.Action = &Action{"ReserveAction", "http://localhost:8080/team/book"}
	w := httptest.NewRecorder()
	u.Render(w, httptest.NewRequest("GET", "/x", nil), 200, "hello", Page{Title: "Hello", Canonical: "http://localhost:8080/x", Description: `Say "hello"`, About: place,
		Alternate: func(language string) string { return "/x?lang=" + language }})
	body := w.Body.String()
	for _, want := range []string{`<link rel="canonical" href="http://localhost:8080/x">`, `<meta name="description" content="Say &#34;hello&#34;">`,
		`<meta property="og:title" content="Hello">`, `<meta property="og:locale" content="en_`, `<link rel="alternate" hreflang="nl" href="http://localhost:8080/x?lang=nl">`} {
		require.Contains(t, body, want)
	}
	_, after, _ := strings.Cut(body, `<script type="application/ld+json">`)
	data, _, _ := strings.Cut(after, "</script>")
	var about map[string]any
	require.NoError(t, json.Unmarshal([]byte(data), &about), data)
	require.Equal(t, "LocalBusiness", about["@type"])
	require.Equal(t, "Salon </script>", about["name"])
	require.Equal(t, map[string]any{"@type": "PostalAddress", "streetAddress": "Lindelaan 1", "postalCode": "9000", "addressLocality": "Gent", "addressCountry": "BE"}, about["address"])
	hours := func(day, opens, closes string) any {
		return map[string]any{"@type": "OpeningHoursSpecification", "dayOfWeek": day, "opens": opens, "closes": closes}
	}
	require.Equal(t, []any{hours("Monday", "09:00", "12:00"), hours("Monday", "13:00", "17:30"), hours("Sunday", "20:00", "23:59")}, about["openingHoursSpecification"])
	require.Equal(t, map[string]any{"@type": "ReserveAction", "target": "http://localhost:8080/team/book"}, about["potentialAction"])

	w = httptest.NewRecorder()
	u.NotFound(w, httptest.NewRequest("GET", "/x", nil))
	require.NotContains(t, w.Body.String(), "og:title")
	require.NotContains(t, w.Body.String(), "ld+json")
}

func TestWhatNoPageTakesIsToldApart(t *testing.T) {
	u := New("test", site(t, nil), fstest.MapFS{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /a/page", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /a/page", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /a/form", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /b/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != "1" {
			u.NotFound(w, r)
		}
	})
	mux.HandleFunc("/", u.Elsewhere(mux))
	for _, c := range []struct {
		method, path string
		status       int
		header, is   string
	}{
		{"DELETE", "/a/page", 405, "Allow", "GET, HEAD, POST"},
		{"GET", "/a/page/?x=1", 308, "Location", "/a/page?x=1"},
		{"POST", "/a/page/", 308, "Location", "/a/page"},
		{"POST", "/a/form/", 308, "Location", "/a/form"},
		{"HEAD", "/b/1/", 308, "Location", "/b/1"},
		{"GET", "/b/2/", 404, "Location", ""},
		{"GET", "/nowhere/", 404, "Location", ""},
		{"DELETE", "/nowhere", 404, "Allow", ""},
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		require.Equal(t, c.status, w.Code, "%s %s", c.method, c.path)
		require.Equal(t, c.is, w.Header().Get(c.header), "%s %s", c.method, c.path)
	}
}

func TestNoFolderOfAssetsIsListed(t *testing.T) {
	u := New("test", site(t, nil), fstest.MapFS{"dist/font/inter.woff2": {Data: []byte("font")}})
	for path, status := range map[string]int{"/_ui/test/font/inter.woff2": 200, "/_ui/test/": 404, "/_ui/test/font": 404, "/_ui/test/font/": 404} {
		w := httptest.NewRecorder()
		u.Assets().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		require.Equal(t, status, w.Code, path)
	}
}

func TestTheSheetOfTheFormStyleIsNotSentAgainWhileItIsTheSame(t *testing.T) {
	documents := map[string]string{"form-style": `{"size":18}`}
	u := New("test", site(t, documents), fstest.MapFS{})
	get := func(seen string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/_ui/test/style.css?size=20", nil)
		r.Header.Set("If-None-Match", seen)
		w := httptest.NewRecorder()
		u.Assets().ServeHTTP(w, r)
		return w
	}
	first := get("")
	require.Equal(t, 200, first.Code)
	require.Equal(t, 304, get(first.Header().Get("ETag")).Code)
	documents["form-style"] = `{"color":"#101010"}`
	require.Equal(t, 200, get(first.Header().Get("ETag")).Code)
}

// Browsers before light-dark() drop a declaration that has it: page.css has each of them once more, in the light colour.
func TestEveryColourHasALightOneForOlderBrowsers(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("css/" + name)
		require.NoError(t, err)
		return string(text)
	}
	page := read("page.css")
	block := regexp.MustCompile(`(?s)@supports not \(color: light-dark[^{]*\{(.*?)\n\}`)
	var instead string
	for _, b := range block.FindAllStringSubmatch(page, -1) {
		instead += b[1]
	}
	rules := func(css string) (all [][3]string) {
		css = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(css, "")
		for _, rule := range regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`).FindAllStringSubmatch(css, -1) {
			for _, line := range strings.Split(rule[2], ";") {
				if name, value, ok := strings.Cut(line, ":"); ok {
					all = append(all, [3]string{strings.TrimSpace(rule[1]), strings.TrimSpace(name), strings.TrimSpace(value)})
				}
			}
		}
		return all
	}
	found := rules(instead)
	checked := 0
	for _, rule := range rules(read("card.css") + block.ReplaceAllString(page, "")) {
		selector, name, value := rule[0], rule[1], rule[2]
		if !strings.Contains(value, "light-dark(") {
			continue
		}
		if strings.HasPrefix(value, "var(--accent-text") {
			name = "--accent-text" // the sheet for older browsers sets it, so that the second value does not count
		}
		checked++
		require.True(t, slices.ContainsFunc(found, func(f [3]string) bool { return f[1] == name && (f[0] == selector || name == "--accent-text") }), "%s { %s: %s }", selector, name, value)
	}
	require.Greater(t, checked, 12)
}
