package directory

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// Replica keeps a directory of the contacts in the database, in step with it: whoever asks for it reads what changed since
// and so finds at least what their own transaction sees, whichever process wrote it. Many may ask at once.
//
// Each row of contact carries in changed the transaction that last wrote it, and contact_gone the keys of contacts that are
// gone. A copy therefore needs only the rows of transactions that its snapshot does not see.
type Replica struct {
	db      *db.DB
	newest  atomic.Pointer[Copy]
	loading chan struct{} // holds whoever reads all contacts
}

// NewReplica is a replica of the contacts in d. It is empty until the first reader, or KeepUp, reads all of them.
func NewReplica(d *db.DB) *Replica { return &Replica{db: d, loading: make(chan struct{}, 1)} }

// Copy is a directory with the snapshot of the database that it holds.
type Copy struct {
	*Directory
	snapshot string
	at       time.Time
}

// Ready reports whether the contacts have been read.
func (r *Replica) Ready() bool { return r.newest.Load() != nil }

// The database keeps the keys of contacts that are gone for keepGone; a copy that is older than half of that is read anew.
const keepGone = 24 * time.Hour

// With now in front of a query, ahead, old and since stand for: the first transaction that the query's own snapshot cannot
// see, the snapshot ? of the copy, and the first transaction that this may not see. In a row of its own the snapshot leaves
// one plan for all of them.
const now = `
	with now as materialized (select s, pg_snapshot_xmax(s) as ahead, old, pg_snapshot_xmin(old) as since
		from (select pg_current_snapshot() as s, ?::text::pg_snapshot as old offset 0) x)`

// unseen selects the rows of transactions that the copy has not seen. Transactions of the future are those of the cluster
// that a backup came from.
const unseen = `changed >= since and changed < ahead and not pg_visible_in_snapshot(changed, old)`

// Kinds of rows of changes.
const (
	rowSnapshot = iota
	rowGone
	rowRecord
)

// changes gives first the query's own snapshot: whether it is later than the copy's, and whether it ends before the copy's
// begins. Then come the keys that are gone and the records that are there, of transactions that the copy has not seen.
const changes = now + `
	select 0 as kind, s::text as snapshot, pg_snapshot_xmin(s) >= since and ahead >= pg_snapshot_xmax(old) as later, ahead < since as past,
		'00000000-0000-0000-0000-000000000000'::uuid as id, 'epoch'::timestamptz as created_at, null::bigint as owner_user_id, false as trashed,
		'' as search, '' as status, '' as marketing, '' as source, null::text[] as tags
	from now
	union all
	select 1, '', false, false, id, created_at, null, false, '', '', '', '', null from now, contact_gone where ` + unseen + `
	union all
	select 2, '', false, false, id, created_at, owner_user_id, deleted_at is not null, search, status, marketing, source, tags
	from now, contact where ` + unseen + `
	order by kind`

// UpToDate is an SQL condition: the transaction that evaluates it sees nothing that the copy has not seen.
func (c *Copy) UpToDate(w *db.Where) string {
	return w.Bind(`(`+now+`
		select not exists (select from contact where `+unseen+`) and not exists (select from contact_gone where `+unseen+`) from now)`, c.snapshot)
}

// Newest is the newest copy, which may be behind the database. The first to ask reads it.
func (r *Replica) Newest(ctx context.Context) (*Copy, error) {
	for {
		if c := r.fresh(); c != nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case r.loading <- struct{}{}:
		}
		err := r.load(ctx)
		<-r.loading
		if err != nil {
			return nil, fmt.Errorf("read all contacts into the directory: %w", err)
		}
	}
}

// fresh is the newest copy, or nil when all has to be read.
func (r *Replica) fresh() *Copy {
	if c := r.newest.Load(); c != nil && time.Since(c.at) < keepGone/2 {
		return c
	}
	return nil
}

// Current is a directory that holds at least what tx sees. The statements of also, which may be nil, travel in the same
// round trip behind its own.
func (r *Replica) Current(ctx context.Context, tx *db.Tx, also *pgx.Batch) (*Directory, error) {
	d, _, err := r.current(ctx, tx, also)
	return d, err
}

