package libs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// constants are the values of the string constants of a file of proto/ whose names match.
func constants(t *testing.T, file, names string) (values []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "proto", file), nil, 0)
	require.NoError(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !regexp.MustCompile(names).MatchString(spec.Names[0].Name) {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			value, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			values = append(values, value)
		}
		return true
	})
	require.NotEmpty(t, values)
	return values
}

func TestTheFlowsNameWhatExists(t *testing.T) {
	text, err := os.ReadFile("../services/FLOWS.md")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	kinds, topics := constants(t, "kinds.go", "^Kind"), constants(t, "topics.go", "Topic$")

	t.Run("every kind and topic is named", func(t *testing.T) {
		for _, name := range append(kinds, topics...) {
			assert.True(t, named[name], "services/FLOWS.md leaves %s out", name)
		}
	})
	t.Run("every name exists", func(t *testing.T) {
		known := map[string]bool{"app_off": true}
		for _, name := range append(kinds, topics...) {
			known[name] = true
		}
		for name := range named {
			switch service, file, _ := strings.Cut(name, "/"); {
			case strings.HasPrefix(name, "GET "):
			case file != "":
				internal := filepath.Join("../services", service, "internal")
				there := slices.ContainsFunc([]string{filepath.Join(internal, service, file), filepath.Join(internal, file), filepath.Join("..", name)}, func(path string) bool {
					_, err := os.Stat(path)
					return err == nil
				})
				assert.True(t, there, "services/FLOWS.md names the file %s, which does not exist", name)
			default:
				assert.True(t, known[name], "services/FLOWS.md names %s, which is neither a kind nor a topic of proto/", name)
			}
		}
	})
}
