package libs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// A line that gets the context of a request, an event or a job has its trace_id.
func TestALogLineHasTheContextOfItsWork(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, at := range loggedWithoutContext(f.File) {
			t.Errorf("%s: a context is at hand: log with slog.InfoContext and so on", f.Position(at))
		}
	}
}

func TestALogLineWithoutItsContextIsRecognised(t *testing.T) {
	for function, wrong := range map[string]int{
		`func f(ctx context.Context) { slog.Warn("x") }`:                                               1,
		`func f(ctx context.Context) { slog.WarnContext(ctx, "x") }`:                                   0,
		`func f(ctx context.Context) { slog.With("a", 1).Error("x") }`:                                 1,
		`func f(ctx context.Context) { go func() { slog.Info("x") }() }`:                               1,
		`func f() { slog.Warn("x"); g(func(ctx context.Context) { slog.Debug("x") }); slog.Warn("") }`: 1,
		`func f() { ctx := context.Background(); slog.Info("x"); g(ctx) }`:                             1,
		`func f() { ctx, stop := g(); slog.Info("x"); h(ctx, stop) }`:                                  1,
		`func f(w http.ResponseWriter, r *http.Request) { slog.Info("x") }`:                            1,
		`func f() { slog.Info("x") }`:                                                                  0,
		`func f(ctx context.Context) { slog.SetDefault(nil); log.Error("x") }`:                         0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+function, parser.SkipObjectResolution)
		require.NoError(t, err)
		require.Len(t, loggedWithoutContext(f), wrong, function)
	}
}

// loggedWithoutContext are the places of a file where slog gets no context, in a function that has one: as a parameter, in a request,
// or as a variable ctx, of its own or of a function around it.
func loggedWithoutContext(f *ast.File) (at []token.Pos) {
	var look func(n ast.Node, has bool)
	look = func(n ast.Node, has bool) {
		ast.Inspect(n, func(inner ast.Node) bool {
			switch inner := inner.(type) {
			case *ast.FuncLit:
				look(inner.Body, has || takesContext(inner.Type) || makesContext(inner.Body))
				return false
			case *ast.CallExpr:
				if has && logsWithout(inner) {
					at = append(at, inner.Pos())
				}
			}
			return true
		})
	}
	for _, d := range f.Decls {
		if of, ok := d.(*ast.FuncDecl); ok && of.Body != nil {
			look(of.Body, takesContext(of.Type) || makesContext(of.Body))
		}
	}
	return at
}

func takesContext(f *ast.FuncType) bool {
	for _, p := range f.Params.List {
		of := p.Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if of, kind := name(of); of == "context" && kind == "Context" || of == "http" && kind == "Request" {
			return true
		}
	}
	return false
}

// makesContext reports whether a body, without the functions in it, has a variable ctx of its own.
func makesContext(body *ast.BlockStmt) (made bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, to := range a.Lhs {
				if _, variable := name(to); variable == "ctx" {
					made = true
				}
			}
		}
		_, inside := n.(*ast.FuncLit)
		return !inside
	})
	return made
}

// logsWithout reports whether a call is slog.Info("…") or slog.With(…).Info("…"), or of another level.
func logsWithout(c *ast.CallExpr) bool {
	to, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch to.Sel.Name {
	case "Debug", "Info", "Warn", "Error":
	default:
		return false
	}
	if with, ok := to.X.(*ast.CallExpr); ok {
		of, _ := name(with.Fun)
		return of == "slog"
	}
	of, _ := name(to)
	return of == "slog"
}
