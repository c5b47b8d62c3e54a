package imports

import (
	"context"
	"errors"
	"fmt"
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
	"frontdesk/services/contacts/internal/draft"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/record"
	"frontdesk/services/contacts/internal/reversal"
	"frontdesk/services/contacts/internal/timeline"
)

// importer works on imports that were started, batch by batch. Each batch is one transaction with the place it came to, so a
// crash repeats no row and leaves none out. The importer keeps the file of the last batch open for the next one.
type importer struct {
	*Room
	open  *openFile
	tries map[uuid.UUID]effort
	aside *app.Aside[uuid.UUID]
}

func newImporter(s *Room) *importer {
	return &importer{Room: s, tries: map[uuid.UUID]effort{}, aside: app.NewAside[uuid.UUID]("imports")}
}

// effort is how hard an import tries to get over its next row, by how many rows one transaction does. A batch that fails for its own sake is
// done again with fewer rows, until the row that it fails on is alone. That row is noted as failed without being stored, and the import
// goes on. If noting it fails as well, the import ends.
type effort int

var batchSizes = []int{2000, 100, 10, 1}

func (e effort) rows() int         { return batchSizes[min(int(e), len(batchSizes)-1)] }
func (e effort) notesTheRow() bool { return int(e) == len(batchSizes) }
func (e effort) ends() bool        { return int(e) > len(batchSizes) }
func (e effort) setsAside() bool   { return int(e) > len(batchSizes)+1 }

