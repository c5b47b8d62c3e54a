package contacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/person"
)

const importBatch = 2000

// runImports works on imports that were started, batch by batch, until ctx ends. Each batch is one
// transaction with the place it came to, so that a crash repeats no row and leaves none out.
func (s *service) runImports(ctx context.Context) {
	r := &importer{service: s}
	for ctx.Err() == nil {
		worked, err := r.batch(ctx)
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "import goes on in a moment", "error", err)
		}
		if worked && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// importer keeps the file that it is at open between batches.
type importer struct {
	*service
	id       uuid.UUID
	revision int
	rows     *csvfile.Rows
	done     int
}

// job is an import as its runner sees it.
type job struct {
	id       uuid.UUID
	revision int
	done     int
	actor    importActor
	mapping  []string
	headers  []string
	options  ImportOptions

	clean  *cleaner
	failed []failure
	totals ImportTotals
}

type failure struct {
	ImportError
	cells []string
}

// draft is a row on its way to become a contact.
type draft struct {
	Contact
	key    string
	values map[string]any
	cells  []string
	row    int
}

// batch does the next rows of the oldest import that waits and that no other replica is at.
func (r *importer) batch(ctx context.Context) (worked bool, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		worked = false
		j := &job{}
		err := tx.QueryRow(ctx, `select id, revision, done_row, actor, mapping, headers, options from import where status in ('queued', 'running')
			order by created_at, id limit 1 for update skip locked`).Scan(&j.id, &j.revision, &j.done, &j.actor, &j.mapping, &j.headers, &j.options)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		worked = true
		tx.Who = db.Actor{UserID: j.actor.UserID, Label: j.actor.Label, Channel: db.ChannelImport, Own: r.Identity.Own(j.actor.UserID)}
		if err := r.open(ctx, tx, j); err != nil {
			return err
		}
		return r.work(ctx, tx, j)
	})
	if err != nil {
		// What was read is not done.
		r.rows = nil
	}
	return worked, err
}

// open makes r.rows stand behind the last row that is done.
func (r *importer) open(ctx context.Context, tx *db.Tx, j *job) error {
	if r.rows != nil && r.id == j.id && r.revision == j.revision && r.done == j.done {
		return nil
	}
	var text string
	if err := tx.QueryRow(ctx, `select csv from import where id = $1`, j.id).Scan(&text); err != nil {
		return err
	}
	f, err := csvfile.Open(text, j.options.Separator)
	if err != nil {
		return err
	}
	r.id, r.revision, r.rows = j.id, j.revision, f.Rows()
	for row := 1; row < j.done; {
		next, err := r.rows.Next()
		if err != nil {
			break
		}
		row = next.Number
	}
	r.done = j.done
	return nil
}

func (r *importer) work(ctx context.Context, tx *db.Tx, j *job) error {
	var err error
	if j.clean, err = r.newCleaner(ctx, tx, "contact", true); err != nil {
		return err
	}
	var drafts []draft
	last, done := false, j.done
	for range importBatch {
		row, err := r.rows.Next()
		if errors.Is(err, io.EOF) {
			last = true
			break
		}
		if err != nil {
			return err
		}
		done = row.Number
		if d, ok := j.read(row); ok {
			drafts = append(drafts, d)
		}
	}
	if err := r.nameTags(ctx, tx, drafts); err != nil {
		return err
	}
	for len(drafts) > 0 {
		if drafts, err = r.round(ctx, tx, j, drafts); err != nil {
			return err
		}
	}
	r.done = done
	return r.advance(ctx, tx, j, done, last)
}

// advance stores the place that the import came to, and its end.
func (r *importer) advance(ctx context.Context, tx *db.Tx, j *job, done int, last bool) error {
	status := importRunning
	if last {
		status = importCompleted
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"import_error"}, []string{"import_id", "row", "column", "code", "message", "cells"},
		pgx.CopyFromSlice(len(j.failed), func(i int) ([]any, error) {
			f := j.failed[i]
			return []any{j.id, f.Row, f.Column, f.Code, f.Message, f.cells}, nil
		})); err != nil {
		return err
	}
	// A file that is done is not needed any more.
	_, err := tx.Exec(ctx, `
		update import set status = $2, done_row = $3, created = created + $4, updated = updated + $5, skipped = skipped + $6, failed = failed + $7,
			csv = case when $8 then '' else csv end, finished_at = case when $8 then $9::timestamptz end where id = $1`,
		j.id, status, done, j.totals.Created, j.totals.Updated, j.totals.Skipped, len(j.failed), last, tx.Now)
	return err
}

