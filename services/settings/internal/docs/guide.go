package docs

import (
	"bytes"
	"html/template"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"frontdesk/libs/version"
	"frontdesk/libs/web"
)

// guide is one of the guides for integrators. Its text is guide/<slug>.html.
type guide struct{ Slug, Title, About string }

// guides are all guides, in the order in which to read them.
var guides = []guide{
	{"first-call", "First call", "A key, a request, an answer."},
	{"keys-and-roles", "Keys and roles", "What a key may do, and when it ends."},
	{"paging-and-filters", "Paging and filters", "Lists, cursors, and following changes."},
	{"idempotency-and-versions", "Idempotency and versions", "The same call twice, and two people at one record."},
	{"rehearsals", "Rehearsals", "See what a call will do, let exactly that happen, and take work back."},
	{"errors", "Errors", "One shape for all, and which calls to send again."},
	{"limits", "Limits", "How often, how large, how long."},
	{"receiving-events", "Receiving events", "Webhooks, signatures, a test receiver, and samples in Go, Python and Node."},
	{"sdks", "TypeScript, Python and Go", "Packages with types, lists, attempts and signatures."},
	{"assistants", "Assistants", "The Model Context Protocol, abilities and consent."},
	{"wordpress", "WordPress and other websites", "A plugin with blocks, shortcodes and abilities; the widgets elsewhere."},
	{"n8n", "n8n", "Flows that start with an event, and actions for them."},
	{"changes", "Changes and the life of a version", "What may be added, and what never changes."},
}

// guidePage is one guide, with links to those before and after it.
func (p *Pages) guidePage(at int) web.Page {
	data := map[string]any{"Guide": guides[at], "Text": p.guideText(guides[at])}
	if at > 0 {
		data["Before"] = guides[at-1]
	}
	if at+1 < len(guides) {
		data["After"] = guides[at+1]
	}
	return web.Page{Title: guides[at].Title, Data: data}
}

// guideText is a guide as HTML, with the addresses of the installation.
func (p *Pages) guideText(g guide) template.HTML {
	var portal struct {
		Path string `json:"path"`
	}
	p.Read("portal", &portal)
	var b bytes.Buffer
	if err := p.guides.ExecuteTemplate(&b, g.Slug+".html", map[string]any{"Site": p.PublicURL, "Base": p.PublicURL + "/v1", "Portal": "/" + portal.Path, "Version": version.Number,
		"Go": p.sample("go/receive.go"), "Python": p.sample("receive.py"), "Node": p.sample("receive.mjs"), "SDK": p.sections()}); err != nil {
		panic(err) // it is compiled in
	}
	return template.HTML(b.String()) //nolint:gosec // our own text, with its values escaped
}

var tag = regexp.MustCompile(`<[^>]*>`)

// searchGuides are the guides that have all words of text; none for an empty text.
func (p *Pages) searchGuides(text string) (found []guide) {
	words := strings.Fields(strings.ToLower(text))
	for _, g := range guides {
		all := strings.ToLower(g.Title + " " + g.About + " " + tag.ReplaceAllString(string(p.guideText(g)), " "))
		if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
			found = append(found, g)
		}
	}
	return found
}

// snippet is lines of code in one language.
type snippet struct{ Language, Text string }

// sections are the parts of the samples for the SDKs by their names, each in every language. A line with § and a name begins one, and ends
// the one before it.
func (p *Pages) sections() map[string][]snippet {
	all := map[string][]snippet{}
	for _, of := range []struct{ language, file string }{{"TypeScript", "sdk/desk.ts"}, {"Python", "sdk/desk.py"}, {"Go", "sdk/desk.go"}} {
		var name, text string
		for line := range strings.Lines(p.sample(of.file)) {
			mark, marked := strings.CutPrefix(strings.TrimLeft(line, "\t/# "), "§")
			if !marked {
				text += line
				continue
			}
			if name != "" {
				all[name] = append(all[name], snippet{of.language, outdented(text)})
			}
			name, text = strings.TrimSpace(mark), ""
		}
	}
	return all
}

// outdented is text without the tab that each line of a function's body begins with.
func outdented(text string) string {
	if body, ok := strings.CutPrefix(strings.Trim(text, "\n"), "\t"); ok {
		return strings.ReplaceAll(body, "\n\t", "\n")
	}
	return strings.Trim(text, "\n")
}

// sample is code that make clients runs.
func (p *Pages) sample(name string) string {
	raw, err := fs.ReadFile(p.folder, "sample/"+name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(raw)
}
