package imports

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
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/person"
)

// ListedImport is a file of contacts and how far it came.
type ListedImport struct {
	ID         uuid.UUID     `json:"id" doc:"The id of the record."`
	FileName   string        `json:"file_name" doc:"The name of the file."`
	Status     string        `json:"status" enum:"uploaded,queued,running,completed,failed" doc:"How far it is."`
	Headers    []string      `json:"headers" doc:"The names of the columns, as the file has them."`
	Mapping    []string      `json:"mapping" doc:"The target of each column; an empty string skips it."`
	Options    importOptions `json:"options"`
	Totals     importTotals  `json:"totals"`
	CreatedAt  time.Time     `json:"created_at" doc:"When it was made."`
	FinishedAt *time.Time    `json:"finished_at" doc:"When it ended; null while it has not."`
}

// Import is a ListedImport with rows of its file.
type Import struct {
	ListedImport
	Preview [][]string    `json:"preview" doc:"The first five rows."`
	Errors  []importError `json:"errors" doc:"The first hundred; errors.csv has all."`
}

// importOptions say how rows become contacts.
type importOptions struct {
	Duplicates string `json:"duplicates" enum:"fill_empty,skip,overwrite" doc:"What happens to a contact with the same email address."`
	Tag        string `json:"tag" maxLength:"100" doc:"Added to every imported contact."`
	Separator  string `json:"separator" doc:"auto, a comma or a semicolon."`
}

// importTotals count the rows: created, updated, skipped and failed ones are all of an import that is completed.
type importTotals struct {
	Rows    int `json:"rows" doc:"How many rows there are."`
	Created int `json:"created" doc:"How many were made."`
	Updated int `json:"updated" doc:"How many were changed."`
	Skipped int `json:"skipped" doc:"How many were left out."`
	Failed  int `json:"failed" doc:"How many were refused."`
}

// Statuses of an import.
const (
	importUploaded  = "uploaded"
	importQueued    = "queued"
	importRunning   = "running"
	importCompleted = "completed"
	importFailed    = "failed"
)

// newImport is an upload.
type newImport struct {
	FileName string `json:"file_name" required:"true" maxLength:"190" doc:"The name of the file, for people."`
	CSV      string `json:"csv" required:"true" maxLength:"5242880" doc:"The file, its first row the names of the columns."`
}

// createImport stores a file, guesses what its columns are and shows the first rows. Nothing is imported yet.
func (r *Room) createImport(ctx context.Context, tx *db.Tx, in newImport) (Import, error) {
	m := Import{ListedImport{ID: db.NewID(), FileName: strings.TrimSpace(in.FileName), Status: importUploaded, CreatedAt: tx.Now,
		Options: importOptions{Duplicates: contact.ModeFill, Separator: "auto"}}, nil, []importError{}}
	if p := form.Name(m.FileName, 190); !p.IsZero() {
		return m, fault.Invalid("file_name", p)
	}
	m, err := opened(ctx, tx, m, in.CSV)
	if err != nil {
		return m, err
	}
	_, err = tx.Exec(ctx, `
		insert into import (id, user_id, actor, file_name, csv, headers, mapping, options, preview, rows, created_at)
		values (@id, @user, @actor, @file_name, @csv, @headers, @mapping, @options, @preview, @rows, @now)`,
		pgx.NamedArgs{"id": m.ID, "user": tx.Who.UserID, "actor": importActor{tx.Who.UserID, tx.Who.Label}, "file_name": m.FileName,
			"csv": strings.ReplaceAll(in.CSV, "\x00", ""), "headers": m.Headers, "mapping": m.Mapping, "options": m.Options, "preview": m.Preview,
			"rows": m.Totals.Rows, "now": tx.Now})
	return m, err
}

// importActor is in whose name an import runs.
type importActor struct {
	UserID int64  `json:"user_id"`
	Label  string `json:"label"`
}

// opened is m with what its file shows: headers, a guessed mapping, preview, number of rows. A file that cannot be read is
// 400 naming csv.
func opened(ctx context.Context, tx *db.Tx, m Import, text string) (Import, error) {
	f, err := csvfile.Open(text, m.Options.Separator)
	if err != nil {
		return m, fault.Invalid("csv", unreadable(err, err.Error()))
	}
	fields, err := field.Writable(ctx, tx, "contact")
	if err != nil {
		return m, err
	}
	m.Headers, m.Preview = f.Headers, f.Preview()
	m.Mapping = csvfile.Guess(f.Headers, fields.Columns())
	// Rows of people who were erased are gone from the file, and have failed.
	m.Totals.Rows = m.Totals.Failed
	for rows := f.Rows(); ; m.Totals.Rows++ {
		if _, err := rows.Next(); err != nil {
			return m, nil
		}
	}
}

const (
	listedColumns = `id, file_name, status, headers, mapping, options, rows, created, updated, skipped, failed, created_at, finished_at`
	importColumns = listedColumns + `, preview`
)

