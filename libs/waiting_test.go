package libs

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// outside says how functions of other modules wait, by how their full names begin.
var outside = map[string][]string{
	"sleeps": {"time.Sleep"},
	"takes a second connection with": {
		"(*github.com/jackc/pgx/v5/pgxpool.Pool).Acquire", "(*github.com/jackc/pgx/v5/pgxpool.Pool).Begin", "(*github.com/jackc/pgx/v5/pgxpool.Pool).CopyFrom",
		"(*github.com/jackc/pgx/v5/pgxpool.Pool).Exec", "(*github.com/jackc/pgx/v5/pgxpool.Pool).Ping", "(*github.com/jackc/pgx/v5/pgxpool.Pool).Query",
		"(*github.com/jackc/pgx/v5/pgxpool.Pool).SendBatch", "github.com/jackc/pgx/v5.Connect",
	},
	"uses the network with": {
		"(*net/http.Client).", "(net/http.RoundTripper).", "net/http.Get", "net/http.Head", "net/http.Post", "net.Dial", "net.Lookup", "(*net.Dialer).", "(*net.Resolver).",
		"(*github.com/segmentio/kafka-go.Reader).", "(*github.com/segmentio/kafka-go.Writer).", "(*github.com/segmentio/kafka-go.Client).",
	},
	"runs a program with": {"(*os/exec.Cmd).Run", "(*os/exec.Cmd).Output", "(*os/exec.Cmd).CombinedOutput"},
}

// step is what a function does at one place: it waits itself, or calls others.
type step struct {
	pos   token.Pos
	why   string
	calls []types.Object // functions, or fields that hold some
}

// calls are the steps of functions, and what may be in fields and parameters that hold functions.
type calls struct {
	tree
	steps map[types.Object][]step
	held  map[types.Object][]step
	why   map[types.Object]string // why a function or what a field holds waits
}

// follow reads all functions of the tree, and finds those that wait: themselves, or by what they call in whichever package. A function that is
// passed on is called where it is passed; one in a field is called where the field is.
func (all tree) follow() *calls {
	c := &calls{all, map[types.Object][]step{}, map[types.Object][]step{}, map[types.Object]string{}}
	for _, p := range all {
		for _, file := range p.Syntax {
			c.hold(p, file)
			for _, d := range file.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
					c.steps[p.TypesInfo.Defs[d.Name]] = c.body(p, d.Body)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, of := range []map[types.Object][]step{c.steps, c.held} {
			for f, steps := range of {
				// A transaction's own statements are its work.
				if c.why[f] != "" || ofTransaction(f) {
					continue
				}
				for _, s := range steps {
					if why := c.reason(s); why != "" {
						c.why[f], changed = f.Name()+" "+strings.TrimPrefix(why, f.Name()+" "), true
						break
					}
				}
			}
		}
	}
	return c
}

// reason is why a step waits, "" if it does not.
func (c *calls) reason(s step) string {
	if s.why != "" {
		return s.why
	}
	for _, f := range s.calls {
		if c.why[f] != "" {
			return c.why[f]
		}
	}
	return ""
}

// body are the steps of a function, without the parts that do not run in it: goroutines, what a field is to hold, and functions for
// when the connection has been given back.
func (c *calls) body(p *packages.Package, body ast.Node) (steps []step) {
	add := func(n ast.Node, why string, calls ...types.Object) { steps = append(steps, step{n.Pos(), why, calls}) }
	apart := false // has goroutines that the steps do not show
	ast.Inspect(body, func(n ast.Node) bool {
		_, started := n.(*ast.GoStmt)
		apart = apart || started
		return true
	})
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.SelectStmt:
			if !slices.ContainsFunc(n.Body.List, func(c ast.Stmt) bool { return c.(*ast.CommClause).Comm == nil }) {
				return true
			}
			// It only looks whether there is something. What it defers gives back what it took.
			for _, clause := range n.Body.List {
				for _, s := range clause.(*ast.CommClause).Body {
					if _, deferred := s.(*ast.DeferStmt); !deferred {
						ast.Inspect(s, look)
					}
				}
			}
			return false
		case *ast.SendStmt:
			add(n, "sends to a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				add(n, "receives from a channel")
			}
		case *ast.RangeStmt:
			if _, channel := p.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan); channel {
				add(n, "receives from a channel")
			}
		case *ast.KeyValueExpr:
			return !holds(p, n.Key)
		case *ast.CallExpr:
			f := object(p, n.Fun)
			if f != nil && f.Pkg() != nil && f.Pkg().Path() == "frontdesk/libs/db" && (f.Name() == "RunAgainAfter" || f.Name() == "AfterCommit") {
				return false
			}
			// What a parameter holds runs where it is passed; what an own group waits for stands in the same function.
			if v, variable := f.(*types.Var); (!variable || v.IsField()) && (apart || !ownGroup(p, n)) {
				add(n, waitsOutside(f), c.called(f)...)
			}
			for _, arg := range n.Args {
				if passed, ok := object(p, arg).(*types.Func); ok {
					add(arg, waitsOutside(passed), c.called(passed)...)
				}
			}
		}
		return true
	}
	ast.Inspect(body, look)
	return steps
}

