package db

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Where builds the condition of a query from parts that only some requests ask for. Each ? in a part takes its next
// argument, so no part depends on how many stand before it. The zero value selects every row.
type Where struct {
	// Args are the arguments of all placeholders so far, in their order.
	Args []any

	conditions []string
}

// And adds a condition.
func (w *Where) And(condition string, args ...any) {
	w.conditions = append(w.conditions, w.Bind(condition, args...))
}

// Bind gives text with each ? replaced by the numbered placeholder of the next of args, for text that stands elsewhere in
// the query. It panics when they do not match.
func (w *Where) Bind(text string, args ...any) string {
	parts := strings.Split(text, "?")
	if len(parts) != len(args)+1 {
		panic(fmt.Sprintf("db: %d arguments for %q", len(args), text))
	}
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		if i < len(args) {
			w.Args = append(w.Args, args[i])
			b.WriteString("$" + strconv.Itoa(len(w.Args)))
		}
	}
	return b.String()
}

// String returns the condition, to be written after "where". Without any part it is "true".
func (w *Where) String() string {
	return cmp.Or(strings.Join(w.conditions, " and "), "true")
}

// LimitTo ends a query after n rows. The number is written out: as a parameter it would have every page planned anew.
func LimitTo(order string, n int) string { return order + " limit " + strconv.Itoa(n) }

// LikeWord is the pattern that finds word anywhere in a text, with its special characters taken literally.
func LikeWord(word string) string { return "%" + likeSpecial.Replace(word) + "%" }

var likeSpecial = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
