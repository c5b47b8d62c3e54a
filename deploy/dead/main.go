// Command dead names functions of ours that no program and no test calls, and those of libs that only tests call, and ends with 1 if there are any.
// It finds them as deadcode of golang.org/x/tools does, both from one reading of all sources:
//
//	dead -tags traefik,squawk PACKAGE...
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph/rta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

var (
	// marks are methods that mark a type.
	marks = regexp.MustCompile(` None\.noBody$`)
	// forTests is what tests of other packages call.
	forTests = regexp.MustCompile(`^libs/(answer|app/apptest|db/dbtest|caldavtest|oidctest|relay/relaytest|until|freeport)/| (Apps\.Set|Cluster\.Port|Server\.Log)$`)
)

func main() {
	log.SetFlags(0)
	tags := flag.String("tags", "", "build tags, separated by commas")
	flag.Parse()
	initial, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Tests: true, BuildFlags: []string{"-tags=" + *tags}}, flag.Args()...)
	if err != nil {
		log.Fatal(err)
	}
	if packages.PrintErrors(initial) > 0 {
		os.Exit(1)
	}
	program, built := ssautil.AllPackages(initial, ssa.InstantiateGenerics)
	program.Build()
	var all, programs []*ssa.Function
	for i, p := range built {
		if p.Pkg.Name() != "main" {
			continue
		}
		roots := []*ssa.Function{p.Func("init"), p.Func("main")}
		all = append(all, roots...)
		// Neither a test's program nor a program as its own tests see it.
		if path := initial[i].PkgPath; initial[i].ID == path && !strings.HasSuffix(path, ".test") {
			programs = append(programs, roots...)
		}
	}
	declared := functions(initial, program)
	dead := slices.DeleteFunc(unreached(declared, all), marks.MatchString)
	onlyTests := slices.DeleteFunc(unreached(declared, programs), func(name string) bool {
		return !strings.HasPrefix(name, "libs/") || strings.Contains(name, "_test.go:") || marks.MatchString(name) || forTests.MatchString(name) || slices.Contains(dead, name)
	})
	say("nobody calls:", dead)
	say("only tests call:", onlyTests)
	if len(dead)+len(onlyTests) > 0 {
		os.Exit(1)
	}
}

func say(what string, names []string) {
	if len(names) > 0 {
		fmt.Println(what + "\n" + strings.Join(names, "\n"))
	}
}

// functions are those that our packages declare, without files that are generated.
func functions(initial []*packages.Package, program *ssa.Program) (all []*ssa.Function) {
	for _, p := range initial {
		for _, file := range p.Syntax {
			if ast.IsGenerated(file) {
				continue
			}
			for _, d := range file.Decls {
				if d, ok := d.(*ast.FuncDecl); ok {
					all = append(all, program.FuncValue(p.TypesInfo.Defs[d.Name].(*types.Func)))
				}
			}
		}
	}
	return all
}

// unreached are the places and names of functions that nothing leads to from the roots. A package that has tests is there twice: a function is
// reached if one of the two is, so places are compared.
func unreached(declared, roots []*ssa.Function) (names []string) {
	place := func(f *ssa.Function) token.Position { return f.Prog.Fset.Position(f.Pos()) }
	reached := map[token.Position]bool{}
	for f := range rta.Analyze(roots, false).Reachable {
		reached[place(f)] = true
	}
	here, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range declared {
		at := place(f)
		if reached[at] || f.Name() == "init" {
			continue
		}
		file, err := filepath.Rel(here, at.Filename)
		if err != nil {
			log.Fatal(err)
		}
		names = append(names, fmt.Sprintf("%s:%d: %s", file, at.Line, strings.NewReplacer("(*", "", "(", "", ")", "").Replace(f.RelString(f.Pkg.Pkg))))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
