package libs

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// waits returns why a statement or expression waits for something outside its transaction, "" if it does not.
func waits(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SendStmt:
		return "sends to a channel"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receives from a channel"
		}
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		_, of := name(f.X)
		switch to := f.Sel.Name; {
		case of == "time" && to == "Sleep":
			return "sleeps"
		case slices.Contains([]string{"DB", "d", "db"}, of) && slices.Contains([]string{"Do", "Read", "Allow", "Exclusive"}, to), of == "Pool":
			return "takes a second connection with " + to
		case of == "http" && slices.Contains([]string{"Get", "Post", "Do"}, to), of == "client" && to == "Do", of == "Bus" && to == "Send":
			return "uses the network"
		case to == "Wait":
			return "waits"
		}
	}
	return ""
}

// own walks a function's body, without the parts that do not run in it: goroutines, and functions for when the connection
// has been given back.
func own(body ast.Node, f func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.SelectStmt:
			if slices.ContainsFunc(n.Body.List, func(c ast.Stmt) bool { return c.(*ast.CommClause).Comm == nil }) {
				return false
			}
		case *ast.CallExpr:
			if _, to := name(n.Fun); slices.Contains([]string{"RunAgainAfter", "AfterCommit"}, to) {
				return false
			}
		}
		f(n)
		return true
	})
}

// takesTx reports whether a function works in a transaction that its caller has begun.
func takesTx(t *ast.FuncType) bool {
	return slices.ContainsFunc(t.Params.List, func(f *ast.Field) bool {
		p, ok := f.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		_, n := name(p.X)
		return n == "Tx"
	})
}

// A transaction holds a connection. Work that waits with one in hand leaves none for the work that it waits for: return
// tx.Later or db.RunAgainAfter instead, or wait before the transaction.
func TestNoTransactionWaitsForSomethingElse(t *testing.T) {
	type function struct {
		body *ast.BlockStmt
		why  string
	}
	packages := map[string]map[string]*function{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		dir := path.Dir(f.path)
		if packages[dir] == nil {
			packages[dir] = map[string]*function{}
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				packages[dir][d.Name.Name] = &function{body: d.Body}
			}
		}
	}
	// called is the function of the package that a call runs.
	called := func(dir string, n ast.Node) *function {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return nil
		}
		_, to := name(call.Fun)
		return packages[dir][to]
	}
	for changed := true; changed; {
		changed = false
		for dir, all := range packages {
			for name, f := range all {
				if f.why != "" {
					continue
				}
				own(f.body, func(n ast.Node) {
					why := waits(n)
					if c := called(dir, n); c != nil && c.why != "" {
						why = c.why
					}
					if why != "" && f.why == "" {
						f.why, changed = name+" "+strings.TrimPrefix(why, name+" "), true
					}
				})
			}
		}
	}
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.path, "libs/db/") {
			continue
		}
		dir := path.Dir(f.path)
		check := func(body ast.Node) {
			own(body, func(n ast.Node) {
				why := waits(n)
				if c := called(dir, n); c != nil && c.why != "" {
					why = "calls a function that waits: " + c.why
				}
				if why != "" {
					t.Errorf("%s: a transaction %s", f.Position(n.Pos()), why)
				}
			})
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if takesTx(n.Type) && n.Body != nil {
					check(n.Body)
					return false
				}
			case *ast.FuncLit:
				if takesTx(n.Type) {
					check(n.Body)
					return false
				}
			}
			return true
		})
	}
}
