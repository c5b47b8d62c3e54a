package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/draft"
)

// Hold keeps all imports that are not done where they are until the transaction ends.
func Hold(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `select from import where csv <> '' order by id for update`)
	return err
}

// importText is what an import keeps of its file. What was struck out leaves a blank behind, so that the other rows keep
// their numbers.
type importText struct {
	ID       uuid.UUID     `db:"id"`
	FileName string        `db:"file_name"`
	Headers  []string      `db:"headers"`
	Preview  [][]string    `db:"preview"`
	Options  importOptions `db:"options"`
	Header   int           `db:"header"`
	DoneRow  int           `db:"done_row"`
	CSV      string        `db:"csv"`
}

// Strike takes the people's rows out of files, previews and errors, and adds the ids of these imports to the
// people: a stored answer that shows a row of theirs need not name an address. A row that was still to be imported
// counts as failed.
func Strike(ctx context.Context, tx *db.Tx, l *contact.Leavers) error {
	ids, err := contact.IDsOf(ctx, tx, `select id from import order by id for update`)
	if err != nil {
		return err
	}
	// One file at a time: together they may be large.
	for _, id := range ids {
		t, err := db.One[importText](ctx, tx, `select id, file_name, headers, preview, options, header, done_row, csv from import where id = $1`, id)
		if err != nil {
			return err
		}
		waiting, struck := strikeFromText(&t, l)
		if !struck {
			continue
		}
		l.AddID(id)
		if _, err := tx.Exec(ctx, `update import set file_name = $2, headers = $3, preview = $4, csv = $5, failed = failed + $6, revision = revision + 1 where id = $1`,
			id, t.FileName, t.Headers, t.Preview, t.CSV, len(waiting)); err != nil {
			return fmt.Errorf("import %s: %w", id, err)
		}
		if err := noteErased(ctx, tx, slices.Repeat([]uuid.UUID{id}, len(waiting)), waiting); err != nil {
			return fmt.Errorf("errors of import %s: %w", id, err)
		}
	}
	if _, err := tx.Exec(ctx, `delete from import_contact where contact_id = any($1)`, l.IDs()); err != nil {
		return err
	}
	return strikeFromImportErrors(ctx, tx, l)
}

// noteErased stores of rows, each of the import at the same place, that they are not imported because their person was erased.
// It replaces other errors of these rows.
func noteErased(ctx context.Context, tx *db.Tx, imports []uuid.UUID, rows []int) error {
	if len(rows) == 0 {
		return nil
	}
	e := draft.NewError(0, "", "erased", fault.NewProblem("erased", "the person in the row was erased"))
	b := &pgx.Batch{}
	b.Queue(`delete from import_error where (import_id, row) in (select * from unnest($1::uuid[], $2::int[]))`, imports, rows)
	b.Queue(`insert into import_error (import_id, row, "column", code, message, details, cells)
		select distinct import_id, row, $3, $4, $5, $6::jsonb, '{}'::text[] from unnest($1::uuid[], $2::int[]) as r(import_id, row)`, imports, rows, e.Column, e.Code, e.Message, e.Details)
	return tx.SendBatch(ctx, b).Close()
}

// strikeFromText reports whether anything in t was about the people and is blank now, and gives the numbers of the rows
// among it that were still to be imported.
func strikeFromText(t *importText, l *contact.Leavers) (waiting []int, struck bool) {
	t.FileName, struck = l.StrikeFrom(t.FileName)
	if draft.About(t.Headers, l) {
		// A file without headers: its first row is a person.
		t.Headers, struck = csvfile.NamelessHeaders(len(t.Headers)), true
	}
	for i, row := range t.Preview {
		if draft.About(row, l) {
			t.Preview[i], struck = make([]string, len(row)), true
		}
	}
	if t.CSV == "" {
		return nil, struck
	}
	f, err := csvfile.Reopen(t.CSV, t.Options.Separator, t.Header)
	if err != nil {
		// The person may stand in it. Without a text the import ends as failed.
		t.CSV = ""
		return nil, true
	}
	rest, found := f.Strike(func(cells []string) bool { return draft.About(cells, l) })
	if len(found) > 0 {
		t.CSV, struck = rest, true
	}
	return slices.DeleteFunc(found, func(row int) bool { return row <= max(t.DoneRow, t.Header) }), struck
}

// strikeFromImportErrors leaves of the errors of the people's rows that they were erased, nothing where a cell was left out of an imported row, and takes their names out of the columns
// that other rows' errors are about. The SQL finds more rows than these, by what stands before the @, by signs that may hide it, and by last names. The lower case of
// the upper case is one for all letters that strings.EqualFold takes for the same.
func strikeFromImportErrors(ctx context.Context, tx *db.Tx, l *contact.Leavers) error {
	var words []string
	for _, key := range l.Keys {
		local, _, _ := strings.Cut(key, "@")
		words = append(words, local+"@")
	}
	for _, n := range l.Names {
		words = append(words, n.Last)
	}
	rows, err := tx.Query(ctx, `select import_id, row, "column", dropped, cells from import_error, concat_ws(' ', "column", array_to_string(cells, ' ')) as words
		where words`+address.UnplainSQL+` or exists (select from unnest($1::text[]) word where word <> '' and position(lower(upper(word)) in lower(upper(words))) > 0)`, words)
	if err != nil {
		return err
	}
	var imports, imported, named []uuid.UUID
	var numbers, ofImported, ofOthers []int
	var e struct {
		id      uuid.UUID
		row     int
		column  string
		dropped string
		cells   []string
	}
	if _, err := pgx.ForEachRow(rows, []any{&e.id, &e.row, &e.column, &e.dropped, &e.cells}, func() error {
		switch {
		case draft.About(e.cells, l) && e.dropped == draft.DroppedCell:
			imported, ofImported = append(imported, e.id), append(ofImported, e.row)
		case draft.About(e.cells, l):
			imports, numbers = append(imports, e.id), append(numbers, e.row)
		case draft.About([]string{e.column}, l):
			named, ofOthers = append(named, e.id), append(ofOthers, e.row)
		}
		return nil
	}); err != nil {
		return err
	}
	l.AddID(slices.Concat(imports, imported, named)...)
	if _, err := tx.Exec(ctx, `delete from import_error where (import_id, row) in (select * from unnest($1::uuid[], $2::int[]))`, imported, ofImported); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update import_error set "column" = '' where (import_id, row) in (select * from unnest($1::uuid[], $2::int[]))`, named, ofOthers); err != nil {
		return err
	}
	return noteErased(ctx, tx, imports, numbers)
}
