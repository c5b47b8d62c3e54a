package contact

import (
	"context"
	"strings"
	"time"

	"frontdesk/libs/db"
)

// UntilChanges ends a list of changes where they are complete (see db.Tx.ChangesUntil). It leaves other lists alone.
func UntilChanges(ctx context.Context, tx *db.Tx, page *db.Cursor, since time.Time, table string) (err error) {
	if !since.IsZero() && page.First {
		page.Until, err = tx.ChangesUntil(ctx, table)
	}
	return err
}

// Words is the condition that column has every word of text, without regard to case and accents; empty for a text without words.
func Words(w *db.Where, column, text string) string {
	var all []string
	for word := range strings.FieldsSeq(text) {
		all = append(all, w.Bind(column+` like fold(?)`, db.LikeWord(word)))
	}
	return strings.Join(all, " and ")
}

// PlanForWords makes the server plan the following statements of tx for the words of search. Its generic plan calls fold for each row, and uses
// the trigram index even for two letters that stand in every row.
func PlanForWords(ctx context.Context, tx *db.Tx, search string) error {
	if search == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `set local plan_cache_mode = force_custom_plan`)
	return err
}
