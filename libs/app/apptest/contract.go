package apptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/op"
	"frontdesk/libs/openapi"
	"frontdesk/proto"
)

// contract is the description of a service, against which answers are held.
type contract struct {
	routers.Router
	mu      sync.Mutex
	schemas *jsonschema.Compiler
}

// contracts keeps each description, since writing and reading one takes some 40 ms of every start: by its text, and that of a whole service
// whose knobs are those of all tests by its name.
var contracts sync.Map

func contractOf(t testing.TB, set *op.Set, usual bool) *contract {
	t.Helper()
	if known, ok := contracts.Load(set.Service); ok && usual {
		return known.(*contract)
	}
	doc := documentText(t, set)
	if known, ok := contracts.Load(string(doc)); ok {
		return known.(*contract)
	}
	router, err := gorillamux.NewRouter(document(t, doc))
	require.NoError(t, err)
	c := &contract{Router: router, schemas: jsonschema.NewCompiler()}
	c.schemas.AssertFormat()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(t, err)
	require.NoError(t, c.schemas.AddResource(descriptionURL, parsed))
	contracts.Store(string(doc), c)
	if usual {
		contracts.Store(set.Service, c)
	}
	return c
}

// manifests keeps the manifest of each whole service whose knobs are those of all tests, which takes a quarter of a start.
var manifests sync.Map

func manifestOf(set *op.Set) (*proto.Manifest, error) {
	known, ok := manifests.Load(set.Service)
	if !ok {
		made, err := openapi.Manifest(set)
		if err != nil {
			return nil, err
		}
		known, _ = manifests.LoadOrStore(set.Service, made)
	}
	return protobuf.CloneOf(known.(*proto.Manifest)), nil
}

const descriptionURL = "https://service.test/openapi.json"

// holds says where a JSON body of an answer differs from its description. kin-openapi compiles the schema of the answer for each body, which
// took an eighth of the processor time of all tests of services; the compiler here keeps those it has compiled.
func (c *contract) holds(route *routers.Route, status int, body []byte) error {
	code, described := fmt.Sprint(status), route.Operation.Responses.Status(status)
	if described == nil {
		code, described = "default", route.Operation.Responses.Default()
	}
	if described == nil {
		return fmt.Errorf("no answer is described for %d", status)
	}
	at := described.Ref
	if at == "" {
		at = "#/paths/" + escaped(route.Path) + "/" + strings.ToLower(route.Method) + "/responses/" + code
	}
	return c.fits(strings.TrimPrefix(at, "#")+"/content/application~1json/schema", body)
}

// fits says where a JSON text differs from the schema at a place of the description.
func (c *contract) fits(at string, text []byte) error {
	c.mu.Lock()
	schema, err := c.schemas.Compile(descriptionURL + "#" + at)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// escaped is one token of a JSON pointer in the fragment of a URL.
func escaped(token string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
}

// documentText is the description of a service as a document of its own.
func documentText(t testing.TB, set *op.Set) []byte {
	t.Helper()
	part := openapi.Describe(set)
	doc, err := json.Marshal(map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "service", "version": "1.0.0"},
		"servers": []any{map[string]any{"url": "/v1"}}, "paths": part.Paths, "components": part.Components})
	require.NoError(t, err)
	return doc
}

func document(t testing.TB, text []byte) *openapi3.T {
	t.Helper()
	parsed, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	return parsed
}
