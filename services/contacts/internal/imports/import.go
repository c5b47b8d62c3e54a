package imports

import (
	"context"
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
	"frontdesk/services/contacts/internal/draft"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/person"
)

// ListedImport is a file of contacts and how far it came.
type ListedImport struct {
	ID         uuid.UUID             `json:"id" doc:"The id of the record."`
	FileName   string                `json:"file_name" doc:"The name of the file."`
	Status     string                `json:"status" enum:"uploaded,queued,running,checked,completed,failed,undoing,undone" doc:"How far it is."`
	Headers    []string              `json:"headers" doc:"The names of the columns, as the file has them."`
	Mapping    []string              `json:"mapping" doc:"The target of each column; an empty string skips it."`
	Options    importOptions         `json:"options"`
	Totals     importTotals          `json:"totals"`
	Undo       opt.Value[importUndo] `json:"undo" doc:"What an undo has done so far; null without one."`
	CreatedAt  time.Time             `json:"created_at" doc:"When it was made."`
	FinishedAt *time.Time            `json:"finished_at" doc:"When it ended; null while it has not."`
}

// Import is a ListedImport with rows of its file.
type Import struct {
	ListedImport
	Preview [][]string          `json:"preview" doc:"The first five rows."`
	Errors  []draft.ImportError `json:"errors" doc:"The first hundred; errors.csv has more."`
}

// importOptions say how rows become contacts.
type importOptions struct {
	Duplicates string `json:"duplicates" enum:"fill_empty,skip,overwrite" doc:"What happens to a contact with the same email address."`
	Tag        string `json:"tag" maxLength:"100" doc:"Added to every imported contact."`
	Separator  string `json:"separator" doc:"auto, a comma, a semicolon, a tab or a bar."`
	Header     int    `json:"header" doc:"The number of the row with the names of the columns, counted from 1; 0 for a file without them."`
	DryRun     bool   `json:"dry_run" doc:"The rows are tried and counted, and nothing is changed."`
}

// importTotals count the rows: created, updated, skipped and failed ones are all of an import that is completed.
type importTotals struct {
	Rows    int `json:"rows" doc:"How many rows there are."`
	Created int `json:"created" doc:"How many were made."`
	Updated int `json:"updated" doc:"How many were changed."`
	Skipped int `json:"skipped" doc:"How many were left out."`
	Failed  int `json:"failed" doc:"How many were refused."`
	Cells   int `json:"cells" doc:"How many cells of imported rows could not be read and were left out."`
}

// Statuses of an import.
const (
	importUploaded  = "uploaded"
	importQueued    = "queued"
	importRunning   = "running"
	importChecked   = "checked"
	importCompleted = "completed"
	importFailed    = "failed"
	importUndoing   = "undoing"
	importUndone    = "undone"
)

// newImport is an upload.
type newImport struct {
	FileName string `json:"file_name" required:"true" maxLength:"190" doc:"The name of the file, for people."`
	CSV      string `json:"csv" required:"true" maxLength:"5242880" doc:"The file as text: CSV, of which the row with the names of the columns is found among the first ten, or vCards."`
}