// batch does the next rows of the oldest import that waits and that no other replica works on. It reports whether there
// was one.
func (r *importer) batch(ctx context.Context) (worked bool, err error) {
	// Rows that are read are gone from the file: a transaction that runs again opens it anew, and the place is kept only
	// after the commit.
	open := r.open
	r.open = nil
	var next *openFile
	var checked *job
	var id uuid.UUID
	err = timeline.Recovered(func() error {
		err := r.DB.Do(ctx, func(tx *db.Tx) error {
			before := open
			id, next, open, checked = uuid.Nil, nil, nil, nil
			j, err := r.claimImport(ctx, tx)
			if j == nil {
				return err
			}
			if id = j.id; err != nil {
				return fmt.Errorf("claim import %s: %w", id, err)
			}
			next, err = r.portion(ctx, tx, j, before)
			if reason, ok := errors.AsType[draft.ImportError](err); ok {
				return j.end(ctx, tx, reason)
			}
			if err != nil {
				return fmt.Errorf("import %s: %w", id, err)
			}
			if j.options.DryRun {
				checked = j
				return errChecked
			}
			return j.advance(ctx, tx)
		})
		if checked == nil || !errors.Is(err, errChecked) {
			return err
		}
		// What the rows would do is rolled back, and counted.
		return r.DB.Do(ctx, func(tx *db.Tx) error { return checked.advance(ctx, tx) })
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
		switch r.tries[id]++; {
		case r.tries[id].notesTheRow():
			slog.WarnContext(ctx, "a row cannot be imported", "import", id, "error", err)
		case r.tries[id].setsAside():
			r.tries[id]--
			return r.aside.Did(ctx, []uuid.UUID{id}, err)
		}
	}
	return true, nil
}

// errChecked rolls back what a dry run did.
var errChecked = errors.New("imports: the rows were tried only")

// portion does the next rows of an import, as many as its tries allow, and gives the file behind them. It fails with an
// ImportError if the import cannot go on: its starter may no longer import, its file cannot be read. The transaction acts in
// the name of the starter.
func (r *importer) portion(ctx context.Context, tx *db.Tx, j *job, file *openFile) (_ *openFile, err error) {
	tx.Who = db.Actor{UserID: j.actor.UserID, Label: j.actor.Label, Channel: db.ChannelImport, Own: r.Identity.Own(j.actor.UserID)}
	rights, tries := r.Identity.Rights(j.actor.UserID), r.tries[j.id]
	switch {
	case !rights[auth.ImportContacts] || !rights[auth.ViewContacts]:
		return nil, draft.NewError(0, "", "svc_forbidden",
			fault.NewProblem("may_not_import", "Who started the import may no longer import contacts. Rows that were done before stay."))
	case tries.ends():
		return nil, draft.NewError(0, "", "svc_internal", fault.NewProblem("rows_not_stored", "The rows that follow could not be imported."))
	case file == nil || file.id != j.id || file.revision != j.revision || file.done != j.done:
		if file, err = j.openFile(ctx, tx); err != nil {
			return nil, fmt.Errorf("open the file: %w", err)
		}
	}
	if j.reader.Clean, err = r.field.NewCleaner(ctx, tx, "contact"); err != nil {
		return nil, err
	}
	j.reader.Team, j.same = r.Identity.Team(), map[uuid.UUID]bool{}
	if tries.notesTheRow() {
		j.noteRow(file)
	} else {
		err = r.importRows(ctx, tx, j, file, tries.rows())
	}
	if err != nil {
		return nil, fmt.Errorf("rows %d-%d: %w", j.done+1, file.done, err)
	}
	j.to = file.done
	return file, nil
}

// job is an import as a batch works on it.
type job struct {
	id       uuid.UUID
	revision int
	done, to int  // the last row that earlier batches did, or the row of the headers, and the last one of this batch
	last     bool // no row is behind that
	actor    importActor
	reader   draft.Reader
	options  importOptions

	written []reversal.Written
	belong  []link.Belonging
	same    map[uuid.UUID]bool // contacts in belong of which the row changed nothing else
	errors  []rowError
	noted   int // errors that earlier batches have stored
	totals  importTotals
}

// claimImport locks the oldest import that has rows to do, and returns nil if no import has.
func (r *importer) claimImport(ctx context.Context, tx *db.Tx) (*job, error) {
	j := &job{}
	err := tx.QueryRow(ctx, `select id, revision, done_row, actor, mapping, headers, options || jsonb_build_object('header', header), (select count(*) from import_error where import_id = id) from import
		where status in ('queued', 'running') and id <> all($1) order by created_at, id limit 1 for update skip locked`, r.aside.Keys()).
		Scan(&j.id, &j.revision, &j.done, &j.actor, &j.reader.Mapping, &j.reader.Headers, &j.options, &j.noted)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return j, err
}

// importRows does up to size rows of file and moves the file on.
func (r *importer) importRows(ctx context.Context, tx *db.Tx, j *job, file *openFile, size int) error {
	var drafts []draft.Draft
	for range size {
		rows := file.next(j)
		if j.last = rows == nil; j.last {
			break
		}
		for _, row := range rows {
			d, failed := j.reader.Read(row)
			if failed != nil {
				j.fail(d, *failed)
				continue
			}
			drafts = append(drafts, d)
		}
	}
	for i := range drafts {
		if most := field.MaxTags - len(ofImport(j.options.Tag)); len(drafts[i].Tags) > most {
			j.reader.TooManyTags(&drafts[i])
		}
	}
	batchTag, err := nameTags(ctx, tx, j.options.Tag, drafts)
	if err != nil {
		return fmt.Errorf("name tags: %w", err)
	}
	for len(drafts) > 0 {
		if drafts, err = r.round(ctx, tx, j, batchTag, drafts); err != nil {
			return err
		}
	}
	if err := j.link(ctx, tx); err != nil {
		return fmt.Errorf("link with organizations: %w", err)
	}
	if err := j.remember(ctx, tx); err != nil {
		return fmt.Errorf("note what was written: %w", err)
	}
	return nil
}

// link links the contacts of the batch with the organizations that their rows name. A row that changes nothing else is counted as updated then.
func (j *job) link(ctx context.Context, tx *db.Tx) error {
	linked, err := link.Belong(ctx, tx, j.belong, j.options.Duplicates == contact.ModeOverwrite)
	for _, l := range linked {
		j.written = append(j.written, reversal.Written{Contact: l.Contact, Organization: &l.Organization, Former: l.Former})
		if j.same[l.Contact] {
			j.totals.Skipped--
			j.totals.Updated++
		}
	}
	return err
}

// belongs remembers the organization that a row names for its contact. Of several rows of a contact the first counts.
func (j *job) belongs(contact uuid.UUID, d draft.Draft, same bool) {
	if _, known := j.same[contact]; d.Company != "" && !known {
		j.belong = append(j.belong, link.Belonging{Contact: contact, Name: d.Company})
		j.same[contact] = same
	}
}

// noteRow notes the next row of file as failed and moves the file on.
func (j *job) noteRow(file *openFile) {
	rows := file.next(j)
	j.last = rows == nil
	for _, row := range rows {
		j.fail(draft.Draft{Row: row.Number, Cells: j.reader.Cells(row)}, draft.NewError(row.Number, "", "svc_internal", fault.NewProblem("not_stored", "the row could not be stored")))
	}
}

// end ends the import as failed, with the reason as the error of row 0, the whole file. Its text is deleted.
func (j *job) end(ctx context.Context, tx *db.Tx, reason draft.ImportError) error {
	b := &pgx.Batch{}
	b.Queue(`insert into import_error (import_id, row, "column", code, message, details, cells) values ($1, $2, $3, $4, $5, $6, '{}') on conflict do nothing`,
		j.id, reason.Row, reason.Column, reason.Code, reason.Message, reason.Details)
	b.Queue(`update import set status = $2, csv = '', preview = '[]', finished_at = $3 where id = $1`, j.id, importFailed, tx.Now)
	return tx.SendBatch(ctx, b).Close()
}

var importedRows = app.NewOutcomes("import.rows", "{row}", "rows of imports that are done, by outcome")

// maxErrors is how many errors of an import are kept; totals count the others.
const maxErrors = 10_000

// advance stores the place that the import came to, the errors of its rows and, behind the last row, the end. It does nothing if the import
// is elsewhere by now: a dry run does not hold it.
func (j *job) advance(ctx context.Context, tx *db.Tx) error {
	status := importRunning
	ended := j.last && !j.options.DryRun
	switch {
	case ended:
		status = importCompleted
	case j.last:
		status = importChecked
	}
	// A file that is done is not needed any more.
	moved, err := tx.Exec(ctx, `
		update import set status = @status, done_row = @to, created = created + @created, updated = updated + @updated,
			skipped = skipped + @skipped, failed = failed + @failed, cells = cells + @cells, csv = case when @ended then '' else csv end,
			finished_at = case when @ended then @now::timestamptz end
		where id = @id and status in ('queued', 'running') and done_row = @done and revision = @revision`,
		db.Args{"id": j.id, "status": status, "done": j.done, "to": max(j.to, j.done), "revision": j.revision, "created": j.totals.Created, "updated": j.totals.Updated,
			"skipped": j.totals.Skipped, "failed": j.totals.Failed, "cells": j.totals.Cells, "ended": ended, "now": tx.Now})
	if err != nil || moved.RowsAffected() == 0 {
		return err
	}
	errors := j.errors[:max(0, min(len(j.errors), maxErrors-j.noted))]
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"import_error"}, []string{"import_id", "row", "n", "column", "code", "message", "dropped", "details", "cells"},
		pgx.CopyFromSlice(len(errors), func(i int) ([]any, error) {
			e := errors[i]
			return []any{j.id, e.Row, e.n, e.Column, e.Code, e.Message, e.Dropped, e.Details, e.cells}, nil
		})); err != nil {
		return err
	}
	if !j.options.DryRun {
		totals := map[string]int{"created": j.totals.Created, "updated": j.totals.Updated, "skipped": j.totals.Skipped, "failed": j.totals.Failed}
		tx.AfterCommit(func() {
			for outcome, n := range totals {
				importedRows.Add(ctx, outcome, n)
			}
		})
	}
	return nil
}

