package libs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"

	"frontdesk/libs/db"
)

// rooms are the packages of one service and its migrations.
type rooms struct {
	service    string
	packages   tree
	migrations []string // the texts, in order
}

func roomsOf(t *testing.T, service string) rooms {
	t.Helper()
	r := rooms{service: service, packages: loaded(t).below("frontdesk/services/" + service + "/internal/")}
	require.NotEmpty(t, r.packages)
	files, err := filepath.Glob(filepath.Join("../services", service, "internal", service, "migrations", "*.sql"))
	require.NoError(t, err)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		r.migrations = append(r.migrations, string(raw))
	}
	return r
}

// room is the name of a package by its path below the service's internal.
func (r rooms) room(p *packages.Package) string {
	return strings.TrimPrefix(p.PkgPath, "frontdesk/services/"+r.service+"/internal/")
}

// owners are the rooms by the tables that they hold: the keys of their literals of type map[string]app.Holds.
func (r rooms) owners() map[string]string {
	owners := map[string]string{}
	for _, p := range r.packages {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.CompositeLit); ok && p.TypesInfo.TypeOf(lit).String() == "map[string]frontdesk/libs/app.Holds" {
					for _, e := range lit.Elts {
						if key := constantText(p, e.(*ast.KeyValueExpr).Key); key != nil {
							owners[constant.StringVal(key)] = r.room(p)
						}
					}
				}
				return true
			})
		}
	}
	return owners
}

// used is a table that a package writes or reads, and where. A read is lent if it stands in a constant of another package.
type used struct {
	room, table, at string
	writes, lent    bool
}

// uses are the tables that the packages write and read, by their SQL and by what they tell libs. wrong are the places where a statement
// writes a table whose name nobody can see.
func (r rooms) uses() (all []used, wrong []string) {
	for _, p := range r.packages {
		if forTests(p) {
			continue
		}
		for _, x := range texts(p) {
			if first := strings.TrimSpace(x.said); first == "" || 'A' <= first[0] && first[0] <= 'Z' {
				continue // a sentence
			}
			for _, a := range accesses(x.said) {
				switch {
				case !strings.Contains(a.table, hole):
					all = append(all, used{r.room(p), a.table, x.at(p, a.at), a.writes, x.part(a.at).lent})
				case a.table != hole:
					if a.writes {
						wrong = append(wrong, x.at(p, a.at)+": the name of the table that is written is put together: write it out")
					}
				default:
					values, known := r.values(p, x.expr(a.at), 4)
					if a.writes && !known {
						wrong = append(wrong, x.at(p, a.at)+": nobody can see which table is written: write its name out, or give it as a constant")
					}
					for _, v := range values {
						all = append(all, used{r.room(v.Package), v.text, at(v.Package, v.pos), a.writes, false})
					}
				}
			}
		}
		all = append(all, r.told(p)...)
	}
	return all, wrong
}

// told are the tables that a package names to libs: what these write (app.Rows, app.Sealed, CopyFrom), and read (a parameter table).
func (r rooms) told(p *packages.Package) (all []used) {
	add := func(e ast.Expr, writes bool) {
		if v := constantText(p, e); v != nil {
			all = append(all, used{r.room(p), constant.StringVal(v), at(p, e.Pos()), writes, false})
		}
	}
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				of := strings.TrimPrefix(p.TypesInfo.TypeOf(n).String(), "frontdesk/libs/app.")
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); !ok {
						if of == "github.com/jackc/pgx/v5.Identifier" { // CopyFrom
							add(e, true)
						}
					} else if _, field := name(kv.Key); field == "Table" && (of == "Sealed" || strings.HasPrefix(of, "Rows[")) {
						add(kv.Value, true)
					}
				}
			case *ast.CallExpr:
				f, ok := object(p, n.Fun).(*types.Func)
				if !ok {
					return true
				}
				for i, arg := range n.Args {
					if params := f.Signature().Params(); i < params.Len() && params.At(i).Name() == "table" && strings.HasPrefix(f.FullName(), "(*frontdesk/libs/") {
						add(arg, false)
					}
				}
			}
			return true
		})
	}
	return all
}

// value is a text that a variable may have, and where it stands.
type value struct {
	*packages.Package
	text string
	pos  token.Pos
}

