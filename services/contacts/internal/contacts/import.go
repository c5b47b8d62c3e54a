package contacts

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/csvfile"
)

// Import is a file of contacts and how far it came.
type Import struct {
	ID         uuid.UUID     `json:"id"`
	FileName   string        `json:"file_name"`
	Status     string        `json:"status" enum:"uploaded,queued,running,completed,failed"`
	Headers    []string      `json:"headers"`
	Mapping    []string      `json:"mapping" doc:"The target of each column; an empty string skips it."`
	Options    ImportOptions `json:"options"`
	Preview    [][]string    `json:"preview" doc:"The first five rows."`
	Totals     ImportTotals  `json:"totals"`
	Errors     []ImportError `json:"errors" doc:"The first hundred; errors.csv has all."`
	CreatedAt  time.Time     `json:"created_at"`
	FinishedAt *time.Time    `json:"finished_at"`
}

// ImportOptions say how rows become contacts.
type ImportOptions struct {
	Duplicates string `json:"duplicates" enum:"fill_empty,skip,overwrite" doc:"What happens to a contact with the same email address."`
	Tag        string `json:"tag" maxLength:"100" doc:"Added to every imported contact."`
	Separator  string `json:"separator" doc:"auto, a comma or a semicolon."`
}

// ImportTotals count the rows.
type ImportTotals struct {
	Rows    int `json:"rows"`
	Created int `json:"created"`
	Updated int `json:"updated"`
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`
}

// ImportError is a row that was not imported; the headers are row 1.
type ImportError struct {
	Row     int    `json:"row"`
	Column  string `json:"column"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Statuses of an import.
const (
	importUploaded  = "uploaded"
	importQueued    = "queued"
	importRunning   = "running"
	importCompleted = "completed"
)

// NewImport is an upload.
type NewImport struct {
	FileName string `json:"file_name" required:"true" maxLength:"190"`
	CSV      string `json:"csv" required:"true" maxLength:"5242880" doc:"The file, its first row the names of the columns."`
}

// CreateImport stores a file, guesses what its columns are and shows the first rows. Nothing is imported yet.
func (s *service) CreateImport(ctx context.Context, tx *db.Tx, in NewImport) (Import, error) {
	m := Import{ID: db.NewID(), FileName: strings.TrimSpace(in.FileName), Status: importUploaded, CreatedAt: tx.Now, Errors: []ImportError{},
		Options: ImportOptions{Duplicates: "fill_empty", Separator: "auto"}}
	if m.FileName == "" {
		return m, fault.Param("file_name", "must not be empty")
	}
	if err := s.look(ctx, tx, &m, in.CSV); err != nil {
		return m, err
	}
	actor := importActor{UserID: tx.Who.UserID, Label: tx.Who.Label}
	_, err := tx.Exec(ctx, `
		insert into import (id, user_id, actor, file_name, csv, headers, mapping, options, preview, rows, created_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		m.ID, tx.Who.UserID, actor, m.FileName, strings.ReplaceAll(in.CSV, "\x00", ""), m.Headers, m.Mapping, m.Options, m.Preview, m.Totals.Rows, tx.Now)
	return m, err
}

// importActor is in whose name an import runs.
type importActor struct {
	UserID int64  `json:"user_id"`
	Label  string `json:"label"`
}

// look opens a file and fills in what can be seen of it: headers, a guessed mapping, preview, number of rows.
func (s *service) look(ctx context.Context, tx *db.Tx, m *Import, text string) error {
	f, err := csvfile.Open(text, m.Options.Separator)
	if err != nil {
		return fault.Param("csv", "%s", err.Error())
	}
	fields, err := writableFields(ctx, tx, "contact")
	if err != nil {
		return err
	}
	m.Headers, m.Preview = f.Headers, f.Preview()
	m.Mapping = csvfile.Guess(f.Headers, fields.columns())
	m.Totals.Rows = 0
	for rows := f.Rows(); ; m.Totals.Rows++ {
		if _, err := rows.Next(); err != nil {
			return nil
		}
	}
}

// columns are the fields as the columns of a file may name them.
func (s fieldSet) columns() []csvfile.Field {
	out := make([]csvfile.Field, 0, len(s))
	for _, f := range s {
		out = append(out, csvfile.Field{Key: f.Key, Label: f.Label})
	}
	slices.SortFunc(out, func(a, b csvfile.Field) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// readImport reads an import; who sees only their own contacts sees only their own imports.
func readImport(ctx context.Context, tx *db.Tx, id uuid.UUID, lock string) (Import, error) {
	var w db.Where
	w.And("id = ?", id)
	if tx.Who.Own {
		w.And("user_id = ?", tx.Who.UserID)
	}
	m := Import{Errors: []ImportError{}}
	err := tx.QueryRow(ctx, `select id, file_name, status, headers, mapping, options, preview, rows, created, updated, skipped, failed, created_at, finished_at
		from import where `+w.String()+lock, w.Args...).Scan(&m.ID, &m.FileName, &m.Status, &m.Headers, &m.Mapping, &m.Options, &m.Preview,
		&m.Totals.Rows, &m.Totals.Created, &m.Totals.Updated, &m.Totals.Skipped, &m.Totals.Failed, &m.CreatedAt, &m.FinishedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return m, fault.NotFound("import")
	}
	if err != nil {
		return m, err
	}
	rows, err := tx.Query(ctx, `select row, "column", code, message from import_error where import_id = $1 order by row limit 100`, id)
	if err != nil {
		return m, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ImportError])
	m.Errors = append(m.Errors, found...)
	return m, err
}

// GetImport reads an import and how far it came.
func (s *service) GetImport(ctx context.Context, tx *db.Tx, in op.ByID) (Import, error) {
	return readImport(ctx, tx, in.ID, "")
}

// ImportChange corrects the mapping or the options of an import before it starts.
type ImportChange struct {
	ID      uuid.UUID           `json:"id"`
	Mapping opt.Value[[]string] `json:"mapping,omitzero" maxItems:"500" doc:"first_name, last_name, email, phone, status, source, tags, fields.<key> or an empty string for each column."`
	Options ImportChoices       `json:"options,omitzero"`
}

// ImportChoices are options to change; those left out stay.
type ImportChoices struct {
	Duplicates *string `json:"duplicates,omitempty"`
	Tag        *string `json:"tag,omitempty"`
	Separator  *string `json:"separator,omitempty"`
}

func (c ImportChoices) apply(o *ImportOptions) error {
	for _, choice := range []struct {
		name    string
		given   *string
		target  *string
		allowed []string
	}{
		{"duplicates", c.Duplicates, &o.Duplicates, []string{"fill_empty", "skip", modeOverwrite}},
		{"separator", c.Separator, &o.Separator, []string{"auto", ",", ";"}},
	} {
		if choice.given == nil {
			continue
		}
		if !slices.Contains(choice.allowed, *choice.given) {
			return fault.Param("options."+choice.name, "must be one of %s", strings.Join(choice.allowed, " "))
		}
		*choice.target = *choice.given
	}
	if c.Tag != nil {
		if o.Tag = strings.Join(strings.Fields(*c.Tag), " "); len([]rune(o.Tag)) > 100 {
			return fault.Param("options.tag", "must have at most 100 characters")
		}
	}
	return nil
}

// UpdateImport saves mapping and options.
func (s *service) UpdateImport(ctx context.Context, tx *db.Tx, in ImportChange) (Import, error) {
	return s.prepare(ctx, tx, in, importUploaded)
}

// StartImport saves mapping and options, and lets the import run in the background.
func (s *service) StartImport(ctx context.Context, tx *db.Tx, in ImportChange) (Import, error) {
	return s.prepare(ctx, tx, in, importQueued)
}

func (s *service) prepare(ctx context.Context, tx *db.Tx, in ImportChange, status string) (Import, error) {
	m, err := readImport(ctx, tx, in.ID, " for update")
	if err != nil {
		return m, err
	}
	if m.Status != importUploaded {
		return m, fault.InvalidStatus(m.Status, "The import has started already.")
	}
	before := m.Options.Separator
	if err := in.Options.apply(&m.Options); err != nil {
		return m, err
	}
	if m.Options.Separator != before {
		var text string
		if err := tx.QueryRow(ctx, `select csv from import where id = $1`, m.ID).Scan(&text); err != nil {
			return m, err
		}
		if err := s.look(ctx, tx, &m, text); err != nil {
			return m, err
		}
	}
	if in.Mapping.Given() {
		fields, err := writableFields(ctx, tx, "contact")
		if err != nil {
			return m, err
		}
		if err := csvfile.CheckMapping(in.Mapping.V, len(m.Headers), fields.columns()); err != nil {
			return m, fault.Param("mapping", "%s", err.Error())
		}
		m.Mapping = append(slices.Clone(in.Mapping.V), make([]string, len(m.Headers)-len(in.Mapping.V))...)
	}
	if status == importQueued && !slices.ContainsFunc(m.Mapping, func(t string) bool { return t != "" }) {
		return m, fault.Param("mapping", "must have a target for one column at least")
	}
	m.Status = status
	// It runs in the name of who starts it.
	_, err = tx.Exec(ctx, `update import set status = $2, mapping = $3, options = $4, headers = $5, preview = $6, rows = $7, user_id = $8, actor = $9 where id = $1`,
		m.ID, m.Status, m.Mapping, m.Options, m.Headers, m.Preview, m.Totals.Rows, tx.Who.UserID, importActor{tx.Who.UserID, tx.Who.Label})
	return m, err
}

// ImportErrors downloads the rows that failed, with the reason before their cells.
func (s *service) ImportErrors(ctx context.Context, tx *db.Tx, in op.ByID, d *op.Download) error {
	m, err := readImport(ctx, tx, in.ID, "")
	if err != nil {
		return err
	}
	d.Start("import-errors.csv", op.Separator(m.Options.Separator))
	if err := d.Row(append([]string{"row", "column", "code", "message"}, m.Headers...)); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `select row, "column", code, message, cells from import_error where import_id = $1 order by row`, in.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e ImportError
		var cells []string
		if err := rows.Scan(&e.Row, &e.Column, &e.Code, &e.Message, &cells); err != nil {
			return err
		}
		if err := d.Row(append([]string{strconv.Itoa(e.Row), e.Column, e.Code, e.Message}, cells...)); err != nil {
			return err
		}
	}
	return rows.Err()
}

const (
	// uploadLasts is how long a file waits to be started, importLasts how long an import can be looked at.
	uploadLasts = 7 * 24 * time.Hour
	importLasts = 90 * 24 * time.Hour
)

// forgetImports removes what imports keep of people once nobody needs it any more.
func (s *service) forgetImports(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `update import set status = 'failed', csv = '', preview = '[]', finished_at = $1 where status = 'uploaded' and created_at < $2`,
			tx.Now, tx.Now.Add(-uploadLasts)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `delete from import where status in ('completed', 'failed') and created_at < $1`, tx.Now.Add(-importLasts))
		return err
	})
}
