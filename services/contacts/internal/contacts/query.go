package contacts

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// where collects conditions and their arguments; each ? in a condition takes the next argument.
type where struct {
	conditions []string
	args       []any
}

func (w *where) and(condition string, args ...any) {
	w.conditions = append(w.conditions, w.number(condition, args...))
}

// number gives text whose ? are numbered placeholders of args.
func (w *where) number(text string, args ...any) string {
	var b strings.Builder
	for _, r := range text {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		w.args = append(w.args, args[0])
		args = args[1:]
		fmt.Fprintf(&b, "$%d", len(w.args))
	}
	return b.String()
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return "true"
	}
	return strings.Join(w.conditions, " and ")
}

// limit ends a query after n rows. The number is written out: as a parameter it would have every page planned
// anew.
func limit(order string, n int) string { return fmt.Sprintf("%s limit %d", order, n) }

// after continues behind the last record of the page before.
func (w *where) after(c *db.Cursor, alias string) {
	if !c.First {
		w.and(fmt.Sprintf("(%[1]s.created_at, %[1]s.id) < (?, ?)", alias), c.At, c.ID)
	}
}

var likeSpecial = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// search asks for every word of text in column; text that is a telephone number is also found however
// either was written.
func (w *where) search(column, text string) {
	all := w.words(column, text)
	if all == "" {
		return
	}
	if digits := phoneDigits(text); digits != "" {
		all = "(" + all + " or " + w.number(column+` like ?`, "%"+digits+"%") + ")"
	}
	w.conditions = append(w.conditions, all)
}

// searchWords asks for every word of text in column.
func (w *where) searchWords(column, text string) {
	if all := w.words(column, text); all != "" {
		w.conditions = append(w.conditions, all)
	}
}

func (w *where) words(column, text string) string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		words = append(words, w.number(column+` like fold(?)`, "%"+likeSpecial.Replace(word)+"%"))
	}
	return strings.Join(words, " and ")
}

// phoneDigits is the digits of a text that can be nothing but a telephone number, without the zeros that
// stand for a country or a region; empty for other text.
func phoneDigits(text string) string {
	digits := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return r
		case strings.ContainsRune(" +()./-", r):
			return -1
		}
		return 'x'
	}, text)
	if strings.Contains(digits, "x") || len(digits) < 3 {
		return ""
	}
	if significant := strings.TrimLeft(digits, "0"); len(significant) >= 3 {
		return significant
	}
	return digits
}

// own limits contacts to those the actor may see.
func (w *where) own(tx *db.Tx, alias string) {
	if tx.Who.Own {
		w.and(alias+".owner_user_id = ?", tx.Who.UserID)
	}
}

func collectIDs(rows pgx.Rows) ([]uuid.UUID, error) {
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}
