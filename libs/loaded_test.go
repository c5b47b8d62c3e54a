package libs

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// tree are the packages of the product with their types, without tests: what the rules that follow a name across packages read.
type tree []*packages.Package

// load reads the tree once for all rules. Types of other modules come from what the compiler has kept of them.
var load = sync.OnceValues(func() (tree, error) {
	all, err := packages.Load(&packages.Config{Dir: "..", Fset: token.NewFileSet(), Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
		packages.NeedImports | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile},
		"./services/...", "./libs/...", "./proto/...", "./deploy/...", "./gateway/...")
	if err != nil {
		return nil, err
	}
	var wrong []error
	all = slices.DeleteFunc(all, func(p *packages.Package) bool { return len(p.GoFiles) == 0 }) // tests only
	for _, p := range all {
		for _, e := range p.Errors {
			wrong = append(wrong, e)
		}
	}
	slices.SortFunc(all, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	return all, errors.Join(wrong...)
})

func loaded(t *testing.T) tree {
	t.Helper()
	all, err := load()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// below are the packages whose path is one of these, or begins with one that ends with a slash.
func (all tree) below(paths ...string) (found tree) {
	for _, p := range all {
		if slices.ContainsFunc(paths, func(of string) bool {
			return p.PkgPath == of || strings.HasSuffix(of, "/") && strings.HasPrefix(p.PkgPath, of)
		}) {
			found = append(found, p)
		}
	}
	return found
}

// forTests reports whether a package is what several packages' tests have in common.
func forTests(p *packages.Package) bool { return p.Imports["testing"] != nil }

// at is a place in the source, from the root of the project.
func at(p *packages.Package, pos token.Pos) string { return place(p, p.Fset.Position(pos)) }

func place(p *packages.Package, pos token.Position) string {
	return fmt.Sprintf("%s:%d", path.Join(strings.TrimPrefix(p.PkgPath, "frontdesk/"), path.Base(pos.Filename)), pos.Line)
}

// plant makes packages of source texts, by their path, for tests of the rules. They may import each other in this order, the standard library, and the
// packages of the tree.
func plant(t *testing.T, files ...[2]string) (planted tree) {
	t.Helper()
	known := imports{}
	for _, p := range loaded(t) {
		known[p.PkgPath] = p.Types
		for _, imported := range p.Types.Imports() {
			if known[imported.Path()] == nil {
				known[imported.Path()] = imported
			}
		}
	}
	fset := token.NewFileSet()
	for _, f := range files {
		pkg, name := path.Split(f[0])
		pkg = strings.TrimSuffix(pkg, "/")
		file, err := parser.ParseFile(fset, f[0], f[1], parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		p := &packages.Package{PkgPath: pkg, Name: file.Name.Name, Fset: fset, Syntax: []*ast.File{file}, GoFiles: []string{name}, Imports: map[string]*packages.Package{}, TypesInfo: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}, Implicits: map[ast.Node]types.Object{}, Scopes: map[ast.Node]*types.Scope{},
		}}
		for _, imported := range file.Imports {
			p.Imports[strings.Trim(imported.Path.Value, `"`)] = &packages.Package{}
		}
		p.Types, err = (&types.Config{Importer: known}).Check(pkg, fset, p.Syntax, p.TypesInfo)
		require.NoError(t, err)
		known[pkg] = p.Types
		planted = append(planted, p)
	}
	return planted
}

// imports are types by the path of their package.
type imports map[string]*types.Package

func (i imports) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("nobody in the tree imports %s", path)
}
