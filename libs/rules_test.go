package libs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is a parsed Go file of the tree.
type source struct {
	path string // from the root
	test bool
	*ast.File
	*token.FileSet
}

// parsed are the Go files of the product and their tests, without what is generated.
var parsed = sync.OnceValues(func() (all []source, err error) {
	for _, dir := range []string{"services", "libs", "proto", "gateway"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".pb.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			path = strings.TrimPrefix(filepath.ToSlash(path), "../")
			all = append(all, source{path, strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "libs/app/apptest/"), f, files})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
})

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// name is what an expression like db.Tx or x.y.Scan ends with, and what stands before it where that is a plain name.
func name(e ast.Expr) (of, name string) {
	switch e := e.(type) {
	case *ast.Ident:
		return "", e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name, e.Sel.Name
		}
		return "", e.Sel.Name
	}
	return "", ""
}

// text is the value of a string literal; ok is false for every other expression.
func text(n ast.Node) (s string, ok bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

var manyPlaceholders = regexp.MustCompile(`\$(9|[1-9][0-9])\b`)

func TestSQLIsReadAndWrittenByName(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if s, ok := text(n); ok {
				if manyPlaceholders.MatchString(s) {
					t.Errorf("%s: more than eight arguments by position: name them with pgx.NamedArgs", f.Position(n.Pos()))
				}
				if strings.Contains(s, "hashtextextended") {
					t.Errorf("%s: hashtextextended: take a named lock with tx.Lock, or db.LockKey where SQL takes it", f.Position(n.Pos()))
				}
			}
			if call, ok := n.(*ast.CallExpr); ok {
				if _, name := name(call.Fun); name == "Scan" && len(call.Args) > 8 {
					t.Errorf("%s: Scan into %d targets: read a struct with pgx.RowToStructByName", f.Position(n.Pos()), len(call.Args))
				}
			}
			if e, ok := n.(*ast.SelectorExpr); ok {
				if of, name := name(e); of == "pgx" && (name == "RowToStructByPos" || name == "RowToAddrOfStructByPos") {
					t.Errorf("%s: %s depends on the order of columns: use pgx.RowToStructByName and db tags", f.Position(n.Pos()), name)
				}
			}
			return true
		})
	}
}

func TestKindsOfEventsAreNamedByTheirConstants(t *testing.T) {
	kinds := map[string]string{}
	constants, err := parser.ParseFile(token.NewFileSet(), "../proto/kinds.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(constants, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if kind, ok := text(spec.Values[0]); ok {
				kinds[kind] = spec.Names[0].Name
			}
		}
		return true
	})
	require.NotEmpty(t, kinds)
	// Words that mean other things as well.
	delete(kinds, "mail")
	delete(kinds, "audit")
	for _, f := range sources(t) {
		if strings.HasPrefix(f.path, "proto/") {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if s, ok := text(n); ok && kinds[s] != "" {
				t.Errorf("%s: %q: write proto.%s", f.Position(n.Pos()), s, kinds[s])
			}
			return true
		})
	}
}

func TestNoDecisionDependsOnTheTextOfAnError(t *testing.T) {
	ofError := func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return false
		}
		_, name := name(call.Fun)
		return name == "Error" && len(call.Args) == 0
	}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			matched := false
			switch n := n.(type) {
			case *ast.CallExpr:
				of, name := name(n.Fun)
				matched = (of == "strings" || strings.HasPrefix(name, "Match") || strings.HasPrefix(name, "Find")) && slices.ContainsFunc(n.Args, ofError)
			case *ast.BinaryExpr:
				matched = (n.Op == token.EQL || n.Op == token.NEQ) && (ofError(n.X) || ofError(n.Y))
			}
			if matched {
				t.Errorf("%s: matches the text of an error: use errors.Is, errors.AsType or a typed error", f.Position(n.Pos()))
			}
			return true
		})
	}
}

func TestTheProductHasNoTestCode(t *testing.T) {
	for _, f := range sources(t) {
		for _, imp := range f.Imports {
			if path := strings.Trim(imp.Path.Value, `"`); !f.test && path == "net/http/httptest" {
				t.Errorf("%s imports %s: write the few methods of http.ResponseWriter, or move the code to a test", f.path, path)
			}
		}
	}
}
