package libs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"

	"frontdesk/libs/lang"
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
			all = append(all, source{path, strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test"), f, files})
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

// literal is the value of a string literal; ok is false for every other expression.
func literal(n ast.Node) (s string, ok bool) {
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
			if s, ok := literal(n); ok {
				if manyPlaceholders.MatchString(s) {
					t.Errorf("%s: more than eight arguments by position: name them with db.Args", f.Position(n.Pos()))
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
				} else if of == "pgx" && name == "NamedArgs" && f.path != "libs/db/args.go" {
					t.Errorf("%s: pgx.NamedArgs reads the statement at each call, and makes null of a name without a value: use db.Args", f.Position(n.Pos()))
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
			if kind, ok := literal(spec.Values[0]); ok {
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
		if strings.HasPrefix(f.path, "proto/") || strings.Contains(f.path, "/web/sample/") { // which integrators read
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if s, ok := literal(n); ok && kinds[s] != "" {
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

// services are the names of the five.
func services(t *testing.T) (names []string) {
	t.Helper()
	dirs, err := os.ReadDir("../services")
	require.NoError(t, err)
	for _, d := range dirs {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	require.Len(t, names, 5)
	return names
}

func TestReadmesOfServicesAnswerTheSameQuestions(t *testing.T) {
	for _, service := range services(t) {
		raw, err := os.ReadFile("../services/" + service + "/README.md")
		require.NoError(t, err)
		at, readme := 0, string(raw)
		for _, part := range []string{"# " + service + "\n", "| Owns |", "| Publishes |", "| Consumes |", "| Copies |", "| Forgets |",
			"\n## Where things are\n", "\n## Run it alone\n", "\n## Change it\n"} {
			i := strings.Index(readme[at:], part)
			if i < 0 {
				t.Errorf("services/%s/README.md: %q is missing or stands in another place", service, strings.TrimSpace(part))
				continue
			}
			at += i
		}
		for _, line := range lists(roomsOf(t, service).composition())["Floors"] {
			room, _, _ := strings.Cut(line, ":")
			if !strings.Contains(readme, "`internal/"+room+"`") {
				t.Errorf("services/%s/README.md: Where things are leaves out the floor `internal/%s`", service, room)
			}
		}
	}
}

// verbs begin the descriptions of operations.
var verbs = strings.Fields(`Accept Add Agree Answer Approve Archive Book Cancel Change Check Choose Close Complete Confirm Create Decline Delete Dismiss Download End
	Erase Export Find Follow Forget Get Give Invite Link List Mail Make Mark Merge Move Open Process Prove Read Refuse Remember Remove Replace Request Reschedule Resend Restore Revoke
	Run Save Say Send Set Show Sign Start Submit Subscribe Sum Switch Take Test Turn Undo Unlink Unsubscribe Update Upload Withdraw Write`)

// operations are the literals of type op.Op of all services, each with its fields.
func operations(t *testing.T) (all []operation) {
	t.Helper()
	for _, p := range loaded(t).below("frontdesk/services/") {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok || p.TypesInfo.TypeOf(lit).String() != "frontdesk/libs/op.Op" {
					return true
				}
				o := operation{at(p, lit.Pos()), map[string]ast.Expr{}, p}
				for _, e := range lit.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						o.fields[fmt.Sprint(kv.Key)] = kv.Value
					}
				}
				all = append(all, o)
				return true
			})
		}
	}
	require.Greater(t, len(all), 100)
	return all
}

type operation struct {
	at     string
	fields map[string]ast.Expr
	pkg    *packages.Package
}

// text is the value of a field, "" if it has none.
func (o operation) text(field string) string {
	if e := o.fields[field]; e != nil {
		if v := constantText(o.pkg, e); v != nil {
			return constant.StringVal(v)
		}
	}
	return ""
}

func TestOperationsAreDescribedBySentencesThatBeginWithAVerb(t *testing.T) {
	for _, o := range operations(t) {
		doc := o.text("Doc")
		if first, _, _ := strings.Cut(doc, " "); !slices.Contains(verbs, first) || !strings.HasSuffix(doc, ".") {
			t.Errorf("%s: %q: begin with a verb in the imperative (a new one goes into verbs) and end with a full stop", o.at, doc)
		}
	}
}

func TestEachAbilityIsSaidInEveryLanguageOfThePeopleWhoConsent(t *testing.T) {
	var want []string
	for _, o := range operations(t) {
		_, perm := name(o.fields["Perm"])
		if name := cmp.Or(o.text("Ability"), o.text("ID")); o.text("Route") != "" && name != "-" && perm != "Public" && !slices.Contains(want, name) {
			want = append(want, name)
		}
	}
	require.Greater(t, len(want), 100)
	for _, language := range lang.Languages[1:] {
		raw, err := os.ReadFile("../services/settings/internal/settings/web/ability/" + language + ".json")
		require.NoError(t, err)
		var have map[string]string
		require.NoError(t, json.Unmarshal(raw, &have))
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(have)), language)
		for name, does := range have {
			require.Regexp(t, `^\p{Lu}.*\.$`, does, "%s %s", language, name)
		}
	}
	// The portal names them too, in the audit log and where assistants are given them. It holds its languages to English itself.
	raw, err := os.ReadFile("../services/settings/internal/portal/web/src/settings/text/en.json")
	require.NoError(t, err)
	var texts map[string]string
	require.NoError(t, json.Unmarshal(raw, &texts))
	for _, name := range want {
		require.Contains(t, texts, "settings.action."+name, "the portal has no name for it")
	}
}

// jitter are the packages whose random numbers are no secrets: waits, ports, and spread of work.
var jitter = []string{"libs/db", "libs/freeport", "libs/op"}

func TestSecretsComeFromTheSystem(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || slices.Contains(jitter, filepath.Dir(f.path)) {
			continue
		}
		for _, i := range f.Imports {
			require.NotContains(t, i.Path.Value, "math/rand", "%s: random numbers of secrets come from crypto/rand", f.path)
		}
	}
}