func (j *job) fail(row int, cells []string, column, code, message string) {
	j.failed = append(j.failed, failure{ImportError{row, column, code, message}, cells})
}

var importLengths = map[string]int{"first_name": 100, "last_name": 100, "email": address.Max, "phone": 50, "source": 50}

// read turns a row into a draft; one that breaks a rule is noted as failed.
func (j *job) read(row csvfile.Row) (draft, bool) {
	cells := make([]string, len(j.headers))
	for i := range cells {
		cells[i] = row.Cell(i)
	}
	d := draft{row: row.Number, cells: cells, values: map[string]any{}}
	for i, target := range j.mapping {
		if target == "" || i >= len(cells) || cells[i] == "" {
			continue
		}
		if err := j.put(&d, target, cells[i]); err != nil {
			j.fail(row.Number, cells, j.headers[i], "svc_invalid_param", target+" "+err.Error())
			return d, false
		}
	}
	if nameless(d.Contact) != nil {
		j.fail(row.Number, cells, "", "svc_invalid_param", "the row has no name, email address or phone number")
		return d, false
	}
	if len(d.values) > 0 && tooMuch(d.values) {
		j.fail(row.Number, cells, "", "svc_invalid_param", "the row has too much text for one contact")
		return d, false
	}
	if j.options.Tag != "" {
		d.Tags = append(d.Tags, j.options.Tag)
	}
	return d, true
}

func (j *job) put(d *draft, target, cell string) (err error) {
	if most, ok := importLengths[target]; ok && utf8.RuneCountInString(cell) > most {
		return fmt.Errorf("must have at most %d characters", most)
	}
	switch target {
	case "first_name":
		d.FirstName = person.Name(cell)
	case "last_name":
		d.LastName = person.Name(cell)
	case "email":
		d.Email, err = address.Parse(cell)
		d.key = address.Key(d.Email)
	case "phone":
		d.Phone = j.clean.phone(cell)
	case "source":
		d.Source = person.Name(cell)
	case "status":
		var ok bool
		if d.Status, ok = csvfile.Status(cell); !ok {
			err = errors.New("must be lead, customer or inactive")
		}
	case "tags":
		d.Tags = csvfile.Tags(cell)
		if slices.ContainsFunc(d.Tags, func(t string) bool { return utf8.RuneCountInString(t) > 100 }) {
			err = errors.New("must have at most 100 characters each")
		}
	default:
		key := strings.TrimPrefix(target, "fields.")
		f, ok := j.clean.fields[key]
		if !ok {
			return nil // archived since the import was started
		}
		var v any
		if v, err = f.value(cell, j.clean.region); v != nil {
			d.values[key] = v
		}
	}
	return err
}

// nameTags gives the tags of all drafts their names at once.
func (r *importer) nameTags(ctx context.Context, tx *db.Tx, drafts []draft) error {
	all := map[string]bool{}
	for _, d := range drafts {
		for _, t := range d.Tags {
			all[t] = true
		}
	}
	names, err := tagNames(ctx, tx, slices.Sorted(maps.Keys(all)))
	if err != nil {
		return err
	}
	known := make(map[string]string, len(names))
	for _, n := range names {
		known[slug(n)] = n
	}
	for i := range drafts {
		tags := []string{}
		for _, t := range drafts[i].Tags {
			tags = withTags(tags, []string{known[slug(t)]})
		}
		drafts[i].Tags = tags
	}
	return nil
}