// createImport stores a file, guesses what its columns are and shows the first rows. Nothing is imported yet.
func (r *Room) createImport(ctx context.Context, tx *db.Tx, in newImport) (Import, error) {
	m := Import{ListedImport{ID: db.NewID(), FileName: strings.TrimSpace(in.FileName), Status: importUploaded, CreatedAt: tx.Now,
		Options: importOptions{Duplicates: contact.ModeFill, Separator: "auto", Header: csvfile.HeaderGuessed}}, nil, []draft.ImportError{}}
	if p := form.Name(m.FileName, 190); !p.IsZero() {
		return m, fault.Invalid("file_name", p)
	}
	in.CSV = csvfile.FromCards(in.CSV)
	m, f, err := opened(m, in.CSV)
	if err != nil {
		return m, fault.Invalid("csv", draft.Unreadable(err, err.Error()))
	}
	if m.Mapping, err = guessed(ctx, tx, f); err != nil {
		return m, err
	}
	_, err = tx.Exec(ctx, `
		insert into import (id, user_id, actor, file_name, csv, headers, mapping, options, header, separator, done_row, preview, rows, created_at)
		values (@id, @user, @actor, @file_name, @csv, @headers, @mapping, @options, @header, @separator, @header, @preview, @rows, @now)`,
		db.Args{"id": m.ID, "user": tx.Who.UserID, "actor": importActor{tx.Who.UserID, tx.Who.Label}, "file_name": m.FileName,
			"csv": strings.ReplaceAll(in.CSV, "\x00", ""), "headers": m.Headers, "mapping": m.Mapping, "options": m.Options, "header": m.Options.Header, "separator": string(f.Separator), "preview": m.Preview,
			"rows": m.Totals.Rows, "now": tx.Now})
	return m, err
}

// importActor is in whose name an import runs.
type importActor struct {
	UserID int64  `json:"user_id"`
	Label  string `json:"label"`
}

// opened is m with what its file shows: headers, preview, number of rows, and the file. It fails with csvfile.Unreadable only.
func opened(m Import, text string) (Import, *csvfile.File, error) {
	f, err := csvfile.Open(text, m.Options.Separator, m.Options.Header)
	if err != nil {
		return m, nil, err
	}
	m.Headers, m.Preview, m.Options.Header = f.Headers, f.Preview(), f.Header
	// Rows of people who were erased are gone from the file, and have failed.
	m.Totals.Rows = m.Totals.Failed
	for rows := f.Rows(); ; m.Totals.Rows++ {
		if _, err := rows.Next(); err != nil {
			return m, f, nil
		}
	}
}

// guessed is the mapping that a file suggests.
func guessed(ctx context.Context, tx *db.Tx, f *csvfile.File) ([]string, error) {
	fields, err := field.Writable(ctx, tx, "contact")
	return f.Guess(fields.Columns()), err
}

const (
	listedColumns = `id, file_name, status, headers, mapping, options, header, rows, created, updated, skipped, failed, cells, removed, restored, kept, created_at, finished_at`
	importColumns = listedColumns + `, preview`
)

// importRow is an import as importColumns give it. Those of listedColumns leave Preview empty.
type importRow struct {
	ID                                       uuid.UUID
	FileName, Status                         string
	Headers, Mapping                         []string
	Options                                  importOptions
	Preview                                  [][]string
	Header, Rows                             int
	Created, Updated, Skipped, Failed, Cells int
	Removed, Restored, Kept                  int
	CreatedAt                                time.Time
	FinishedAt                               *time.Time
}

func (r importRow) listed() ListedImport {
	r.Options.Header = r.Header
	var undo opt.Value[importUndo]
	if r.Status == importUndoing || r.Status == importUndone {
		undo = opt.Of(importUndo{r.Removed, r.Restored, r.Kept})
	}
	return ListedImport{r.ID, r.FileName, r.Status, r.Headers, r.Mapping, r.Options, importTotals{r.Rows, r.Created, r.Updated, r.Skipped, r.Failed, r.Cells},
		undo, r.CreatedAt, r.FinishedAt}
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
	r, err := db.Find[importRow](ctx, tx, fault.NotFound("import"), query, args...)
	if err != nil {
		return Import{}, err
	}
	m := Import{r.listed(), r.Preview, []draft.ImportError{}}
	found, err := db.Rows[draft.ImportError](ctx, tx, `select row, "column", code, message, dropped, details from import_error where import_id = $1 order by row, n limit 100`, r.ID)
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
	Mapping opt.Value[[]string]      `json:"mapping,omitzero" maxItems:"500" doc:"first_name, last_name, email, phone, organization, owner, status, source, tags, fields.<key> or an empty string for each column. Of several columns with one target, all tags count, else the first that is filled in the row."`
	Options opt.Value[importChoices] `json:"options,omitzero" doc:"What the import does."`
}

