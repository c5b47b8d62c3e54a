package forms

import (
	"strconv"
	"strings"

	"frontdesk/libs/db"
)

// where collects conditions on s (submission) and c (its contact).
type where struct {
	parts []string
	args  []any
}

// and adds a condition; each ? in it stands for the next argument.
func (w *where) and(condition string, args ...any) {
	for _, a := range args {
		w.args = append(w.args, a)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(w.args)), 1)
	}
	w.parts = append(w.parts, condition)
}

// own keeps to submissions of contacts that the actor may see.
func (w *where) own(tx *db.Tx) {
	if tx.Who.Own {
		w.and("c.owner_user_id = ?", tx.Who.UserID)
	}
}

func (w *where) String() string {
	if len(w.parts) == 0 {
		return "true"
	}
	return strings.Join(w.parts, " and ")
}

// last is the place of the last argument.
func (w *where) last() string { return "$" + strconv.Itoa(len(w.args)) }
