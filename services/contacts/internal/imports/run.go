package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/record"
	"frontdesk/services/contacts/internal/timeline"
)

// importer works on imports that were started, batch by batch. Each batch is one transaction with the place it came to, so a
// crash repeats no row and leaves none out. The importer keeps the file of the last batch open for the next one.
type importer struct {
	*Room
	open  *openFile
	tries map[uuid.UUID]int // how often in a row an import failed for its own sake
	aside *app.Aside[uuid.UUID]
}

func newImporter(s *Room) *importer {
	return &importer{Room: s, tries: map[uuid.UUID]int{}, aside: app.NewAside[uuid.UUID]("imports")}
}

// openFile is the file of an import, of which done rows were read.
type openFile struct {
	id       uuid.UUID
	revision int
	done     int
	rows     *csvfile.Rows
}

// batchSizes are how many rows one transaction does: the first as a rule. A batch that fails for its own sake is done again with
// the next size, until the row that it fails on is alone. That row is noted as failed without being stored, and the import
// goes on. If noting it fails as well, the import ends.
var batchSizes = []int{2000, 100, 10, 1}

// What a number of tries behind the last of batchSizes leads to.
var (
	noteTheRow   = len(batchSizes)
	endTheImport = noteTheRow + 1
	setItAside   = endTheImport + 1
)

// batch does the next rows of the oldest import that waits and that no other replica works on. It reports whether there
// was one.
func (r *importer) batch(ctx context.Context) (worked bool, err error) {
	// Rows that are read are gone from the file: a transaction that runs again opens it anew, and the place is kept only
	// after the commit.
	open := r.open
	r.open = nil
	var next *openFile
	var id uuid.UUID
	err = timeline.Recovered(func() error {
		return r.DB.Do(ctx, func(tx *db.Tx) error {
			before := open
			id, next, open = uuid.Nil, nil, nil
			j, err := r.claimImport(ctx, tx)
			if j == nil {
				return err
			}
			if id = j.id; err != nil {
				return fmt.Errorf("claim import %s: %w", id, err)
			}
			next, err = r.portion(ctx, tx, j, before)
			if reason, ok := errors.AsType[importError](err); ok {
				return j.end(ctx, tx, reason)
			}
			if err != nil {
				return fmt.Errorf("import %s: %w", id, err)
			}
			return nil
		})
	})
	switch {
	case id == uuid.Nil:
		return false, err
	case err == nil:
		r.open = next
		if r.tries[id]--; r.tries[id] <= 0 {
			delete(r.tries, id)
		}
	case ctx.Err() != nil || fault.Transient(err):
		return true, err
	default:
		switch r.tries[id]++; r.tries[id] {
		case noteTheRow:
			slog.WarnContext(ctx, "a row cannot be imported", "import", id, "error", err)
		case setItAside:
			r.tries[id] = endTheImport
			return r.aside.Did(ctx, []uuid.UUID{id}, err)
		}
	}
	return true, nil
}

// portion does the next rows of an import, as many as its tries allow, and gives the file behind them. It fails with an
// ImportError if the import cannot go on: its starter may no longer import, its file cannot be read. The transaction acts in
// the name of the starter.
func (r *importer) portion(ctx context.Context, tx *db.Tx, j *job, file *openFile) (_ *openFile, err error) {
	tx.Who = db.Actor{UserID: j.actor.UserID, Label: j.actor.Label, Channel: db.ChannelImport, Own: r.Identity.Own(j.actor.UserID)}
	rights, tries := r.Identity.Rights(j.actor.UserID), r.tries[j.id]
	switch {
	case !rights[auth.ImportContacts] || !rights[auth.ViewContacts]:
		return nil, newError(0, "", "svc_forbidden",
			fault.NewProblem("may_not_import", "Who started the import may no longer import contacts. Rows that were done before stay."))
	case tries >= endTheImport:
		return nil, newError(0, "", "svc_internal", fault.NewProblem("rows_not_stored", "The rows that follow could not be imported."))
	case file == nil || file.id != j.id || file.revision != j.revision || file.done != j.done:
		if file, err = j.openFile(ctx, tx); err != nil {
			return nil, fmt.Errorf("open the file: %w", err)
		}
	}
	if j.clean, err = r.field.NewCleaner(ctx, tx, "contact"); err != nil {
		return nil, err
	}
	if tries == noteTheRow {
		err = r.noteRow(ctx, tx, j, file)
	} else {
		err = r.importRows(ctx, tx, j, file, batchSizes[tries])
	}
	if err != nil {
		return nil, fmt.Errorf("rows %d-%d: %w", j.done+1, file.done, err)
	}
	return file, nil
}

