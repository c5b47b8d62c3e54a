package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheReferenceIsSearchedByAllWords(t *testing.T) {
	all, err := readReference([]byte(`{"tags": [{"name": "Stamps", "description": "What goes on letters."}],
		"paths": {"/stamps/{id}": {"get": {"operationId": "get-stamp", "summary": "Get stamp", "description": "Get one.", "tags": ["Stamps"],
			"parameters": [{"$ref": "#/components/parameters/cursor"}, {"name": "id", "in": "path", "required": true, "description": "The id."}],
			"responses": {"200": {"content": {"application/json": {"example": {"id": 7}}}}, "404": {"$ref": "#/components/responses/NotFound"}}}},
			"/stamps": {"post": {"operationId": "create-stamp", "summary": "Create stamp", "description": "Make one.", "tags": ["Stamps"]}}},
		"components": {"parameters": {"cursor": {"name": "cursor", "in": "query", "description": "Where to go on."}},
			"responses": {"NotFound": {"x-codes": [{"code": "svc_not_found", "when": "There is no such stamp."}]}}}}`))
	require.NoError(t, err)
	require.Len(t, all.search("")[0].Operations, 2)
	require.Equal(t, "get-stamp", all.search("STAMP get")[0].Operations[0].ID)
	require.Empty(t, all.search("stamp letterbox"))
	o := all.find("get-stamp")
	require.Equal(t, []line{{"cursor", "query", "Where to go on."}, {"id", "path, required", "The id."}}, o.Inputs())
	require.Equal(t, []line{{"svc_not_found", "404", "There is no such stamp."}}, o.Refusals())
	require.JSONEq(t, `{"id": 7}`, o.Answer())
	require.Nil(t, all.find("sell-stamp"))
}

func TestTheReferenceIsReadOnceForEachDocument(t *testing.T) {
	document := []byte(`{"tags": [{"name": "Stamps"}]}`)
	p := &Pages{document: func() ([]byte, error) { return document, nil }}
	first, err := p.reference()
	require.NoError(t, err)
	again, err := p.reference()
	require.NoError(t, err)
	require.Same(t, first, again)
	document = []byte(`{"tags": [{"name": "Letters"}]}`)
	next, err := p.reference()
	require.NoError(t, err)
	require.Equal(t, "Letters", next.Tags[0].Name)
}

func TestAGuideShowsItsLinesInEachLanguage(t *testing.T) {
	folder := "../settings/web"
	sections := (&Pages{folder: os.DirFS(folder)}).sections()
	guides, err := filepath.Glob(folder + "/guide/*.html")
	require.NoError(t, err)
	shown := map[string]bool{}
	for _, file := range guides {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, use := range regexp.MustCompile(`"lines.html" \.SDK\.(\w+)`).FindAllStringSubmatch(string(text), -1) {
			shown[use[1]] = true
			require.Len(t, sections[use[1]], 3, "%s in %s", use[1], file)
		}
	}
	require.Len(t, shown, len(sections), "each section is shown")
	require.Equal(t, snippet{"Go", "event, err := frontdesk.Verify(secret, header, body)\nif err != nil {\n\tlog.Fatal(err) // the signature is wrong\n}\n" +
		"fmt.Println(event.ID, event.Event, string(event.Data))"}, sections["verify"][2])
}
