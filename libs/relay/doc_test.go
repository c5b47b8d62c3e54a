package relay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePageOfTheRelayDrawsItsStatesAndNamesItsFiles(t *testing.T) {
	raw, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	machine, err := parser.ParseFile(token.NewFileSet(), "machine.go", nil, 0)
	require.NoError(t, err)
	var states, drawn []string
	ast.Inspect(machine, func(n ast.Node) bool {
		if c, ok := n.(*ast.ValueSpec); ok {
			if of, ok := c.Type.(*ast.Ident); ok && of.Name == "state" {
				name, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				states = append(states, name)
			}
		}
		return true
	})
	for _, box := range regexp.MustCompile(`│ ([a-z]+) +│`).FindAllStringSubmatch(string(raw), -1) {
		drawn = append(drawn, box[1])
	}
	require.Len(t, states, 5)
	require.ElementsMatch(t, states, drawn)
	files := regexp.MustCompile(`\b[a-z_]+\.go\b`).FindAllString(string(raw), -1)
	require.NotEmpty(t, files)
	for _, name := range files {
		require.FileExists(t, name, "doc.go names it")
	}
}