// round does the first draft of each address, and gives those that are left: later rows with the same
// address, and addresses that somebody took at this very moment.
func (r *importer) round(ctx context.Context, tx *db.Tx, j *job, drafts []draft) (left []draft, err error) {
	first := map[string]bool{}
	keys := []string{}
	now := drafts[:0:0]
	for _, d := range drafts {
		if d.key != "" && first[d.key] {
			left = append(left, d)
			continue
		}
		if d.key != "" {
			first[d.key] = true
			keys = append(keys, d.key)
		}
		now = append(now, d)
	}
	existing, err := contactsWithEmails(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	var fresh []draft
	var out writes
	for _, d := range now {
		old, found := existing[d.key]
		if d.key == "" || !found {
			fresh = append(fresh, d)
			continue
		}
		r.meet(tx, j, d, old, &out)
	}
	taken, err := r.create(ctx, tx, j, fresh, &out)
	if err != nil {
		return nil, err
	}
	return append(taken, left...), out.send(ctx, tx)
}

// contactsWithEmails locks the contacts with these addresses and reads them whole.
func contactsWithEmails(ctx context.Context, tx *db.Tx, keys []string) (map[string]Contact, error) {
	found := map[string]Contact{}
	if len(keys) == 0 {
		return found, nil
	}
	if _, err := tx.Exec(ctx, `select from contact where email_key = any($1) and email_key <> '' and deleted_at is null order by id for no key update`, keys); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `select `+contactColumns(allContactFields)+contactFrom+` where c.email_key = any($1) and c.email_key <> '' and c.deleted_at is null`, keys)
	if err != nil {
		return nil, err
	}
	contacts, err := pgx.CollectRows(rows, wholeContact)
	for _, c := range contacts {
		found[address.Key(c.Email)] = c
	}
	return found, err
}

// meet does with a row whose address a contact has what the options say.
func (r *importer) meet(tx *db.Tx, j *job, d draft, old Contact, out *writes) {
	if !sees(tx, old.OwnerUserID) {
		j.fail(d.row, d.cells, "", "svc_duplicate", "the address belongs to a contact of somebody else")
		return
	}
	if j.options.Duplicates == "skip" {
		j.totals.Skipped++
		return
	}
	c, fill := old, j.options.Duplicates != overwrite
	for _, f := range []struct {
		target *string
		value  string
	}{{&c.FirstName, d.FirstName}, {&c.LastName, d.LastName}, {&c.Phone, d.Phone}, {&c.Source, d.Source}} {
		if f.value != "" && (!fill || *f.target == "") {
			*f.target = f.value
		}
	}
	if d.Status != "" && !fill {
		c.Status = d.Status
	}
	if c.Fields = mergeFields(old.Fields, d.values, fill); len(d.values) > 0 && tooMuch(c.Fields) {
		j.fail(d.row, d.cells, "", "svc_invalid_param", "the contact would have too much text")
		return
	}
	switch {
	case fill:
		c.Tags = withTags(old.Tags, d.Tags)
	case len(d.Tags) > 0 && (len(d.Tags) > 1 || d.Tags[0] != j.options.Tag):
		c.Tags = d.Tags
	default:
		c.Tags = withTags(old.Tags, d.Tags)
	}
	diff := contactChanges(old, c)
	if len(diff) == 0 {
		j.totals.Skipped++
		return
	}
	j.totals.Updated++
	c.version, c.UpdatedAt, c.LastActivity = old.version+1, tx.Now, &tx.Now
	out.updates = append(out.updates, c)
	out.log(entry{contact: &c.ID, kind: entryUpdated, subject: "Contact imported again", data: diff})
	out.events = append(out.events, contactEvent("contact.updated", j.clean.shown(c), diff.names(), nil))
}

// shown is a contact without the values of archived fields.
func (c *cleaner) shown(contact Contact) Contact {
	shown := map[string]any{}
	for k, v := range contact.Fields {
		if _, ok := c.fields[k]; ok {
			shown[k] = v
		}
	}
	contact.Fields = shown
	return contact
}

// create inserts drafts as contacts and gives those whose address was taken meanwhile.
func (r *importer) create(ctx context.Context, tx *db.Tx, j *job, drafts []draft, out *writes) (taken []draft, err error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	left, err := r.whoLeft(ctx, tx, drafts)
	if err != nil {
		return nil, err
	}
	// In the order of addresses, so that two imports wait for each other and never in a circle.
	slices.SortStableFunc(drafts, func(a, b draft) int { return strings.Compare(a.key, b.key) })
	for i := range drafts {
		d := &drafts[i]
		d.ID, d.version, d.CreatedAt, d.UpdatedAt, d.LastActivity = db.NewID(), 1, tx.Now, tx.Now, &tx.Now
		d.Fields, d.Marketing = mergeFields(nil, d.values, false), marketingNone
		if d.Status == "" {
			d.Status = "lead"
		}
		if tx.Who.Own {
			d.OwnerUserID = &tx.Who.UserID
		}
		if d.key != "" && left[string(r.addressHash(d.key))] {
			d.Marketing, d.MarketingUpdatedAt = marketingUnsubscribed, &tx.Now
		}
	}
	made, err := insertDrafts(ctx, tx, drafts)
	if err != nil {
		return nil, err
	}
	for _, d := range drafts {
		if !made[d.ID] {
			taken = append(taken, d)
			continue
		}
		j.totals.Created++
		out.log(entry{contact: &d.ID, kind: entryCreated, subject: "Contact imported", data: creation(d.Contact)})
		out.events = append(out.events, contactEvent("contact.created", d.Contact, nil, nil))
	}
	return taken, nil
}

