package imports

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/draft"
)

// openFile is the file of an import, of which done rows were read.
type openFile struct {
	id       uuid.UUID
	revision int
	done     int
	rows     *csvfile.Rows
	// A dry run is rolled back batch by batch, so no batch sees the contacts of one before it. It does all rows of an address at once, with the first
	// of them. first is the number of that row, later has the others; both are nil in an import.
	first map[string]int
	later map[string][]csvfile.Row
}

// openFile opens the file behind the last row that is done. A file that cannot be read is an draft.ImportError.
func (j *job) openFile(ctx context.Context, tx *db.Tx) (*openFile, error) {
	text, err := textOf(ctx, tx, j.id)
	if err != nil {
		return nil, err
	}
	f, err := csvfile.Reopen(text, j.options.Separator, j.options.Header)
	if err != nil {
		return nil, draft.NewError(0, "", "svc_invalid_param", draft.Unreadable(err, "The file cannot be read: it "+err.Error()+"."))
	}
	open := &openFile{id: j.id, revision: j.revision, done: j.done, rows: f.RowsBehind(j.done)}
	if j.options.DryRun {
		open.first, open.later = map[string]int{}, map[string][]csvfile.Row{}
		for rows := f.Rows(); ; {
			row, err := rows.Next()
			if err != nil {
				break
			}
			key := j.reader.Key(row)
			if _, twice := open.first[key]; twice && key != "" {
				open.later[key] = append(open.later[key], row.Clone())
				continue
			}
			open.first[key] = row.Number
		}
	}
	return open, nil
}

// next are the rows to do next, nil behind the last: one, or in a dry run the next one whose address no row before it has, with the later rows of
// that address.
func (f *openFile) next(j *job) []csvfile.Row {
	for {
		row, err := f.rows.Next()
		if err != nil {
			return nil
		}
		f.done = row.Number
		if f.first == nil {
			return []csvfile.Row{row}
		}
		key := j.reader.Key(row)
		if key == "" || f.first[key] == row.Number {
			return append([]csvfile.Row{row}, f.later[key]...)
		}
	}
}

// textOf is the text of an import's file.
func textOf(ctx context.Context, tx *db.Tx, id uuid.UUID) (text string, err error) {
	err = tx.QueryRow(ctx, `select csv from import where id = $1`, id).Scan(&text)
	return text, err
}