// values are the texts that an expression may be: a constant, a variable that is only given constants, or a parameter that is only passed some.
// known is false if there may be others.
func (r rooms) values(p *packages.Package, e ast.Expr, deep int) (all []value, known bool) {
	if v := constantText(p, e); v != nil {
		return []value{{p, constant.StringVal(v), e.Pos()}}, true
	}
	variable, ok := object(p, e).(*types.Var)
	if !ok || deep == 0 {
		return nil, false
	}
	known = true
	from := func(in *packages.Package, e ast.Expr) {
		values, k := r.values(in, e, deep-1)
		all, known = append(all, values...), known && k
	}
	for _, in := range r.packages {
		is := func(e ast.Expr) bool {
			id, ok := e.(*ast.Ident)
			return ok && (in.TypesInfo.Defs[id] == variable || in.TypesInfo.Uses[id] == variable)
		}
		for _, file := range in.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for i, to := range n.Lhs {
						if is(to) && len(n.Lhs) == len(n.Rhs) {
							from(in, n.Rhs[i])
						} else if is(to) {
							known = false
						}
					}
				case *ast.ValueSpec:
					for i, to := range n.Names {
						if is(to) && i < len(n.Values) {
							from(in, n.Values[i])
						}
					}
				case *ast.KeyValueExpr:
					if is(n.Key) && variable.IsField() {
						from(in, n.Value)
					}
				case *ast.RangeStmt:
					lit, literal := n.X.(*ast.CompositeLit)
					for i, to := range []ast.Expr{n.Key, n.Value} {
						if to == nil || !is(to) {
							continue
						}
						if !literal {
							known = false
							continue
						}
						for _, e := range lit.Elts {
							if kv, ok := e.(*ast.KeyValueExpr); ok {
								e = []ast.Expr{kv.Key, kv.Value}[i]
							}
							from(in, e)
						}
					}
				case *ast.CallExpr:
					f, ok := object(in, n.Fun).(*types.Func)
					for i := range n.Args {
						if ok && i < f.Signature().Params().Len() && f.Signature().Params().At(i) == variable {
							from(in, n.Args[i])
						}
					}
				}
				return true
			})
		}
	}
	return all, known && len(all) > 0
}

// reads is what the comment of a package says about tables of other rooms that it reads: a paragraph "Reads: contact, organization."
func reads(p *packages.Package) (tables []string) {
	for _, file := range p.Syntax {
		for paragraph := range strings.SplitSeq(file.Doc.Text(), "\n\n") {
			if list, ok := strings.CutPrefix(paragraph, "Reads: "); ok {
				list, _, _ = strings.Cut(strings.ReplaceAll(list, "\n", " "), ".")
				for table := range strings.SplitSeq(list, ",") {
					tables = append(tables, strings.TrimSpace(table))
				}
			}
		}
	}
	return tables
}

