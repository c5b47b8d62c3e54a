package docs

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"text/template"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"golang.org/x/net/html"

	"frontdesk/libs/web"
)

// toMarkdown makes CommonMark of a page, without what only a person at a browser can use.
var toMarkdown = newConverter()

func newConverter() *converter.Converter {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin()))
	for _, tag := range []string{"form", "nav", "dialog"} {
		c.Register.TagType(tag, converter.TagTypeRemove, converter.PriorityStandard)
	}
	c.Register.PreRenderer(func(_ converter.Context, page *html.Node) {
		for n := range page.Descendants() {
			for i, a := range n.Attr {
				if a.Key == "href" {
					n.Attr[i].Val = asMarkdown(a.Val)
				}
			}
		}
	}, converter.PriorityStandard)
	// CommonMark has no lists of terms.
	surround := func(tag, before, behind string) {
		c.Register.RendererFor(tag, converter.TagTypeBlock, func(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
			_, _ = w.WriteString(before)
			ctx.RenderChildNodes(ctx, w, n)
			_, _ = w.WriteString(behind)
			return converter.RenderSuccess
		}, converter.PriorityStandard)
	}
	surround("dt", "\n- ", "")
	surround("dd", ": ", "")
	surround("dl", "\n\n", "\n\n")
	return c
}

// markdown answers with a page as Markdown, its links with scheme and host.
func (p *Pages) markdown(w http.ResponseWriter, r *http.Request, name string, page web.Page) {
	main, err := p.Main(r, name, page)
	var text []byte
	if err == nil {
		text, err = toMarkdown.ConvertReader(main, converter.WithDomain(p.PublicURL))
	}
	if err != nil {
		slog.ErrorContext(r.Context(), "page cannot be written as Markdown", "page", name, "error", err)
		http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}
	answerText(w, "text/markdown", append(text, '\n'))
}

// index is llms.txt as https://llmstxt.org describes it.
var index = template.Must(template.New("llms.txt").Parse(`# {{.Name}}

> The API of this installation: contacts, organizations, appointments, forms and webhooks. One REST gateway, JSON, Basic authentication with an
> application password, and the Model Context Protocol for assistants.

## Guides
{{range .Guides}}
- [{{.Title}}]({{$.Docs}}/guides/{{.Slug}}.md): {{.About}}{{end}}

## Documents

- [OpenAPI]({{.Server}}/openapi.json): every operation with its schemas and examples
- [AsyncAPI]({{.Server}}/asyncapi.json): what webhooks send
- [Reference]({{.Docs}}/reference.md): the operations by subject
{{range .Sections}}
## {{.Name}}
{{range .Operations}}
- [{{.Summary}}]({{$.Docs}}/reference/{{.ID}}.md): {{.Method}} {{.Path}}{{end}}
{{end}}`))

func (p *Pages) showIndex(w http.ResponseWriter, all *reference) {
	var b bytes.Buffer
	if err := index.Execute(&b, map[string]any{"Name": p.Business().Name, "Guides": guides, "Docs": p.PublicURL + Path, "Server": p.PublicURL + "/v1", "Sections": all.Tags}); err != nil {
		panic(err) // it is compiled in
	}
	answerText(w, "text/plain", b.Bytes())
}

func answerText(w http.ResponseWriter, kind string, text []byte) {
	h := w.Header()
	h.Set("Content-Type", kind+"; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	_, _ = w.Write(text)
}

// asMarkdown is where what stands at an address of the pages stands for machines.
func asMarkdown(address string) string {
	switch {
	case address == Path:
		return Path + "/llms.txt"
	case strings.HasPrefix(address, Path+"/"):
		return address + ".md"
	}
	return address
}