// current is Current; past reports that the transaction's snapshot ends before the copy's begins.
func (r *Replica) current(ctx context.Context, tx *db.Tx, also *pgx.Batch) (d *Directory, past bool, err error) {
	old, err := r.Newest(ctx)
	if err != nil {
		return nil, false, err
	}
	var w db.Where
	b := &pgx.Batch{}
	b.Queue(w.Bind(changes, old.snapshot), w.Args...).Query(func(rows pgx.Rows) error {
		var snapshot string
		var later bool
		e := editor{to: old.Directory}
		for rows.Next() {
			row, err := pgx.RowToStructByName[changedRow](rows)
			if err != nil {
				return err
			}
			switch row.Kind {
			case rowSnapshot:
				snapshot, later, past = row.Snapshot, row.Later, row.Past
			case rowGone:
				e.drop(KeyOf(row.CreatedAt, row.ID))
			case rowRecord:
				e.put(row.record())
			}
		}
		if rows.Err() != nil {
			return rows.Err()
		}
		if d = e.done(); later {
			r.newest.CompareAndSwap(old, &Copy{d, snapshot, time.Now()})
		}
		return nil
	})
	if also != nil {
		b.QueuedQueries = append(b.QueuedQueries, also.QueuedQueries...)
	}
	err = tx.SendBatch(ctx, b).Close()
	return d, past, err
}

// load reads all contacts, unless somebody just did.
func (r *Replica) load(ctx context.Context) error {
	if r.fresh() != nil {
		return nil
	}
	at := time.Now()
	return r.db.Read(ctx, func(tx *db.Tx) error {
		var snapshot string
		if err := tx.QueryRow(ctx, `select pg_current_snapshot()::text`).Scan(&snapshot); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `select id, created_at, owner_user_id, deleted_at is not null as trashed, search, status, marketing, source, tags
			from contact order by created_at, id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		e := editor{to: &Directory{}}
		for rows.Next() {
			row, err := pgx.RowToStructByName[contactRow](rows)
			if err != nil {
				return err
			}
			e.put(row.record())
		}
		if rows.Err() != nil {
			return rows.Err()
		}
		r.newest.Store(&Copy{e.done(), snapshot, at})
		return nil
	})
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
	Kind        int
	Snapshot    string
	Later, Past bool
	contactRow
}

func (r contactRow) record() Record {
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
	return Record{Key: KeyOf(r.CreatedAt, r.ID), Text: searched(r.Search), Labels: labels}
}

// OwnerLabel is the label of what a user owns.
func OwnerLabel(user int64) Label { return Label{Kind: Owner, Value: strconv.FormatInt(user, 10)} }

// searched is text without the bare digits at its end, where the number before them has these in a row.
func searched(text string) string {
	at := strings.LastIndexByte(text, ' ')
	if at > 0 && strings.HasSuffix(text[:at], text[at+1:]) {
		return text[:at]
	}
	return text
}

// editor applies changes to a directory, so many at a time that they need little memory.
type editor struct {
	to      *Directory
	gone    []Key
	records []Record
}

const atATime = 8192

func (e *editor) drop(k Key) { e.gone = append(e.gone, k) }

func (e *editor) put(r Record) {
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

// KeepUp reads all contacts, then every few seconds what changed, so that a reader after a pause has little to read. It
// returns when ctx ends.
func (r *Replica) KeepUp(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.refresh(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "the directory is not up to date", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

func (r *Replica) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return r.db.Read(ctx, func(tx *db.Tx) error {
		_, past, err := r.current(ctx, tx, nil)
		if err == nil && past {
			// This snapshot was taken after the copy's, and yet ends before it: somebody restored a backup.
			r.newest.Store(nil)
		}
		return err
	})
}

// DropGone deletes the keys of contacts that have been gone for keepGone: every copy has dropped them.
func (r *Replica) DropGone(ctx context.Context) error {
	_, err := r.db.Pool.Exec(ctx, `delete from contact_gone where gone_at < now() - $1::interval`, keepGone)
	return err
}