// ownGroup reports whether a call waits for the goroutines of a sync.WaitGroup that is a variable of a function.
func ownGroup(p *packages.Package, call *ast.CallExpr) bool {
	wait, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || wait.Sel.Name != "Wait" {
		return false
	}
	group, ok := object(p, wait.X).(*types.Var)
	return ok && !group.IsField() && group.Parent() != group.Pkg().Scope() && group.Type().String() == "sync.WaitGroup"
}

// called is what runs when an object is called: itself, and of an interface of the tree the methods of its implementations.
func (c *calls) called(f types.Object) []types.Object {
	if f == nil {
		return nil
	}
	method, ok := f.(*types.Func)
	if !ok || method.Signature().Recv() == nil || f.Pkg() == nil || !strings.HasPrefix(f.Pkg().Path(), "frontdesk/") {
		return []types.Object{f}
	}
	of, ok := method.Signature().Recv().Type().Underlying().(*types.Interface)
	if !ok {
		return []types.Object{f}
	}
	var found []types.Object
	for _, p := range c.tree {
		for _, name := range p.Types.Scope().Names() {
			named, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if ok && !types.IsInterface(named.Type()) && types.Implements(types.NewPointer(named.Type()), of) {
				m, _, _ := types.LookupFieldOrMethod(types.NewPointer(named.Type()), true, f.Pkg(), f.Name())
				found = append(found, m)
			}
		}
	}
	return found
}

// hold notes which functions a file puts into fields, and passes as parameters, which may end in fields.
func (c *calls) hold(p *packages.Package, file *ast.File) {
	put := func(into types.Object, value ast.Expr) {
		switch of := object(p, value).(type) {
		case *types.Func, *types.Var:
			c.held[into] = append(c.held[into], step{value.Pos(), "", c.called(of)})
		case nil:
			if lit, ok := ast.Unparen(value).(*ast.FuncLit); ok {
				c.held[into] = append(c.held[into], c.body(p, lit.Body)...)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if holds(p, n.Key) {
				put(object(p, n.Key), n.Value)
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if holds(p, to) && len(n.Rhs) == len(n.Lhs) {
					put(object(p, to), n.Rhs[i])
				}
			}
		case *ast.CallExpr:
			f, ok := object(p, n.Fun).(*types.Func)
			if !ok {
				return true
			}
			for i, arg := range n.Args {
				if params := f.Signature().Params(); i < params.Len() {
					if _, function := params.At(i).Type().Underlying().(*types.Signature); function {
						put(params.At(i), arg)
					}
				}
			}
		}
		return true
	})
}

// holds reports whether an expression is a field that holds a function.
func holds(p *packages.Package, e ast.Expr) bool {
	v, ok := object(p, e).(*types.Var)
	if !ok || !v.IsField() {
		return false
	}
	_, function := v.Type().Underlying().(*types.Signature)
	return function
}

// object is the function or variable that an expression names, nil for other expressions.
func object(p *packages.Package, e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		switch o := p.TypesInfo.Uses[e].(type) {
		case *types.Func:
			return o.Origin()
		case *types.Var:
			return o.Origin()
		}
	case *ast.SelectorExpr:
		return object(p, e.Sel)
	case *ast.IndexExpr:
		return object(p, e.X)
	case *ast.IndexListExpr:
		return object(p, e.X)
	}
	return nil
}

// waitsOutside is why a function of another module waits, "" if it does not.
func waitsOutside(o types.Object) string {
	f, ok := o.(*types.Func)
	if !ok {
		return ""
	}
	for why, names := range outside {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(f.FullName(), name) }) {
			return strings.TrimSuffix(why, " with") + map[bool]string{true: " with " + f.Name()}[strings.HasSuffix(why, " with")]
		}
	}
	if f.Name() == "Wait" {
		return "waits"
	}
	return ""
}