// importRow is an import as importColumns give it. Those of listedColumns leave Preview empty.
type importRow struct {
	ID                                      uuid.UUID
	FileName, Status                        string
	Headers, Mapping                        []string
	Options                                 importOptions
	Preview                                 [][]string
	Rows, Created, Updated, Skipped, Failed int
	CreatedAt                               time.Time
	FinishedAt                              *time.Time
}

func (r importRow) listed() ListedImport {
	return ListedImport{r.ID, r.FileName, r.Status, r.Headers, r.Mapping, r.Options, importTotals{r.Rows, r.Created, r.Updated, r.Skipped, r.Failed},
		r.CreatedAt, r.FinishedAt}
}

// readImport reads an import. Who sees only their own contacts sees only their own imports; 404 svc_not_found otherwise.
func readImport(ctx context.Context, tx *db.Tx, id uuid.UUID) (Import, error) {
	w := visibleImports(tx)
	w.And("id = ?", id)
	return oneImport(ctx, tx, `select `+importColumns+` from import where `+w.String(), w.Args...)
}

// lockImport is readImport that locks the import.
func lockImport(ctx context.Context, tx *db.Tx, id uuid.UUID) (Import, error) {
	w := visibleImports(tx)
	w.And("id = ?", id)
	return oneImport(ctx, tx, `select `+importColumns+` from import where `+w.String()+` for update`, w.Args...)
}

func visibleImports(tx *db.Tx) *db.Where {
	w := &db.Where{}
	if tx.Who.Own {
		w.And("user_id = ?", tx.Who.UserID)
	}
	return w
}

func oneImport(ctx context.Context, tx *db.Tx, query string, args ...any) (Import, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return Import{}, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[importRow])
	if errors.Is(err, pgx.ErrNoRows) {
		return Import{}, fault.NotFound("import")
	}
	if err != nil {
		return Import{}, err
	}
	m := Import{r.listed(), r.Preview, []importError{}}
	if rows, err = tx.Query(ctx, `select row, "column", code, message, details from import_error where import_id = $1 order by row limit 100`, r.ID); err != nil {
		return m, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[importError])
	m.Errors = append(m.Errors, found...)
	return m, err
}

// findImports lists the imports that readImport finds, newest first.
func (r *Room) findImports(ctx context.Context, tx *db.Tx, in db.Page) (db.List[ListedImport], error) {
	page, err := tx.Page(in, "imports", in)
	if err != nil {
		return db.List[ListedImport]{}, err
	}
	w := visibleImports(tx)
	if page.First {
		if err := tx.QueryRow(ctx, `select count(*) from import i where `+w.String(), w.Args...).Scan(&page.Total); err != nil {
			return db.List[ListedImport]{}, err
		}
	}
	w.After(page, "i")
	rows, err := tx.Query(ctx, `select `+listedColumns+` from import i where `+w.String()+db.LimitTo(` order by i.created_at desc, i.id desc`, page.Limit), w.Args...)
	if err != nil {
		return db.List[ListedImport]{}, err
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ListedImport, error) {
		m, err := pgx.RowToStructByNameLax[importRow](row)
		return m.listed(), err
	})
	return db.Close(page, all, func(m ListedImport) (time.Time, uuid.UUID) { return m.CreatedAt, m.ID }), err
}

// getImport reads an import and how far it came.
func (r *Room) getImport(ctx context.Context, tx *db.Tx, in op.ByID) (Import, error) {
	return readImport(ctx, tx, in.ID)
}

// importChange corrects the mapping or the options of an import before it starts.
type importChange struct {
	ID      uuid.UUID                `json:"id"`
	Mapping opt.Value[[]string]      `json:"mapping,omitzero" maxItems:"500" doc:"first_name, last_name, email, phone, status, source, tags, fields.<key> or an empty string for each column."`
	Options opt.Value[importChoices] `json:"options,omitzero" doc:"What the import does."`
}

// importChoices are options to change; those left out stay.
type importChoices struct {
	Duplicates opt.Value[string] `json:"duplicates,omitzero" enum:"fill_empty,skip,overwrite" doc:"What happens with a row whose address a contact has."`
	Tag        opt.Value[string] `json:"tag,omitzero" nullable:"true" maxLength:"100" doc:"null or an empty text for none."`
	Separator  opt.Value[string] `json:"separator,omitzero" doc:"The character between the columns."`
}

// duplicatesSkip leaves a contact that has the address of a row as it is; the other choices are modeFill and modeOverwrite.
const duplicatesSkip = "skip"

// apply gives o with the choices that were made.
func (c importChoices) apply(o importOptions) (importOptions, error) {
	c.Duplicates.Apply(&o.Duplicates)
	c.Separator.Apply(&o.Separator)
	c.Tag.Apply(&o.Tag)
	o.Tag = person.Name(o.Tag)
	if separators := []string{"auto", ",", ";"}; !slices.Contains(separators, o.Separator) {
		return o, fault.Invalid("options.separator", fault.NotOneOf(separators...))
	}
	return o, nil
}

// updateImport saves mapping and options.
func (r *Room) updateImport(ctx context.Context, tx *db.Tx, in importChange) (Import, error) {
	return r.prepare(ctx, tx, in, importUploaded)
}