// insertDrafts inserts in one statement and tells which contacts are there now.
func insertDrafts(ctx context.Context, tx *db.Tx, drafts []draft) (map[uuid.UUID]bool, error) {
	n := len(drafts)
	ids, first, last, email, key, phone := make([]uuid.UUID, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	status, marketing, source, tags, fields := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]map[string]any, n)
	var owner *int64
	for i, d := range drafts {
		ids[i], first[i], last[i], email[i], key[i], phone[i] = d.ID, d.FirstName, d.LastName, d.Email, d.key, d.Phone
		status[i], marketing[i], source[i], fields[i], owner = d.Status, d.Marketing, d.Source, d.Fields, d.OwnerUserID
		// unnest would flatten arrays of arrays.
		tags[i] = strings.Join(d.Tags, "\x1f")
	}
	rows, err := tx.Query(ctx, `
		insert into contact (id, first_name, last_name, email, email_key, phone, status, marketing, marketing_updated_at, source, owner_user_id, tags, fields,
			last_activity, created_at, updated_at)
		select id, first_name, last_name, email, key, phone, status, marketing, case when marketing <> 'none' then $13::timestamptz end, source, $12::bigint,
			string_to_array(tags, E'\x1f'), fields, $13, $13, $13
		from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::jsonb[])
			as d (id, first_name, last_name, email, key, phone, status, marketing, source, tags, fields)
		on conflict (email_key) where deleted_at is null and email_key <> '' do nothing
		returning id`, ids, first, last, email, key, phone, status, marketing, source, tags, fields, owner, tx.Now)
	if err != nil {
		return nil, err
	}
	inserted, err := collectIDs(rows)
	made := make(map[uuid.UUID]bool, n)
	for _, id := range inserted {
		made[id] = true
	}
	return made, err
}

// whoLeft are the hashes of those addresses whose owners have unsubscribed.
func (r *importer) whoLeft(ctx context.Context, tx *db.Tx, drafts []draft) (map[string]bool, error) {
	hashes := make([][]byte, 0, len(drafts))
	for _, d := range drafts {
		if d.key != "" {
			hashes = append(hashes, r.addressHash(d.key))
		}
	}
	rows, err := tx.Query(ctx, `select address_hash from unsubscribed where address_hash = any($1)`, hashes)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	left := map[string]bool{}
	for _, h := range found {
		left[string(h)] = true
	}
	return left, err
}

// writes are what a round has to store beside new contacts.
type writes struct {
	updates []Contact
	entries []entry
	events  []db.Event
}

func (w *writes) log(e entry) { w.entries = append(w.entries, e) }

func (w *writes) send(ctx context.Context, tx *db.Tx) error {
	if len(w.updates) > 0 {
		batch := &pgx.Batch{}
		for _, c := range w.updates {
			batch.Queue(`update contact set version = $2, first_name = $3, last_name = $4, phone = $5, source = $6, status = $7, tags = $8, fields = $9,
				updated_at = $10, last_activity = $10 where id = $1`,
				c.ID, c.version, c.FirstName, c.LastName, c.Phone, c.Source, c.Status, c.Tags, c.Fields, tx.Now)
		}
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"activity"},
		[]string{"id", "contact_id", "type", "subject", "data", "channel", "actor_label", "user_id", "created_at"},
		pgx.CopyFromSlice(len(w.entries), func(i int) ([]any, error) {
			e := w.entries[i]
			return []any{db.NewID(), *e.contact, e.kind, e.subject, e.data, tx.Who.Channel, tx.Who.Label, userID(tx.Who), tx.Now}, nil
		}))
	if err != nil {
		return err
	}
	return tx.EmitAll(ctx, w.events)
}

func userID(a db.Actor) *int64 {
	if a.UserID == 0 {
		return nil
	}
	return &a.UserID
}
