package directory

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// Each row of contact carries in changed the transaction that last wrote it, and contact_gone the keys of contacts that are
// gone. A copy that holds all that its snapshot sees therefore needs only the rows of the transactions that this does not see.
// A copy may also hold rows of later transactions: they are read once more, as they are then.

// server names the state of the database that transaction ids belong to. It changes with the server (start, timeline), with a
// crash that did not end the server (which forgets its statistics) and with the files of the table. Ids may repeat after each
// of these, so a copy of another state says nothing. Every role may read all of it.
const server = `concat_ws(' ', extract(epoch from pg_postmaster_start_time()), case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end,
	extract(epoch from (select stats_reset from pg_stat_bgwriter)), pg_relation_filenode('contact'))`

// With unseen in front of a query, with the server and the snapshot of a copy as its arguments, s is the query's own snapshot
// and old that of the copy. spans are the transactions that the query may see and the copy has not: those that began behind old,
// and each that ran then and has ended. A transaction that still runs is in no span, so however long it lasts nobody reads
// the rows behind it twice.
const unseen = `
	with now as materialized (select s, old, name, name = ? as same
		from (select pg_current_snapshot() as s, ?::text::pg_snapshot as old, ` + server + ` as name offset 0) x),
	spans as materialized (
		select pg_snapshot_xmax(old) as first, pg_snapshot_xmax(s) as behind from now
		union all
		select x, (x::text::bigint + 1)::text::xid8 from now, pg_snapshot_xip(old) x where pg_visible_in_snapshot(x, s))`

// inSpan selects the rows of the transactions of a span.
const inSpan = `changed >= first and changed < behind`

// Kinds of rows of changes.
const (
	rowSnapshot = iota
	rowGone
	rowRecord
)

// changes gives first the query's own snapshot and server, and whether the copy's is of the same server. Then come, in the
// order of the directory, the keys that are gone and the records that are there.
const changes = unseen + `
	select 0 as kind, s::text as snapshot, name as server, same and pg_snapshot_xmax(s) >= pg_snapshot_xmax(old) as same, '00000000-0000-0000-0000-000000000000'::uuid as id, 'epoch'::timestamptz as created_at,
		null::bigint as owner_user_id, false as trashed, '' as search, '' as status, '' as marketing, '' as source, null::text[] as tags
	from now
	union all
	select 1, '', '', true, g.id, g.created_at, null, false, '', '', '', '', null
	from spans, lateral (select * from contact_gone where ` + inSpan + ` order by changed offset 0) g
	union all
	select 2, '', '', true, c.id, c.created_at, c.owner_user_id, c.deleted_at is not null, c.booked_for || c.search, c.status, c.marketing, c.source, c.tags
	from spans, lateral (select * from contact where ` + inSpan + ` order by changed offset 0) c
	order by kind, created_at, id`

// UpToDate is an SQL condition: the transaction that evaluates it sees nothing that the copy has not seen.
func (c *Copy) UpToDate(w *db.Where) string {
	// The order has the database use the index, whatever it expects to find.
	return w.Bind(`(`+unseen+`
		select same and not exists (select from spans, lateral (select from contact where `+inSpan+` order by changed limit 1) x)
			and not exists (select from spans, lateral (select from contact_gone where `+inSpan+` order by changed limit 1) x) from now)`, c.server, c.snapshot)
}

// errElsewhere says that a copy is of another server than the transaction.
var errElsewhere = errors.New("the database is not the one that the directory was read from")

// changed is the copy as it is at the snapshot of tx, and how many changes that took. The error errElsewhere says that it
// has to be read anew.
func (c *Copy) changed(ctx context.Context, tx *db.Tx) (next *Copy, n int, err error) {
	next = &Copy{replica: c.replica, taken: time.Now()}
	var w db.Where
	rows, err := tx.Query(ctx, w.Bind(changes, c.server, c.snapshot), w.Args...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	e := editor{to: c.Directory}
	for rows.Next() {
		row, err := pgx.RowToStructByName[changedRow](rows)
		if err != nil {
			return nil, 0, err
		}
		switch row.Kind {
		case rowSnapshot:
			if !row.Same {
				return nil, 0, errElsewhere
			}
			next.snapshot, next.server = row.Snapshot, row.Server
		case rowGone:
			e.drop(KeyOf(row.CreatedAt, row.ID))
		case rowRecord:
			e.put(row.record())
		}
	}
	next.Directory = e.done()
	return next, e.n, rows.Err()
}

// contactRow is the part of a contact that the directory holds.
type contactRow struct {
	ID                                uuid.UUID
	CreatedAt                         time.Time
	OwnerUserID                       *int64
	Trashed                           bool
	Search, Status, Marketing, Source string
	Tags                              []string
}

type changedRow struct {
	Kind             int
	Snapshot, Server string
	Same             bool
	contactRow
}

const contactColumns = `id, created_at, owner_user_id, deleted_at is not null as trashed, booked_for || search as search, status, marketing, source, tags`

// eachRecord reads rows of contactColumns and calls f for each.
func eachRecord(rows pgx.Rows, f func(record)) error {
	var r contactRow
	_, err := pgx.ForEachRow(rows, []any{&r.ID, &r.CreatedAt, &r.OwnerUserID, &r.Trashed, &r.Search, &r.Status, &r.Marketing, &r.Source, &r.Tags}, func() error {
		f(r.record())
		return nil
	})
	return err
}

func (r contactRow) record() record {
	labels := make([]Label, 0, 5+len(r.Tags))
	labels = append(labels, Label{Kind: Status, Value: r.Status}, Label{Kind: Marketing, Value: r.Marketing})
	if r.Source != "" {
		labels = append(labels, Label{Kind: Source, Value: r.Source})
	}
	if r.OwnerUserID != nil {
		labels = append(labels, OwnerLabel(*r.OwnerUserID))
	}
	if r.Trashed {
		labels = append(labels, Label{Kind: Trashed})
	}
	for _, t := range r.Tags {
		labels = append(labels, Label{Kind: Tag, Value: t})
	}
	return record{Key: KeyOf(r.CreatedAt, r.ID), Text: searched(r.Search), Labels: labels}
}

// OwnerLabel is the label of what a user owns.
func OwnerLabel(user int64) Label { return Label{Kind: owner, Value: strconv.FormatInt(user, 10)} }

// searched is text without the bare digits at its end, where the number before them has these in a row.
func searched(text string) string {
	at := strings.LastIndexByte(text, ' ')
	if at > 0 && strings.HasSuffix(text[:at], text[at+1:]) {
		return text[:at]
	}
	return text
}

// editor applies changes to a directory, so many at a time that they need little memory. Keys go before records come: a
// record stays that came to the place of a key that goes.
type editor struct {
	to      *Directory
	gone    []Key
	records []record
	n       int // how many changes there were
}

const atATime = 8192

func (e *editor) drop(k Key) {
	e.n++
	e.gone = append(e.gone, k)
}

func (e *editor) put(r record) {
	e.n++
	if e.records = append(e.records, r); len(e.records) == atATime {
		e.done()
	}
}

// done is the directory with all changes so far.
func (e *editor) done() *Directory {
	e.to = e.to.With(e.gone, e.records)
	e.gone, e.records = e.gone[:0], e.records[:0]
	return e.to
}
