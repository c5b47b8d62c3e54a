package libs

import (
	"go/ast"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// elsewhere are operations whose entries are written by another operation, or under a name that is chosen while they run.
var elsewhere = map[string]string{
	"run-ability-":         "the operation that the ability runs",
	"passkey-sign-in":      "sign-in, as with a password",
	"organization-sign-in": "sign-in, as with a password", "organization-second-factor": "sign-in, as with a password", "organization-logout": "sign-out",
}

// An operation that makes its own transactions writes its audit entry itself, under its own name.
func TestWhatMakesItsOwnTransactionsIsAuditedUnderItsName(t *testing.T) {
	declared, audited, constants := map[string]string{}, map[string]bool{}, map[string]string{}
	for _, f := range sources(t) {
		if f.test || !strings.HasPrefix(f.path, "services/") {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, v := range n.Values {
					if s, ok := literal(v); ok {
						constants[filepath.Dir(f.path)+" "+n.Names[i].Name] = s
					}
				}
			case *ast.CallExpr:
				switch of, name := name(n.Fun); {
				case of == "op" && name == "AddOutside":
					if id, writes := declaredOutside(n.Args[1]); writes {
						declared[id] = filepath.Dir(f.path)
					}
				case of == "op" && name == "Audit" && len(n.Args) > 2:
					action, ok := literal(n.Args[2])
					if c, isName := n.Args[2].(*ast.Ident); !ok && isName {
						action = "const " + filepath.Dir(f.path) + " " + c.Name
					}
					audited[action] = true
				}
			}
			return true
		})
	}
	for action := range audited {
		if c, isConst := strings.CutPrefix(action, "const "); isConst {
			audited[constants[c]] = true
		}
	}
	require.Greater(t, len(declared), 12)
	for id, dir := range declared {
		require.True(t, audited[id] || elsewhere[id] != "", "%s in %s writes no audit entry under its name", id, dir)
	}
}

// declaredOutside is the id of a declared operation, and whether it changes something.
func declaredOutside(declaration ast.Expr) (id string, writes bool) {
	lit, ok := declaration.(*ast.CompositeLit)
	if !ok {
		return "", false
	}
	writes = true
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		value := kv.Value
		if sum, ok := value.(*ast.BinaryExpr); ok {
			value = sum.X // "run-ability-" and the method
		}
		text, _ := literal(value)
		switch _, key := name(kv.Key); key {
		case "ID":
			id = text
		case "Route":
			writes = writes && !strings.HasPrefix(text, "GET ")
		case "Reads", "Unaudited":
			writes = false
		}
	}
	return id, writes
}
