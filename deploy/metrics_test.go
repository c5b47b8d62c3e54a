package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// e2e compares the table with what the processes show, which does not say units.
func TestTheTableOfMetricsHasEachInstrumentWithItsUnit(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	table := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| ([^ |]+) \\|.*\\|.*\\|$").FindAllStringSubmatch(string(text), -1) {
		table[row[1]] = row[2]
	}
	require.Equal(t, instruments(t), table)
}

// instruments are the metrics that the code makes, by the names that Prometheus reads, with their units; 1 for one without.
func instruments(t *testing.T) map[string]string {
	t.Helper()
	units, computed := map[string]string{}, 0
	for _, dir := range []string{"../libs", "../services", "../gateway"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if e.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					kind := nameOf(n.Fun)
					switch {
					case kind == "NewOutcomes":
						units[shown("frontdesk."+literal(n.Args[0]), literal(n.Args[1]), "Counter")] = literal(n.Args[1])
					case instrument.MatchString(kind) && literal(n.Args[0]) == "":
						computed++ // by NewOutcomes, and of a Gauge
					case instrument.MatchString(kind):
						unit := ""
						for _, o := range n.Args[1:] {
							if c, ok := o.(*ast.CallExpr); ok && nameOf(c.Fun) == "WithUnit" {
								unit = literal(c.Args[0])
							}
						}
						units[shown(literal(n.Args[0]), unit, kind)] = unit
					}
				case *ast.CompositeLit:
					fields := map[string]string{}
					for _, e := range n.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok {
							fields[nameOf(kv.Key)] = literal(kv.Value)
						}
					}
					switch {
					case fields["SQL"] != "" || fields["Doc"] != "" && fields["Unit"] != "":
						units[shown("frontdesk."+fields["Name"], fields["Unit"], "Gauge")] = fields["Unit"]
					case fields["Help"] != "": // of Prometheus's own library, which has no units
						units[fields["Name"]] = map[bool]string{true: "s"}[strings.HasSuffix(fields["Name"], "_seconds")]
					}
				}
				return true
			})
			return nil
		}))
	}
	require.Equal(t, 2, computed)
	for name, unit := range units {
		if unit == "" {
			units[name] = "1"
		}
	}
	return units
}

var instrument = regexp.MustCompile(`^(Int64|Float64)(Observable)?(Counter|UpDownCounter|Histogram|Gauge)$`)

// shown is the name by which OpenTelemetry's exporter shows an instrument.
func shown(name, unit, kind string) string {
	name = strings.ReplaceAll(name, ".", "_")
	if suffix := map[string]string{"s": "_seconds", "By": "_bytes"}[unit]; !strings.HasSuffix(name, suffix) {
		name += suffix
	}
	if strings.HasSuffix(kind, "Counter") && !strings.HasSuffix(kind, "UpDownCounter") {
		name += "_total"
	}
	return name
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// literal is the text of a string literal; empty for any other expression.
func literal(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return text
}
