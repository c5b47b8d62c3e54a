package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Sealed declares a column of a table with an id whose values Keys.Seal has made.
type Sealed struct {
	Table, Column string
	// Purpose is that under which the value of a row is sealed.
	Purpose func(id string) string
}

// rotateSlice is how many values one transaction seals anew.
const rotateSlice = 200

// rotateKey seals everything that was sealed with an old key anew with the key in use, and publishes the service's signed records again, so
// that they carry its signature. It writes to out, a line for each column, how many values it has sealed and how many remain, because
// no configured key opens them. It may run beside the replicas of the service, once all of them have the new key, and again after it
// was stopped at any point.
var rotateKey = beside("rotate-key", (*runner).build, func(ctx context.Context, r *runner, out io.Writer) error {
	for _, c := range r.parts.Sealed {
		sealed, remain, err := r.sealAnew(ctx, c)
		if err != nil {
			return fmt.Errorf("seal %s.%s anew: %w", c.Table, c.Column, err)
		}
		fmt.Fprintf(out, "%s: %s.%s: %d values are sealed with the new key, %d remain that no configured key opens\n", r.Name, c.Table, c.Column, sealed, remain)
	}
	for _, t := range proto.Topics {
		if !t.Signed || t.Owner != r.Name || !t.Compacted {
			continue
		}
		if err := r.publishState(ctx, t.Name); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: the records of %s are signed with the new key\n", r.Name, t.Name)
	}
	return r.flush(ctx)
})

func (r *runner) flush(ctx context.Context) error {
	if err := r.relay.Flush(ctx); err != nil {
		return errors.Join(errors.New("send the outbox"), err)
	}
	return nil
}

// sealAnew returns how many values it has sealed with the key in use, and how many no key opens.
func (r *runner) sealAnew(ctx context.Context, c Sealed) (sealed, remain int, err error) {
	current := r.kit.Keys.sealedNow()
	list := `select id::text as id, COLUMN as value from TABLE where COLUMN is not null and substring(COLUMN from 1 for $1) <> $2 and ($3::text is null or id::text > $3)
		order by id::text limit $4 for no key update`
	list = strings.NewReplacer("COLUMN", c.Column, "TABLE", c.Table).Replace(list)
	type row struct {
		ID    string
		Value []byte
	}
	var after *string
	for {
		var slice []row
		var done, shut int
		err := r.kit.DB.Do(ctx, func(tx *db.Tx) (err error) {
			done, shut = 0, 0
			if slice, err = db.Rows[row](ctx, tx, list, len(current), current, after, rotateSlice); err != nil {
				return err
			}
			b := &pgx.Batch{}
			for _, v := range slice {
				secret, err := r.kit.Keys.Open(c.Purpose(v.ID), v.Value)
				if err != nil {
					shut++
					continue
				}
				b.Queue(`update `+c.Table+` set `+c.Column+` = $2 where id::text = $1`, v.ID, r.kit.Keys.Seal(c.Purpose(v.ID), secret))
				done++
			}
			return tx.SendBatch(ctx, b).Close()
		})
		if err != nil {
			return sealed, remain, err
		}
		sealed, remain = sealed+done, remain+shut
		if len(slice) < rotateSlice {
			return sealed, remain, nil
		}
		after = &slice[len(slice)-1].ID
	}
}
