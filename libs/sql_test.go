package libs

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// access is what a statement does with a table.
type access struct {
	table  string // with a hole for each part that is known only when the statement runs
	writes bool
	at     int // where the table's name begins in the text
}

// hole stands for a part of a text that the source does not say.
const hole = "\x00"

var words = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\$(\w*)\$|"[^"]*"|[\w\x00]+(?:\.[\w\x00]+)*|\S`)

// word is a part of an SQL text: a name in lower case, a mark, or a whole string.
type word struct {
	string
	at int
}

// split takes a text apart, without comments. A body between dollars is one word.
func split(sql string) (all []word) {
	for at := 0; at < len(sql); {
		m := words.FindStringSubmatchIndex(sql[at:])
		if m == nil {
			break
		}
		w, begin, end := sql[at+m[0]:at+m[1]], at+m[0], at+m[1]
		switch {
		case m[2] >= 0:
			if i := strings.Index(sql[end:], w); i >= 0 {
				end += i + len(w)
			}
			all = append(all, word{sql[begin:end], begin})
		case strings.HasPrefix(w, "--"), strings.HasPrefix(w, "/*"):
		case strings.HasPrefix(w, "'"):
			all = append(all, word{w, begin})
		default:
			all = append(all, word{strings.ToLower(strings.Trim(w, `"`)), begin})
		}
		at = end
	}
	return all
}

// accesses are the tables that an SQL text, or a piece of one, writes and reads, without the results that it names itself (with … as).
// A table may be named with its schema.
func accesses(sql string) (found []access) {
	all := split(sql)
	word := func(i int) string {
		if i < 0 || i >= len(all) {
			return ""
		}
		return all[i].string
	}
	skip := func(i int, names ...string) int {
		for slices.Contains(names, word(i)) {
			i++
		}
		return i
	}
	results := map[string]bool{}
	for i := range all {
		if w := word(i - 1); w == "with" || w == "recursive" || w == "," {
			if j := i + 1; word(j) == "as" && slices.Contains([]string{"(", "materialized", "not"}, word(j+1)) {
				results[word(i)] = true
			} else if word(j) == "(" {
				for word(j) != ")" && j < len(all) {
					j++
				}
				if word(j+1) == "as" && slices.Contains([]string{"(", "materialized", "not"}, word(j+2)) {
					results[word(i)] = true
				}
			}
		}
	}
	add := func(i int, writes bool) {
		name := word(i)
		if _, table, ok := strings.Cut(name, "."); ok {
			name = table
		}
		if named.MatchString(name) && (writes || word(i+1) != "(" && !results[name]) {
			found = append(found, access{name, writes, all[i].at})
		}
	}
	// from says for each open parenthesis whether a list of tables goes on, and what stands before it.
	type level struct {
		from   bool
		before string
	}
	levels := []level{{}}
	for i := 0; i < len(all); i++ {
		top := &levels[len(levels)-1]
		switch word(i) {
		case "(":
			levels = append(levels, level{before: word(i - 1)})
		case ")":
			if len(levels) > 1 {
				levels = levels[:len(levels)-1]
			}
		case "into":
			if before := word(i - 1); before == "insert" || before == "merge" {
				add(i+1, true)
				i++
			}
		case "truncate":
			add(skip(i+1, "table", "only"), true)
		case "update":
			to := skip(i+1, "only")
			if set := skip(to+1, "as"); word(to) != "set" && (word(set) == "set" || word(set+1) == "set") {
				add(to, true)
			}
		case "from", "using":
			if word(i) == "from" && word(i-1) == "delete" {
				add(skip(i+1, "only"), true)
				continue
			}
			if word(i-1) == "distinct" || slices.Contains([]string{"extract", "substring", "trim", "overlay", "position"}, top.before) {
				continue
			}
			top.from = true
			add(skip(i+1, "lateral", "only"), false)
		case "join":
			add(skip(i+1, "lateral", "only"), false)
		case ",":
			if top.from {
				add(skip(i+1, "lateral", "only"), false)
			}
		case "select", "where", "group", "order", "having", "limit", "set", "returning", "union", "values", "on", "window", "for", ";":
			if word(i) != "on" && word(i) != "for" || top.from && word(i) == "for" {
				top.from = false
			}
		}
	}
	return found
}

var named = regexp.MustCompile(`^[a-z_\x00][a-z0-9_\x00]*$`)

func TestTheTablesOfAStatementAreRead(t *testing.T) {
	for sql, want := range map[string]string{
		`insert into a (x) values (1) on conflict do update set x = 2`:            "+a",
		`insert into s.a select * from b`:                                         "+a b",
		`update a set x = (select y from b where b.id = a.id)`:                    "+a b",
		`update only "a" as t set x = 1 from b, c d, lateral (select 1 from e) f`: "+a b c e",
		`delete from a using b where x`:                                           "+a b",
		`merge into a using b on a.id = b.id when matched then delete`:            "+a b",
		`with gone as (delete from a returning id), n (x) as materialized (select 1) select * from gone join n on true join b on true`: "+a b",
		`select 1 from a where x is distinct from b and extract(epoch from c) > 1`:                                                     "a",
		`select * from unnest($1::text[], $2) m (id), a for update of b`:                                                               "a",
		`select a, b from c left join d using (x) order by e, f`:                                                                       "c d",
		`select (select count(*) from a), b from c`:                                                                                    "a c",
		"-- from x\nselect ' from y ' from a /* from z */":                                                                             "a",
		"update " + hole + " set x = 1":                                                                                                "+" + hole,
		` from a x where y`:                                                                                                            "a",
		`select 1 for update`:                                                                                                          "",
		`truncate table a`:                                                                                                             "+a",
		`select x from a for no key update skip locked`:                                                                                "a",
	} {
		var got []string
		for _, a := range accesses(sql) {
			got = append(got, map[bool]string{true: "+"}[a.writes]+a.table)
		}
		require.Equal(t, want, strings.Join(got, " "), sql)
	}
}

