package libs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// uses are the names that packages take from each other.
type uses struct {
	objects    map[types.Object]bool
	tested     map[string]map[string]bool // names that tests use, as they write them (db.Open) or without what stands before (.Pool), and their packages
	interfaces map[string][]*types.Interface
	types      []*types.Named // of the tree, without interfaces
}

// used reads who uses what in the tree.
func (all tree) used(tested map[string]map[string]bool) *uses {
	u := &uses{objects: map[types.Object]bool{}, tested: tested, interfaces: map[string][]*types.Interface{}}
	var queue []types.Object
	mark := func(o types.Object) {
		if o = origin(o); !u.objects[o] {
			u.objects[o] = true
			queue = append(queue, o)
		}
	}
	for _, p := range all {
		for _, o := range p.TypesInfo.Uses {
			if o.Pkg() != nil && o.Pkg() != p.Types {
				mark(o)
			}
		}
		// A literal without names sets all fields of its type.
		for e, tv := range p.TypesInfo.Types {
			lit, ok := e.(*ast.CompositeLit)
			if !ok || len(lit.Elts) == 0 {
				continue
			}
			if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); keyed {
				continue
			}
			if s, ok := tv.Type.Underlying().(*types.Struct); ok {
				for f := range s.Fields() {
					if f.Pkg() != p.Types {
						mark(f)
					}
				}
			}
		}
	}
	// Who uses a function uses the types that it takes and returns.
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		if _, is := o.(*types.TypeName); !is {
			mention(o.Type(), mark)
		}
	}
	u.findInterfaces(all)
	return u
}

// mention calls mark with the types that stand in one.
func mention(t types.Type, mark func(types.Object)) {
	switch t := t.(type) {
	case *types.Named:
		mark(t.Obj())
		for arg := range t.TypeArgs().Types() {
			mention(arg, mark)
		}
	case *types.Alias:
		mark(t.Obj())
	case *types.Pointer:
		mention(t.Elem(), mark)
	case *types.Slice:
		mention(t.Elem(), mark)
	case *types.Array:
		mention(t.Elem(), mark)
	case *types.Chan:
		mention(t.Elem(), mark)
	case *types.Map:
		mention(t.Key(), mark)
		mention(t.Elem(), mark)
	case *types.Signature:
		for v := range t.Params().Variables() {
			mention(v.Type(), mark)
		}
		for v := range t.Results().Variables() {
			mention(v.Type(), mark)
		}
		for p := range t.TypeParams().TypeParams() {
			mention(p.Constraint(), mark)
		}
	}
}

func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// findInterfaces notes the interfaces of the tree and of all that it imports, by the names of their methods.
func (u *uses) findInterfaces(all tree) {
	seen := map[*types.Package]bool{}
	add := func(t types.Type) {
		if i, ok := t.Underlying().(*types.Interface); ok {
			for m := range i.Methods() {
				u.interfaces[m.Name()] = append(u.interfaces[m.Name()], i)
			}
		}
	}
	var look func(p *types.Package)
	look = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, name := range p.Scope().Names() {
			if of, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
				add(of.Type())
			}
		}
		for _, imported := range p.Imports() {
			look(imported)
		}
	}
	for _, p := range all {
		look(p.Types)
		for _, name := range p.Types.Scope().Names() {
			if of, ok := p.Types.Scope().Lookup(name).Type().(*types.Named); ok && !types.IsInterface(of) && of.TypeParams().Len() == 0 {
				u.types = append(u.types, of)
			}
		}
		for e, tv := range p.TypesInfo.Types {
			if _, ok := e.(*ast.InterfaceType); ok {
				add(tv.Type)
			}
		}
	}
	for _, name := range []string{"Is", "As", "Unwrap"} { // of package errors, which asks for them without a name
		u.interfaces[name] = append(u.interfaces[name], types.NewInterfaceType(nil, nil))
	}
}

// satisfies reports whether a type needs a method for an interface.
func (u *uses) satisfies(t *types.Named, method string) bool {
	return slices.ContainsFunc(u.interfaces[method], func(i *types.Interface) bool {
		return t.TypeParams().Len() > 0 || types.Implements(t, i) || types.Implements(types.NewPointer(t), i)
	})
}

// implemented reports whether a type is an interface that a type of another package of the tree has.
func (u *uses) implemented(named *types.Named) bool {
	of, ok := named.Underlying().(*types.Interface)
	return ok && of.NumMethods() > 0 && slices.ContainsFunc(u.types, func(t *types.Named) bool {
		return t.Obj().Pkg() != named.Obj().Pkg() && (types.Implements(t, of) || types.Implements(types.NewPointer(t), of))
	})
}

// unused are the exported names of a package that no other package uses: functions, types, variables, constants, methods that no interface asks for,
// and fields without a tag.
func (u *uses) unused(p *packages.Package) (found []string) {
	said := func(o types.Object, name string, test string) {
		if !o.Exported() || u.objects[o] {
			return
		}
		for in := range u.tested[test] {
			if in != p.PkgPath {
				return
			}
		}
		found = append(found, fmt.Sprintf("%s: nobody else uses %s.%s: unexport it, or delete it", at(p, o.Pos()), p.Name, name))
	}
	for _, name := range p.Types.Scope().Names() {
		o := p.Types.Scope().Lookup(name)
		of, ok := o.(*types.TypeName)
		if !ok || of.IsAlias() {
			said(o, name, p.PkgPath+"."+name)
			continue
		}
		named := of.Type().(*types.Named)
		if !u.implemented(named) {
			said(o, name, p.PkgPath+"."+name)
		}
		for m := range named.Methods() {
			if !u.satisfies(named, m.Name()) {
				said(m, name+"."+m.Name(), "."+m.Name())
			}
		}
		if s, ok := named.Underlying().(*types.Struct); ok && of.Exported() {
			for i := range s.NumFields() {
				if f := s.Field(i); !f.Embedded() && reflect.StructTag(s.Tag(i)) == "" {
					said(f, name+"."+f.Name(), "."+f.Name())
				}
			}
		}
	}
	return found
}

var ofTemplate = regexp.MustCompile(`\.([A-Z]\w*)`)

// testUses are the names that the tests of all packages, and the templates, take from elsewhere, with the packages that do.
var testUses = sync.OnceValues(func() (map[string]map[string]bool, error) {
	found := map[string]map[string]bool{}
	add := func(name, in string) {
		if found[name] == nil {
			found[name] = map[string]bool{}
		}
		found[name][in] = true
	}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() != ".." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(file, ".html") {
			raw, err := os.ReadFile(file)
			for _, m := range ofTemplate.FindAllStringSubmatch(string(raw), -1) {
				add("."+m[1], "a template")
			}
			return err
		}
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		in := "frontdesk/" + strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../")
		imported := map[string]string{}
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			name := path[strings.LastIndex(path, "/")+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			imported[name] = path
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] != "" {
					add(imported[x.Name]+"."+n.Sel.Name, in)
				} else {
					add("."+n.Sel.Name, in)
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					add("."+key.Name, in)
				}
			}
			return true
		})
		return nil
	})
	return found, err
})

var treeUses = sync.OnceValues(func() (*uses, error) {
	all, err := load()
	if err != nil {
		return nil, err
	}
	tested, err := testUses()
	if err != nil {
		return nil, err
	}
	return all.used(tested), nil
})

func TestLibsExportOnlyWhatOthersUse(t *testing.T) {
	u, err := treeUses()
	require.NoError(t, err)
	for _, p := range loaded(t).below("frontdesk/libs/") {
		for _, wrong := range u.unused(p) {
			t.Error(wrong)
		}
	}
}