// importChoices are options to change; those left out stay.
type importChoices struct {
	Duplicates opt.Value[string] `json:"duplicates,omitzero" enum:"fill_empty,skip,overwrite" doc:"What happens with a row whose address a contact has."`
	Tag        opt.Value[string] `json:"tag,omitzero" nullable:"true" maxLength:"100" doc:"null or an empty text for none."`
	Separator  opt.Value[string] `json:"separator,omitzero" doc:"The character between the columns: a comma, a semicolon, a tab, a bar, or auto."`
	DryRun     opt.Value[bool]   `json:"dry_run,omitzero" doc:"Try the rows and count what would become of them, without a change. The status is checked then, and the import can be started."`
	Header     opt.Value[int]    `json:"header,omitzero" minimum:"0" maximum:"50" doc:"The number of the row with the names of the columns, counted from 1; 0 for a file without them."`
}

// duplicatesSkip leaves a contact that has the address of a row as it is; the other choices are modeFill and modeOverwrite.
const duplicatesSkip = "skip"

// apply gives o with the choices that were made.
func (c importChoices) apply(o importOptions) (importOptions, error) {
	c.Duplicates.Apply(&o.Duplicates)
	c.Separator.Apply(&o.Separator)
	c.Tag.Apply(&o.Tag)
	c.Header.Apply(&o.Header)
	c.DryRun.Apply(&o.DryRun)
	o.Tag = person.Name(o.Tag)
	if !slices.Contains(csvfile.Separators(), o.Separator) {
		return o, fault.Invalid("options.separator", fault.NotOneOf(csvfile.Separators()...))
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
	if err := m.waits(); err != nil {
		return m, err
	}
	if m.Status == importChecked {
		if err := forgetCheck(ctx, tx, &m); err != nil {
			return m, err
		}
	}
	m.Options.DryRun = false // each start says it anew
	before := m.Options
	if m.Options, err = in.Options.V.apply(m.Options); err != nil {
		return m, err
	}
	var separator *string
	if m.Options.Separator != before.Separator || m.Options.Header != before.Header {
		if separator, err = split(ctx, tx, &m); err != nil {
			return m, err
		}
	}
	if err := m.remap(ctx, tx, in.Mapping); err != nil {
		return m, err
	}
	if (status == importQueued || in.Mapping.Given()) && !slices.ContainsFunc(m.Mapping, func(t string) bool { return t != "" }) {
		return m, fault.Invalid("mapping", fault.NewProblem("empty", "must have a target for one column at least"))
	}
	m.Status = status
	// It runs in the name of who starts it.
	_, err = tx.Exec(ctx, `update import set status = @status, mapping = @mapping, options = @options, headers = @headers, header = @header,
		done_row = case when status = 'checked' or header <> @header then @header else done_row end,
		separator = coalesce(@separator, separator), preview = @preview, rows = @rows,
		user_id = case when @starts then @user else user_id end, actor = case when @starts then @actor else actor end where id = @id`,
		db.Args{"id": m.ID, "status": m.Status, "mapping": m.Mapping, "options": m.Options, "headers": m.Headers, "header": m.Options.Header,
			"separator": separator, "preview": m.Preview, "rows": m.Totals.Rows, "starts": status == importQueued, "user": tx.Who.UserID,
			"actor": importActor{tx.Who.UserID, tx.Who.Label}})
	return m, err
}

// waits refuses an import that has started.
func (m *Import) waits() error {
	if m.Status == importUploaded || m.Status == importChecked {
		return nil
	}
	return fault.InvalidStatus(m.Status, "The import has started already.")
}

// remap gives m another mapping, if there is one.
func (m *Import) remap(ctx context.Context, tx *db.Tx, mapping opt.Value[[]string]) error {
	if !mapping.Given() {
		return nil
	}
	fields, err := field.Writable(ctx, tx, "contact")
	if err != nil {
		return err
	}
	if err := csvfile.CheckMapping(mapping.V, len(m.Headers), fields.Columns()); err != nil {
		return fault.Invalid("mapping", fault.NewProblem("mapping", err.Error()))
	}
	m.Mapping = append(slices.Clone(mapping.V), make([]string, len(m.Headers)-len(mapping.V))...)
	return nil
}

// forgetCheck forgets what a dry run counted. Rows of people who were erased stay failed.
func forgetCheck(ctx context.Context, tx *db.Tx, m *Import) error {
	if _, err := tx.Exec(ctx, `delete from import_error where import_id = $1 and code <> 'erased'`, m.ID); err != nil {
		return err
	}
	m.Errors = slices.DeleteFunc(m.Errors, func(e draft.ImportError) bool { return e.Code != "erased" })
	m.Totals = importTotals{Rows: m.Totals.Rows}
	return tx.QueryRow(ctx, `update import set created = 0, updated = 0, skipped = 0, cells = 0,
		failed = (select count(*) from import_error where import_id = id) where id = $1 returning failed`, m.ID).Scan(&m.Totals.Failed)
}

// split reads the file of an import anew by its options, and gives the separator. The mapping is guessed anew if the columns are others now.
func split(ctx context.Context, tx *db.Tx, m *Import) (separator *string, err error) {
	text, err := textOf(ctx, tx, m.ID)
	if err != nil {
		return nil, err
	}
	before := m.Headers
	next, f, err := opened(*m, text)
	if err != nil {
		return nil, fault.Invalid("options.header", draft.Unreadable(err, err.Error()))
	}
	if *m = next; !slices.Equal(before, m.Headers) {
		if m.Mapping, err = guessed(ctx, tx, f); err != nil {
			return nil, err
		}
	}
	found := string(f.Separator)
	return &found, nil
}

// importErrors downloads the rows that failed and those of which a cell was left out, with the reason before their cells.
func (r *Room) importErrors(ctx context.Context, tx *db.Tx, in op.ByID, d *op.Download) error {
	m, err := readImport(ctx, tx, in.ID)
	if err != nil {
		return err
	}
	var separator string
	if err := tx.QueryRow(ctx, `select separator from import where id = $1`, m.ID).Scan(&separator); err != nil {
		return err
	}
	d.Start("import-errors.csv", op.Separator(separator))
	if err := d.Row(append([]string{"row", "column", "code", "message", "dropped"}, m.Headers...)); err != nil {
		return err
	}
	rows, err := d.Query(ctx, tx, `select row, "column", code, message, dropped, cells from import_error where import_id = $1 order by row, n`, in.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e draft.ImportError
		var cells []string
		if err := rows.Scan(&e.Row, &e.Column, &e.Code, &e.Message, &e.Dropped, &cells); err != nil {
			return err
		}
		if err := d.Row(append([]string{strconv.Itoa(e.Row), e.Column, e.Code, e.Message, e.Dropped}, cells...)); err != nil {
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

// dropImports fails uploads that nobody started for uploadLasts, forgets what undoing needs after undoLasts, and deletes imports that ended
// importLasts ago.
func (r *Room) dropImports(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `
			with old as (
				update import set status = @failed, csv = '', preview = '[]', finished_at = @now where status in (@uploaded, @checked) and created_at < @before returning id
			)
			insert into import_error (import_id, row, "column", code, message, details, cells)
			select id, 0, '', 'svc_invalid_status', 'Nobody started the import within seven days.', '{"code": "not_started"}', '{}' from old`,
			db.Args{"failed": importFailed, "uploaded": importUploaded, "checked": importChecked, "now": tx.Now, "before": tx.Now.Add(-uploadLasts)}); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from import_contact c using import i where i.id = c.import_id and i.status in ('completed', 'failed') and i.finished_at < $1`,
			tx.Now.Add(-undoLasts)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `delete from import where status in ('completed', 'failed', 'undone') and created_at < $1`, tx.Now.Add(-importLasts))
		return err
	})
}
