package libs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// A function that db.DB.Do runs may run again: for a deadlock, a wrong assumption, a record that is on its way. State outside of it
// must be the same for the second run, so the function may overwrite such a variable, and add to it only after it has reset it.
func TestStateOutsideATransactionIsNotAddedToInside(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, at := range addedInTransactions(f.File) {
			t.Errorf("%s: a transaction that runs again adds twice: reset the variable at the begin of the function, or use tx.AfterCommit", f.Position(at))
		}
	}
}

func TestAddingToStateOutsideATransactionIsRecognised(t *testing.T) {
	for statements, wrong := range map[string]int{
		`rows = append(rows, 1)`:                                   1,
		`rows = nil; rows = append(rows, 1)`:                       0,
		`if x { rows = nil }; rows = append(rows, 1)`:              1,
		`var rows []int; rows = append(rows, 1)`:                   0,
		`n++`:                                                      1,
		`n = 0; each(func() { n += 2 })`:                           0,
		`m.Version, err = tx.Tick(ctx)`:                            0,
		`m.Version += 1`:                                           1,
		`r.rows = next`:                                            1,
		`seen[1] = true; delete(seen, 2)`:                          2,
		`seen := map[int]bool{}; seen[1] = true`:                   0,
		`queue <- 1`:                                               1,
		`tx.AfterCommit(func() { n++; r.rows = next })`:            0,
		`tx.Who = who; out, err = f(tx); for i := range 3 { i++ }`: 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc (r *R) f() { m := &M{}; s.DB.Do(ctx, func(tx *db.Tx) error { "+statements+"; return nil }) }", parser.SkipObjectResolution)
		require.NoError(t, err)
		require.Len(t, addedInTransactions(f), wrong, statements)
	}
}

// addedInTransactions are the places of a file where a function that Do runs adds to state outside of it.
func addedInTransactions(f *ast.File) (at []token.Pos) {
	for _, d := range f.Decls {
		of, ok := d.(*ast.FuncDecl)
		if !ok || of.Body == nil {
			continue
		}
		locals := declared(of.Body)
		ast.Inspect(of.Body, func(n ast.Node) bool {
			if run := transaction(n); run != nil {
				at = append(at, added(run, locals)...)
			}
			return true
		})
	}
	return at
}

// transaction is the function that a call of Do runs in a transaction, or nil.
func transaction(n ast.Node) *ast.FuncLit {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	run, ok := call.Args[1].(*ast.FuncLit)
	if _, called := name(call.Fun); !ok || called != "Do" || len(run.Type.Params.List) != 1 {
		return nil
	}
	if star, ok := run.Type.Params.List[0].Type.(*ast.StarExpr); ok {
		if _, of := name(star.X); of == "Tx" {
			return run
		}
	}
	return nil
}

// added are the places where a function adds to, or changes a part of, a variable that is not its own and that none of its
// statements before has overwritten. It may overwrite fields of the variables locals, which end with the function around it.
func added(run *ast.FuncLit, locals map[string]bool) (at []token.Pos) {
	own := declared(run)
	for _, statement := range run.Body.List {
		ast.Inspect(statement, func(n ast.Node) bool {
			outside := func(e ast.Expr) bool { r := root(e); return r != "" && !own[r] }
			switch n := n.(type) {
			case *ast.CallExpr:
				of, called := name(n.Fun)
				if called == "AfterCommit" && of == "tx" {
					return false
				}
				if called == "delete" && of == "" && outside(n.Args[0]) {
					at = append(at, n.Pos())
				}
			case *ast.IncDecStmt:
				if outside(n.X) {
					at = append(at, n.Pos())
				}
			case *ast.SendStmt:
				if outside(n.Chan) {
					at = append(at, n.Pos())
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					_, whole := to.(*ast.Ident)
					if _, field := to.(*ast.SelectorExpr); field && locals[root(to)] {
						whole = true
					}
					extends := n.Tok != token.ASSIGN && n.Tok != token.DEFINE || len(n.Rhs) == len(n.Lhs) && appendsTo(n.Rhs[i], root(to))
					if outside(to) && (!whole || extends) {
						at = append(at, n.Pos())
					}
				}
			}
			return true
		})
		if assign, ok := statement.(*ast.AssignStmt); ok && assign.Tok == token.ASSIGN {
			for _, to := range assign.Lhs {
				if whole, ok := to.(*ast.Ident); ok {
					own[whole.Name] = true
				}
			}
		}
	}
	return at
}

// declared are the names that a function, or a part of one, declares.
func declared(run ast.Node) map[string]bool {
	own := map[string]bool{"_": true}
	ast.Inspect(run, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				own[id.Name] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				own[id.Name] = true
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					own[id.Name] = true
				}
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					own[id.Name] = true
				}
			}
		}
		return true
	})
	return own
}

// root is the variable that an expression like x.y[i] is a part of.
func root(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return ""
}

func appendsTo(e ast.Expr, variable string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	of, called := name(call.Fun)
	return of == "" && called == "append" && root(call.Args[0]) == variable
}