// text is a string of the source as far as it is known, with the expressions whose values are not.
type text struct {
	said  string
	holes []ast.Expr
	parts []part
}

// part says where a piece of a text stands in the source.
type part struct {
	begin int
	pos   token.Pos
	raw   bool // its lines are lines of the source
	lent  bool // a constant of another package
}

// part is the one with a place in the text.
func (x text) part(offset int) part {
	of := x.parts[0]
	for _, next := range x.parts {
		if next.begin <= offset {
			of = next
		}
	}
	return of
}

// at is the place in the source of a place in the text.
func (x text) at(p *packages.Package, offset int) string {
	of := x.part(offset)
	pos := p.Fset.Position(of.pos)
	if of.raw {
		pos.Line += strings.Count(x.said[of.begin:offset], "\n")
	}
	return place(p, pos)
}

// expr is the expression of the hole at a place of the text.
func (x text) expr(offset int) ast.Expr { return x.holes[strings.Count(x.said[:offset], hole)] }

// texts are the strings that a package makes: each literal and constant, whole concatenations, and formats with what is put into them.
func texts(p *packages.Package) (all []text) {
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			if _, imported := n.(*ast.ImportSpec); imported {
				return false
			}
			e, ok := n.(ast.Expr)
			if !ok || !says(p, e) {
				return true
			}
			x := text{}
			x.add(p, e)
			all = append(all, x)
			for _, unknown := range x.holes { // strings within calls
				ast.Inspect(unknown, func(n ast.Node) bool {
					if inner, ok := n.(ast.Expr); ok && says(p, inner) {
						y := text{}
						y.add(p, inner)
						all = append(all, y)
						return false
					}
					return true
				})
			}
			return false
		})
	}
	return all
}

// says reports whether an expression is a text that add takes apart.
func says(p *packages.Package, e ast.Expr) bool {
	if constantText(p, e) != nil {
		return true
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		t, ok := p.TypesInfo.TypeOf(e).(*types.Basic)
		return e.Op == token.ADD && ok && t.Info()&types.IsString != 0
	case *ast.CallExpr:
		return format(p, e) != ""
	}
	return false
}

func constantText(p *packages.Package, e ast.Expr) constant.Value {
	if v := p.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
		return v
	}
	return nil
}

// format is the constant format of a call of fmt.Sprintf and the like, "" if the call has no constant one.
func format(p *packages.Package, call *ast.CallExpr) string {
	f, ok := object(p, call.Fun).(*types.Func)
	if !ok || f.FullName() != "fmt.Sprintf" || len(call.Args) == 0 {
		return ""
	}
	if v := constantText(p, call.Args[0]); v != nil {
		return constant.StringVal(v)
	}
	return ""
}

var formatted = regexp.MustCompile(`%(?:\[(\d)\])?[-+# 0-9.]*([a-zA-Z%])`)

func (x *text) add(p *packages.Package, e ast.Expr) {
	put := func(s string, pos token.Pos, raw bool) {
		x.parts = append(x.parts, part{len(x.said), pos, raw, false})
		x.said += s
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		if v := constantText(p, e); v != nil {
			put(constant.StringVal(v), e.Pos(), strings.HasPrefix(e.Value, "`"))
			return
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			x.add(p, e.X)
			x.add(p, e.Y)
			return
		}
	case *ast.CallExpr:
		if pattern := format(p, e); pattern != "" {
			next, begin := 1, 0
			for _, m := range formatted.FindAllStringSubmatchIndex(pattern, -1) {
				put(pattern[begin:m[0]], e.Args[0].Pos(), false)
				begin = m[1]
				if verb := pattern[m[4]:m[5]]; verb == "%" {
					put("%", e.Args[0].Pos(), false)
					continue
				}
				if m[2] >= 0 {
					next = int(pattern[m[2]] - '0')
				}
				if next < len(e.Args) {
					x.add(p, e.Args[next])
				}
				next++
			}
			put(pattern[begin:], e.Args[0].Pos(), false)
			return
		}
	}
	if v := constantText(p, e); v != nil {
		put(constant.StringVal(v), e.Pos(), false)
		if named, ok := e.(*ast.SelectorExpr); ok {
			x.parts[len(x.parts)-1].lent = p.TypesInfo.Uses[named.Sel].Pkg() != p.Types
		}
		return
	}
	put(hole, e.Pos(), false)
	x.holes = append(x.holes, e)
}