// startImport saves mapping and options, and lets the import run in the background.
func (r *Room) startImport(ctx context.Context, tx *db.Tx, in importChange) (Import, error) {
	return r.prepare(ctx, tx, in, importQueued)
}

func (r *Room) prepare(ctx context.Context, tx *db.Tx, in importChange, status string) (Import, error) {
	m, err := lockImport(ctx, tx, in.ID)
	if err != nil {
		return m, err
	}
	if m.Status != importUploaded {
		return m, fault.InvalidStatus(m.Status, "The import has started already.")
	}
	before := m.Options.Separator
	if m.Options, err = in.Options.V.apply(m.Options); err != nil {
		return m, err
	}
	if m.Options.Separator != before {
		var text string
		if err := tx.QueryRow(ctx, `select csv from import where id = $1`, m.ID).Scan(&text); err != nil {
			return m, err
		}
		if m, err = opened(ctx, tx, m, text); err != nil {
			return m, err
		}
	}
	if in.Mapping.Given() {
		fields, err := field.Writable(ctx, tx, "contact")
		if err != nil {
			return m, err
		}
		if err := csvfile.CheckMapping(in.Mapping.V, len(m.Headers), fields.Columns()); err != nil {
			return m, fault.Invalid("mapping", fault.NewProblem("mapping", err.Error()))
		}
		m.Mapping = append(slices.Clone(in.Mapping.V), make([]string, len(m.Headers)-len(in.Mapping.V))...)
	}
	if status == importQueued && !slices.ContainsFunc(m.Mapping, func(t string) bool { return t != "" }) {
		return m, fault.Invalid("mapping", fault.NewProblem("empty", "must have a target for one column at least"))
	}
	m.Status = status
	// It runs in the name of who starts it.
	_, err = tx.Exec(ctx, `update import set status = @status, mapping = @mapping, options = @options, headers = @headers, preview = @preview, rows = @rows,
		user_id = @user, actor = @actor where id = @id`,
		pgx.NamedArgs{"id": m.ID, "status": m.Status, "mapping": m.Mapping, "options": m.Options, "headers": m.Headers, "preview": m.Preview,
			"rows": m.Totals.Rows, "user": tx.Who.UserID, "actor": importActor{tx.Who.UserID, tx.Who.Label}})
	return m, err
}

// importErrors downloads the rows that failed, with the reason before their cells.
func (r *Room) importErrors(ctx context.Context, tx *db.Tx, in op.ByID, d *op.Download) error {
	m, err := readImport(ctx, tx, in.ID)
	if err != nil {
		return err
	}
	d.Start("import-errors.csv", op.Separator(m.Options.Separator))
	if err := d.Row(append([]string{"row", "column", "code", "message"}, m.Headers...)); err != nil {
		return err
	}
	rows, err := d.Query(ctx, tx, `select row, "column", code, message, cells from import_error where import_id = $1 order by row`, in.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e importError
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

// dropImports fails uploads that nobody started for uploadLasts, and deletes imports that ended importLasts ago.
func (r *Room) dropImports(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `
			with old as (
				update import set status = @failed, csv = '', preview = '[]', finished_at = @now where status = @uploaded and created_at < @before returning id
			)
			insert into import_error (import_id, row, "column", code, message, details, cells)
			select id, 0, '', 'svc_invalid_status', 'Nobody started the import within seven days.', '{"code": "not_started"}', '{}' from old`,
			pgx.NamedArgs{"failed": importFailed, "uploaded": importUploaded, "now": tx.Now, "before": tx.Now.Add(-uploadLasts)}); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `delete from import where status in ('completed', 'failed') and created_at < $1`, tx.Now.Add(-importLasts))
		return err
	})
}

// importError is a row that was not imported, or why the import has failed. The headers are row 1, and row 0 is the whole file.
// Code that works on an import returns it as an error to end the import.
type importError struct {
	Row     int    `json:"row" doc:"The number of the row; the headers are row 1, and 0 stands for the whole file."`
	Column  string `json:"column" doc:"The column that it is about; empty for none."`
	Code    string `json:"code" doc:"The code of the error."`
	Message string `json:"message" doc:"A sentence for people."`
	// Details are the code and the facts of a fault.Problem. Errors from before they were kept have none.
	Details map[string]any `json:"details" doc:"What is wrong, as in data.details of a refusal: a code, and the values that the sentence names. Empty for older errors."`
}

// newError makes the error of a row. The text of p is its message.
func newError(row int, column, code string, p fault.Problem) importError {
	e := importError{row, column, code, p.Text, p.Details()}
	if allowed, ok := e.Details["allowed"].([]string); ok {
		// A file may have many rows with such an error, and each stores the list.
		e.Details["allowed"] = allowed[:min(len(allowed), 10)]
	}
	return e
}

func (e importError) Error() string { return e.Code + ": " + e.Message }

// unreadable is the problem of a file that csvfile could not open, in the words of text.
func unreadable(err error, text string) fault.Problem {
	var u csvfile.Unreadable
	errors.As(err, &u)
	if u.Max > 0 {
		return fault.NewProblem(u.Code, text, "max", u.Max)
	}
	return fault.NewProblem(u.Code, text)
}