// job is an import as a batch works on it.
type job struct {
	id       uuid.UUID
	revision int
	done     int // the last row that earlier batches did; the headers are row 1
	actor    importActor
	mapping  []string
	headers  []string
	options  importOptions
	clean    *field.Cleaner

	failed []failedRow
	totals importTotals
}

// claimImport locks the oldest import that has rows to do, and returns nil if no import has.
func (r *importer) claimImport(ctx context.Context, tx *db.Tx) (*job, error) {
	j := &job{}
	err := tx.QueryRow(ctx, `select id, revision, done_row, actor, mapping, headers, options from import
		where status in ('queued', 'running') and id <> all($1) order by created_at, id limit 1 for update skip locked`, r.aside.Keys()).
		Scan(&j.id, &j.revision, &j.done, &j.actor, &j.mapping, &j.headers, &j.options)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return j, err
}

// openFile opens the file behind the last row that is done. A file that cannot be read is an ImportError.
func (j *job) openFile(ctx context.Context, tx *db.Tx) (*openFile, error) {
	var text string
	if err := tx.QueryRow(ctx, `select csv from import where id = $1`, j.id).Scan(&text); err != nil {
		return nil, err
	}
	f, err := csvfile.Reopen(text, j.options.Separator)
	if err != nil {
		return nil, newError(0, "", "svc_invalid_param", unreadable(err, "The file cannot be read: it "+err.Error()+"."))
	}
	return &openFile{j.id, j.revision, j.done, f.RowsBehind(j.done)}, nil
}

// importRows does up to size rows of file and moves both on: the file, and the import in the database.
func (r *importer) importRows(ctx context.Context, tx *db.Tx, j *job, file *openFile, size int) error {
	var drafts []draft
	last := false
	for range size {
		row, err := file.rows.Next()
		if errors.Is(err, io.EOF) {
			last = true
			break
		}
		if err != nil {
			return err
		}
		file.done = row.Number
		if d, ok := j.read(row); ok {
			drafts = append(drafts, d)
		}
	}
	batchTag, err := nameTags(ctx, tx, j.options.Tag, drafts)
	if err != nil {
		return fmt.Errorf("name tags: %w", err)
	}
	drafts = slices.DeleteFunc(drafts, func(d draft) bool {
		much := len(record.Union(d.Tags, batchTag)) > field.MaxTags
		if much {
			j.tooManyTags(d)
		}
		return much
	})
	for len(drafts) > 0 {
		if drafts, err = r.round(ctx, tx, j, batchTag, drafts); err != nil {
			return err
		}
	}
	if err := j.advance(ctx, tx, file.done, last); err != nil {
		return fmt.Errorf("store the place: %w", err)
	}
	return nil
}

// noteRow notes the next row of file as failed and moves both on.
func (r *importer) noteRow(ctx context.Context, tx *db.Tx, j *job, file *openFile) error {
	row, err := file.rows.Next()
	if errors.Is(err, io.EOF) {
		return j.advance(ctx, tx, file.done, true)
	}
	if err != nil {
		return err
	}
	file.done = row.Number
	j.fail(row.Number, j.cells(row), "", "svc_internal", fault.NewProblem("not_stored", "the row could not be stored"))
	return j.advance(ctx, tx, file.done, false)
}

// end ends the import as failed, with the reason as the error of row 0, the whole file. Its text is deleted.
func (j *job) end(ctx context.Context, tx *db.Tx, reason importError) error {
	b := &pgx.Batch{}
	b.Queue(`insert into import_error (import_id, row, "column", code, message, details, cells) values ($1, $2, $3, $4, $5, $6, '{}') on conflict do nothing`,
		j.id, reason.Row, reason.Column, reason.Code, reason.Message, reason.Details)
	b.Queue(`update import set status = $2, csv = '', preview = '[]', finished_at = $3 where id = $1`, j.id, importFailed, tx.Now)
	return tx.SendBatch(ctx, b).Close()
}

var importedRows = app.NewOutcomes("import.rows", "{row}", "rows of imports that are done, by outcome")