// foreign are the writes of tables of other rooms, the reads of them that the reader does not tell, and what it tells and does not read.
func (r rooms) foreign() []string {
	owners := r.owners()
	all, wrong := r.uses()
	told := map[string]map[string]bool{} // by room and table, whether it is read
	for _, p := range r.packages {
		told[r.room(p)] = map[string]bool{}
		for _, table := range reads(p) {
			told[r.room(p)][table] = false
			if owner := owners[table]; owner == "" || owner == r.room(p) {
				wrong = append(wrong, fmt.Sprintf("%s: Reads: %s, which %s", at(p, p.Syntax[0].Package), table, map[bool]string{true: "is no table of another room", false: "no room holds"}[owner != ""]))
			}
		}
	}
	for _, u := range all {
		owner := owners[u.table]
		_, allowed := told[u.room][u.table]
		switch {
		case owner == u.room || slices.Contains(db.Tables, u.table):
		case u.writes && owner == "":
			wrong = append(wrong, fmt.Sprintf("%s: writes %s, which no room holds", u.at, u.table))
		case u.writes:
			wrong = append(wrong, fmt.Sprintf("%s: writes %s, which is %s's: call that room with the transaction", u.at, u.table, owner))
		case owner != "" && !allowed && !u.lent: // who lends a text says what it reads
			wrong = append(wrong, fmt.Sprintf("%s: reads %s, which is %s's: say so in doc.go (Reads: %s.)", u.at, u.table, owner, u.table))
		case owner != "" && allowed:
			told[u.room][u.table] = true
		}
	}
	for _, room := range slices.Sorted(maps.Keys(told)) {
		for _, table := range slices.Sorted(maps.Keys(told[room])) {
			if !told[room][table] && owners[table] != "" && owners[table] != room {
				wrong = append(wrong, fmt.Sprintf("services/%s/internal/%s/doc.go: Reads: %s, which nothing there reads", r.service, room, table))
			}
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// effect is a table that the database writes itself when another one is written.
type effect struct{ written, by, how string }

// effects are the cascades and triggers that all migrations leave.
func (r rooms) effects() []effect {
	type trigger struct{ table, function string }
	cascades, triggers, functions := map[string][]effect{}, map[string]trigger{}, map[string][]word{}
	for _, migration := range r.migrations {
		up, _, _ := strings.Cut(migration, "-- +goose Down")
		all := split(up)
		w := func(i int) string {
			if i < len(all) {
				return all[i].string
			}
			return ""
		}
		for i := 0; i < len(all); i++ {
			begin := i
			for i < len(all) && w(i) != ";" {
				i++
			}
			statement := all[begin:i]
			is := func(names ...string) (rest []word, ok bool) {
				rest = statement
				for _, n := range names {
					optional := strings.TrimPrefix(n, "?")
					if len(rest) > 0 && rest[0].string == optional {
						rest = rest[1:]
					} else if optional == n {
						return nil, false
					}
				}
				return rest, len(rest) > 0
			}
			if rest, ok := is("create", "table", "?if", "?not", "?exists"); ok {
				cascades[rest[0].string] = append(cascades[rest[0].string], references(rest[0].string, rest)...)
			} else if rest, ok := is("alter", "table", "?if", "?exists", "?only"); ok {
				cascades[rest[0].string] = append(cascades[rest[0].string], references(rest[0].string, rest)...)
			} else if rest, ok := is("drop", "table", "?if", "?exists"); ok {
				delete(cascades, rest[0].string)
				maps.DeleteFunc(triggers, func(_ string, t trigger) bool { return t.table == rest[0].string })
			} else if rest, ok := is("create", "?or", "?replace", "function"); ok {
				functions[rest[0].string] = rest[1:]
			} else if rest, ok := is("drop", "trigger", "?if", "?exists"); ok && len(rest) > 2 {
				delete(triggers, rest[0].string+" on "+rest[2].string)
			} else if rest, ok := is("create", "?or", "?replace", "?constraint", "trigger"); ok {
				t := trigger{}
				for j := range rest[:len(rest)-1] {
					switch rest[j].string {
					case "on":
						t.table = cmp.Or(t.table, rest[j+1].string)
					case "function", "procedure":
						t.function = rest[j+1].string
					}
				}
				triggers[rest[0].string+" on "+t.table] = t
			}
		}
	}
	found := map[effect]bool{}
	for _, some := range cascades {
		for _, e := range some {
			found[e] = true
		}
	}
	var written func(function string, deep int) []string
	written = func(function string, deep int) (tables []string) {
		for _, w := range functions[function] {
			if !strings.HasPrefix(w.string, "$") {
				continue
			}
			body := strings.Trim(w.string, "$")
			for _, a := range accesses(body) {
				if a.writes {
					tables = append(tables, a.table)
				}
			}
			for _, called := range split(body) {
				if deep > 0 && functions[called.string] != nil && called.string != function {
					tables = append(tables, written(called.string, deep-1)...)
				}
			}
		}
		return tables
	}
	for _, t := range triggers {
		for _, table := range written(t.function, 3) {
			found[effect{table, t.table, "trigger"}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b effect) int { return strings.Compare(a.String(), b.String()) })
}

func (e effect) String() string { return e.written + " by " + e.by + ", " + e.how }

// references are the foreign keys in the definition of a table whose rows follow those of another one.
func references(table string, definition []word) (found []effect) {
	to := ""
	for i := range definition {
		w := func(n int) string {
			if i+n < len(definition) {
				return definition[i+n].string
			}
			return ""
		}
		switch {
		case w(0) == "references":
			to = w(1)
		case w(0) == "on" && (w(1) == "delete" || w(1) == "update") && w(2) == "cascade":
			found = append(found, effect{table, to, "cascade"})
		case w(0) == "on" && (w(1) == "delete" || w(1) == "update") && w(2) == "set":
			found = append(found, effect{table, to, "set " + w(3)})
		}
	}
	return found
}