// ofTransaction reports whether a function of libs/db works in a transaction, as its method or with it.
func ofTransaction(o types.Object) bool {
	f, ok := o.(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "frontdesk/libs/db" {
		return false
	}
	recv := f.Signature().Recv()
	return takesTx(f.Signature()) || recv != nil && isTx(recv.Type())
}

func isTx(t types.Type) bool { return t.String() == "*frontdesk/libs/db.Tx" }

// takesTx reports whether a function works in a transaction that its caller has begun.
func takesTx(f *types.Signature) bool {
	for param := range f.Params().Variables() {
		if isTx(param.Type()) {
			return true
		}
	}
	return false
}

// waitingTransactions are the places where a transaction waits.
func (all tree) waitingTransactions() (found []string) {
	c := all.follow()
	for _, p := range all {
		if strings.HasPrefix(p.PkgPath, "frontdesk/libs/db") {
			continue
		}
		check := func(body ast.Node) {
			for _, s := range c.body(p, body) {
				if why := c.reason(s); why != "" {
					if s.why == "" {
						why = "calls a function that waits: " + why
					}
					found = append(found, fmt.Sprintf("%s: a transaction %s", at(p, s.pos), why))
				}
			}
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Body != nil && takesTx(p.TypesInfo.Defs[n.Name].(*types.Func).Signature()) {
						check(n.Body)
						return false
					}
				case *ast.FuncLit:
					if takesTx(p.TypesInfo.TypeOf(n).(*types.Signature)) {
						check(n.Body)
						return false
					}
				}
				return true
			})
		}
	}
	return found
}

// A transaction holds a connection. Work that waits with one in hand leaves none for the work that it waits for: return
// tx.Later or db.RunAgainAfter instead, or wait before the transaction.
func TestNoTransactionWaitsForSomethingElse(t *testing.T) {
	for _, f := range loaded(t).waitingTransactions() {
		t.Error(f)
	}
}

func TestATransactionThatWaitsInAnotherPackageIsFound(t *testing.T) {
	const lower = `package lower
import ("context"; "time"; "frontdesk/libs/db")
type Room struct { d *db.DB; count func() int }
func New(d *db.DB, count func() int) *Room { return &Room{d: d, count: count} }
func Slow() int { time.Sleep(time.Second); return 1 }
func Each(f func() int) { f() }
func (r *Room) Refresh(ctx context.Context) error { return r.d.Do(ctx, func(*db.Tx) error { return nil }) }
func (r *Room) Counted() int { return r.count() }
func (r *Room) Name() string { return "lower" }
type Sender interface { Send() }
type mail struct{ sent chan int }
func (m *mail) Send() { m.sent <- 1 }
func Of[T any](x T) T { Slow(); return x }
`
	for statement, wrong := range map[string]int{
		`lower.Slow()`:                                   1,
		`r.lower.Refresh(context.Background())`:          1,
		`again(r)`:                                       1,
		`lower.Each(lower.Slow)`:                         1,
		`lower.Each(r.lower.Counted)`:                    1,
		`lower.Each(func() int { return lower.Slow() })`: 1,
		`r.lower.Counted()`:                              1,
		`r.sender.Send()`:                                1,
		`_ = lower.Of(1)`:                                1,
		`defer lower.Slow()`:                             1,
		`for range r.c { }`:                              1,
		`select { case <-r.c: }`:                         1,
		`select { case <-r.c: default: }`:                0,
		`select { case <-r.c: lower.Slow(); default: }`:  1,
		`tx.AfterCommit(func() { lower.Slow() })`:        0,
		`_ = db.RunAgainAfter(func(context.Context) error { lower.Slow(); return nil })`: 0,
		`go lower.Slow()`: 0,
		`var g sync.WaitGroup; g.Go(func() { r.lower.Name() }); g.Wait()`: 0,
		`var g sync.WaitGroup; g.Go(func() { lower.Slow() }); g.Wait()`:   1,
		`var g sync.WaitGroup; go lower.Slow(); g.Wait()`:                 1,
		`r.lower.Name(); lower.Each(func() int { return 1 })`:             0,
	} {
		t.Run(statement, func(t *testing.T) {
			planted := plant(t, [2]string{"frontdesk/services/x/internal/lower/lower.go", lower}, [2]string{"frontdesk/services/x/internal/upper/upper.go", `package upper
import ("context"; "sync"; "frontdesk/libs/db"; "frontdesk/services/x/internal/lower")
type room struct { lower *lower.Room; sender lower.Sender; c chan int }
func New(d *db.DB) *room { return &room{lower: lower.New(d, lower.Slow)} }
func again(r *room) { _ = r.lower.Refresh(context.Background()) }
func (r *room) f(tx *db.Tx) { var _ sync.Mutex; _, _ = again, db.RunAgainAfter; ` + statement + ` }
`})
			require.Len(t, append(planted, loaded(t).below("frontdesk/libs/db")...).waitingTransactions(), wrong)
		})
	}
}
