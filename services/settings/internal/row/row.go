// Package row goes over rows of tables, and says how their ids stand in events.
package row

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Each calls f with the rows of a query.
func Each[T any](ctx context.Context, tx *db.Tx, f func(T) error, sql string, args ...any) error {
	all, err := db.Rows[T](ctx, tx, sql, args...)
	if err != nil {
		return fmt.Errorf("read %T: %w", all, err)
	}
	for _, one := range all {
		if err := f(one); err != nil {
			return err
		}
	}
	return nil
}

// Key is the id of a user or page as events and the audit log have it.
func Key(id int64) string { return strconv.FormatInt(id, 10) }

// UnlessRefused is nil for a fault, which another attempt would meet again, and err for everything else.
func UnlessRefused(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return nil
	}
	return err
}