// advance stores the place that the import came to, the rows that failed and, behind the last row, the end.
func (j *job) advance(ctx context.Context, tx *db.Tx, done int, last bool) error {
	status := importRunning
	if last {
		status = importCompleted
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"import_error"}, []string{"import_id", "row", "column", "code", "message", "details", "cells"},
		pgx.CopyFromSlice(len(j.failed), func(i int) ([]any, error) {
			f := j.failed[i]
			return []any{j.id, f.Row, f.Column, f.Code, f.Message, f.Details, f.cells}, nil
		})); err != nil {
		return err
	}
	// A file that is done is not needed any more.
	totals := map[string]int{"created": j.totals.Created, "updated": j.totals.Updated, "skipped": j.totals.Skipped, "failed": len(j.failed)}
	tx.AfterCommit(func() {
		for outcome, n := range totals {
			importedRows.Add(ctx, outcome, n)
		}
	})
	_, err := tx.Exec(ctx, `
		update import set status = @status, done_row = @done, created = created + @created, updated = updated + @updated,
			skipped = skipped + @skipped, failed = failed + @failed, csv = case when @last then '' else csv end,
			finished_at = case when @last then @now::timestamptz end
		where id = @id`,
		pgx.NamedArgs{"id": j.id, "status": status, "done": done, "created": j.totals.Created, "updated": j.totals.Updated,
			"skipped": j.totals.Skipped, "failed": len(j.failed), "last": last, "now": tx.Now})
	return err
}

// round does the first draft of each address, and gives those that are left: later rows with the same address, and
// addresses that somebody took at this very moment.
func (r *importer) round(ctx context.Context, tx *db.Tx, j *job, batchTag []string, drafts []draft) (left []draft, err error) {
	drafts, left = firstOfEachAddress(drafts)
	existing, err := contact.LockWithEmails(ctx, tx, keysOf(drafts))
	if err != nil {
		return nil, fmt.Errorf("find contacts: %w", err)
	}
	var fresh []draft
	out := contact.Writes{Subject: "Contact imported again"}
	for _, d := range drafts {
		old, found := existing[d.key]
		if d.key == "" || !found {
			fresh = append(fresh, d)
			continue
		}
		if c, ok := j.decide(tx, d, old, batchTag); ok {
			out.Update(old, c)
		}
	}
	taken, err := r.create(ctx, tx, j, batchTag, fresh, &out)
	if err != nil {
		return nil, fmt.Errorf("create contacts: %w", err)
	}
	if err := out.Send(ctx, tx, j.clean); err != nil {
		return nil, fmt.Errorf("store contacts: %w", err)
	}
	return append(taken, left...), nil
}

// create inserts drafts as contacts and gives those whose address was taken meanwhile.
func (r *importer) create(ctx context.Context, tx *db.Tx, j *job, batchTag []string, drafts []draft, out *contact.Writes) (taken []draft, err error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	unsubscribed, err := r.marketing.HaveLeft(ctx, tx, keysOf(drafts))
	if err != nil {
		return nil, err
	}
	// In the order of addresses, so that two imports wait for each other and never in a circle.
	slices.SortStableFunc(drafts, func(a, b draft) int { return strings.Compare(a.key, b.key) })
	contacts := make([]contact.Contact, len(drafts))
	for i, d := range drafts {
		c := d.Contact
		c.ID, c.Tags = db.NewID(), record.Union(d.Tags, batchTag)
		if tx.Who.Own {
			c.OwnerUserID = &tx.Who.UserID
		}
		c = contact.MadeAt(c, tx.Now)
		if unsubscribed[d.key] {
			c.Marketing, c.MarketingUpdatedAt = contact.MarketingUnsubscribed, &tx.Now
		}
		contacts[i] = c
	}
	made, err := contact.Insert(ctx, tx, contacts...)
	if err != nil {
		return nil, err
	}
	for i := range contacts {
		c, ok := made[contacts[i].ID]
		if !ok {
			taken = append(taken, drafts[i])
			continue
		}
		j.totals.Created++
		out.Created(c, "Contact imported")
	}
	return taken, nil
}

// FailUndone fails the imports that were not done when the backup was made, and returns how many: the contacts that they made since are gone,
// and going on would make others in their place.
func (r *Room) FailUndone(ctx context.Context) (failed int, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		ids, err := contact.IDsOf(ctx, tx, `select id from import where status in ($1, $2) order by id for update`, importQueued, importRunning)
		if err != nil {
			return err
		}
		for _, id := range ids {
			reason := newError(0, "", "svc_invalid_status",
				fault.NewProblem("restored", "The import was not done when the backup was made. Look at what is there and upload the rest again."))
			if err := (&job{id: id}).end(ctx, tx, reason); err != nil {
				return fmt.Errorf("end import %s: %w", id, err)
			}
		}
		failed = len(ids)
		return nil
	})
	return failed, err
}