// round does the first draft of each address, and gives those that are left: later rows with the same address, and
// addresses that somebody took at this very moment.
func (r *importer) round(ctx context.Context, tx *db.Tx, j *job, batchTag []string, drafts []draft.Draft) (left []draft.Draft, err error) {
	drafts, left = draft.FirstOfEachAddress(drafts)
	existing, err := contact.LockWithEmails(ctx, tx, draft.Keys(drafts))
	if err != nil {
		return nil, fmt.Errorf("find contacts: %w", err)
	}
	var fresh []draft.Draft
	out := contact.Writes{Subject: "Contact imported again"}
	for _, d := range drafts {
		old, found := existing[d.Key]
		if d.Key == "" || !found {
			fresh = append(fresh, d)
			continue
		}
		if c, ok := j.decide(tx, d, old, batchTag); ok {
			out.Update(old, c)
			j.written = append(j.written, reversal.Written{Contact: old.ID, Changes: contact.Fields.Diff(old, c)})
		}
	}
	taken, err := r.create(ctx, tx, j, batchTag, fresh, &out)
	if err != nil {
		return nil, fmt.Errorf("create contacts: %w", err)
	}
	if err := out.Send(ctx, tx, j.reader.Clean); err != nil {
		return nil, fmt.Errorf("store contacts: %w", err)
	}
	return append(taken, left...), nil
}

// create inserts drafts as contacts and gives those whose address was taken meanwhile.
func (r *importer) create(ctx context.Context, tx *db.Tx, j *job, batchTag []string, drafts []draft.Draft, out *contact.Writes) (taken []draft.Draft, err error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	unsubscribed, err := r.marketing.HaveLeft(ctx, tx, draft.Keys(drafts))
	if err != nil {
		return nil, err
	}
	// In the order of addresses, so that two imports wait for each other and never in a circle.
	slices.SortStableFunc(drafts, func(a, b draft.Draft) int { return strings.Compare(a.Key, b.Key) })
	contacts := make([]contact.Contact, len(drafts))
	for i, d := range drafts {
		c := d.Contact
		c.ID, c.Tags = db.NewID(), record.Union(d.Tags, batchTag)
		if tx.Who.Own && c.OwnerUserID == nil {
			c.OwnerUserID = &tx.Who.UserID
		}
		c = contact.MadeAt(c, tx.Now)
		if unsubscribed[d.Key] {
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
		j.note(drafts[i])
		j.belongs(c.ID, drafts[i], false)
		j.written = append(j.written, reversal.Written{Contact: c.ID, Created: true})
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
			reason := draft.NewError(0, "", "svc_invalid_status",
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
