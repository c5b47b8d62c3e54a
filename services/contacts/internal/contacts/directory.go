package contacts

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/directory"
)

// remembered is the replica's copy of what contacts are listed and counted by, as one snapshot of the
// database saw it.
type remembered struct {
	*directory.Directory
	snapshot string
	at       time.Time
}

// memory keeps the newest copy. Whoever asks it first reads what changed since, and so sees at least what its
// own transaction sees.
type memory struct {
	newest  atomic.Pointer[remembered]
	loading chan struct{} // holds whoever reads all
	percent int           // that the garbage collector was told last
}

func newMemory() memory { return memory{loading: make(chan struct{}, 1)} }

// The database forgets which contacts are gone after keepGone; a copy that is older than half of that is read anew.
const keepGone = 24 * time.Hour

const directoryColumns = `c.id, c.created_at, c.owner_user_id, c.deleted_at is not null, c.search, c.status, c.marketing, c.source, c.tags`

// changesSince gives the snapshot it sees and whether it is a later one than $1, with what transactions did that $1
// did not see: first what is gone. Transactions of the future are those of the cluster that a backup came from.
const changesSince = `
	with now as materialized (select pg_current_snapshot() as s)
	select now.s::text, pg_snapshot_xmin(now.s) >= pg_snapshot_xmin($1::text::pg_snapshot) and pg_snapshot_xmax(now.s) >= pg_snapshot_xmax($1::text::pg_snapshot),
		c.gone, ` + directoryColumns + `
	from now left join lateral (
		select true as gone, g.id, g.created_at, null::bigint as owner_user_id, null::timestamptz as deleted_at, '' as search, '' as status,
			'' as marketing, '' as source, null::text[] as tags
		from contact_gone g
		where g.changed >= pg_snapshot_xmin($1::text::pg_snapshot) and g.changed < pg_snapshot_xmax(now.s)
			and not pg_visible_in_snapshot(g.changed, $1::text::pg_snapshot)
		union all
		select false, c.id, c.created_at, c.owner_user_id, c.deleted_at, c.search, c.status, c.marketing, c.source, c.tags
		from contact c
		where c.changed >= pg_snapshot_xmin($1::text::pg_snapshot) and c.changed < pg_snapshot_xmax(now.s)
			and not pg_visible_in_snapshot(c.changed, $1::text::pg_snapshot)
	) c on true
	order by c.gone desc`

// applied is how many changes are put into the copy at a time.
const applied = 8192

// changes collects what a query brings for the copy.
type directoryChanges struct {
	to      *directory.Directory
	gone    []directory.Key
	records []directory.Record
}

func (c *directoryChanges) apply() {
	c.to = c.to.With(c.gone, c.records)
	c.gone, c.records = c.gone[:0], c.records[:0]
}

// directoryRow takes the values of directoryColumns.
type directoryRow struct {
	id                                uuid.UUID
	created                           time.Time
	owner                             *int64
	trashed                           bool
	search, status, marketing, source string
	tags                              []string
}

func (r *directoryRow) targets() []any {
	return []any{&r.id, &r.created, &r.owner, &r.trashed, &r.search, &r.status, &r.marketing, &r.source, &r.tags}
}

func (c *directoryChanges) add(r *directoryRow) {
	labels := make([]directory.Label, 0, 5+len(r.tags))
	labels = append(labels, directory.Label{Kind: directory.Status, Value: r.status}, directory.Label{Kind: directory.Marketing, Value: r.marketing})
	if r.source != "" {
		labels = append(labels, directory.Label{Kind: directory.Source, Value: r.source})
	}
	if r.owner != nil {
		labels = append(labels, ownerLabel(*r.owner))
	}
	if r.trashed {
		labels = append(labels, directory.Label{Kind: directory.Trashed})
	}
	for _, t := range r.tags {
		labels = append(labels, directory.Label{Kind: directory.Tag, Value: t})
	}
	c.records = append(c.records, directory.Record{Key: directory.KeyOf(r.created, r.id), Text: r.search, Labels: labels})
	if len(c.records) == applied {
		c.apply()
	}
}

func ownerLabel(user int64) directory.Label {
	return directory.Label{Kind: directory.Owner, Value: strconv.FormatInt(user, 10)}
}

// directoryBatch asks, before all else in b, for what changed. The function gives the copy once b was sent.
func (s *service) directoryBatch(ctx context.Context, b *pgx.Batch) (func() *directory.Directory, error) {
	old, err := s.copied(ctx)
	if err != nil {
		return nil, err
	}
	c := directoryChanges{to: old.Directory}
	b.Queue(changesSince, old.snapshot).Query(func(rows pgx.Rows) error {
		var snapshot string
		var later bool
		var gone *bool
		for rows.Next() {
			if rows.RawValues()[2] == nil {
				if err := rows.Scan(&snapshot, &later, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil); err != nil {
					return err
				}
				continue
			}
			var r directoryRow
			if err := rows.Scan(append([]any{&snapshot, &later, &gone}, r.targets()...)...); err != nil {
				return err
			}
			if *gone {
				c.gone = append(c.gone, directory.KeyOf(r.created, r.id))
				continue
			}
			c.add(&r)
		}
		if rows.Err() != nil {
			return rows.Err()
		}
		c.apply()
		if later {
			s.memory.newest.CompareAndSwap(old, &remembered{c.to, snapshot, time.Now()})
		}
		return nil
	})
	return func() *directory.Directory { return c.to }, nil
}

// copied is the newest copy, which the first to ask reads.
func (s *service) copied(ctx context.Context) (*remembered, error) {
	for {
		if r := s.memory.newest.Load(); r != nil && time.Since(r.at) < keepGone/2 {
			return r, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case s.memory.loading <- struct{}{}:
		}
		err := s.load(ctx)
		<-s.memory.loading
		if err != nil {
			return nil, err
		}
	}
}

// load reads the copy whole, unless somebody just did.
func (s *service) load(ctx context.Context) error {
	if r := s.memory.newest.Load(); r != nil && time.Since(r.at) < keepGone/2 {
		return nil
	}
	at := time.Now()
	return s.DB.Read(ctx, func(tx *db.Tx) error {
		var snapshot string
		if err := tx.QueryRow(ctx, `select pg_current_snapshot()::text`).Scan(&snapshot); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `select `+directoryColumns+` from contact c order by c.created_at, c.id`)
		if err != nil {
			return err
		}
		c := directoryChanges{to: &directory.Directory{}}
		var r directoryRow
		if _, err := pgx.ForEachRow(rows, r.targets(), func() error { c.add(&r); return nil }); err != nil {
			return err
		}
		c.apply()
		s.memory.newest.Store(&remembered{c.to, snapshot, at})
		return nil
	})
}

// keepUp reads the copy when the service starts, and what changes even while nobody asks.
func (s *service) keepUp(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.refresh(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "the directory is not up to date", "error", err)
		}
		s.collectLess()
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (s *service) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return s.DB.Read(ctx, func(tx *db.Tx) error {
		b := &pgx.Batch{}
		if _, err := s.directoryBatch(ctx, b); err != nil {
			return err
		}
		return tx.SendBatch(ctx, b).Close()
	})
}

// collectLess has the garbage collector come as often as without the copy, which holds no pointers to follow but
// would let as much garbage again pile up.
func (s *service) collectLess() {
	r := s.memory.newest.Load()
	if r == nil || os.Getenv("GOGC") != "" {
		return
	}
	const garbage = 64 << 20
	if percent := garbage * 100 / (r.Size() + garbage/2); percent != s.memory.percent {
		debug.SetGCPercent(percent)
		s.memory.percent = percent
	}
}

// forgetGone drops the names of contacts that every copy knows to be gone.
func (s *service) forgetGone(ctx context.Context) error {
	_, err := s.DB.Pool.Exec(ctx, `delete from contact_gone where gone_at < now() - $1::interval`, keepGone)
	return err
}

// selection is what a query selects in the copy.
type selection struct {
	*directory.Directory
	query directory.Query
	// none tells that the query asks for what nothing has.
	none bool
}

// count is how many contacts the query selects, as far as the copy knows its conditions.
func (l *selection) count() int64 {
	if l.none {
		return 0
	}
	return l.Count(l.query)
}

func (l *selection) find(after *directory.Key, limit int) []directory.Key {
	if l.none {
		return nil
	}
	return l.Find(l.query, after, limit)
}

// selection brings the copy up to date and q into its terms. What is queued in along goes the same way.
func (s *service) selection(ctx context.Context, tx *db.Tx, q ContactQuery, along ...*pgx.QueuedQuery) (*selection, error) {
	b := &pgx.Batch{}
	copied, err := s.directoryBatch(ctx, b)
	if err != nil {
		return nil, err
	}
	l := &selection{query: directory.Query{Instead: phoneDigits(q.Search)}}
	has := func(kind directory.Kind, value string) {
		l.query.Has = append(l.query.Has, directory.Label{Kind: kind, Value: value})
	}
	if words := strings.Fields(q.Search); len(words) > 0 || q.Tag != "" {
		b.Queue(`select array(select fold(w) from unnest($1::text[]) w), (select name from tag where slug = $2)`, words, slug(q.Tag)).QueryRow(func(row pgx.Row) error {
			var tag *string
			err := row.Scan(&l.query.Words, &tag)
			if tag != nil {
				has(directory.Tag, *tag)
			}
			l.none = q.Tag != "" && tag == nil
			return err
		})
	}
	b.QueuedQueries = append(b.QueuedQueries, along...)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	l.Directory = copied()
	for kind, value := range map[directory.Kind]string{directory.Status: q.Status, directory.Marketing: q.Marketing, directory.Source: q.Source} {
		if value != "" {
			has(kind, value)
		}
	}
	if q.Owner != 0 {
		l.query.Has = append(l.query.Has, ownerLabel(q.Owner))
	}
	if tx.Who.Own {
		l.query.Has = append(l.query.Has, ownerLabel(tx.Who.UserID))
	}
	if !q.IncludeDeleted {
		l.query.Lacks = []directory.Label{{Kind: directory.Trashed}}
	}
	if !q.CreatedSince.IsZero() {
		l.query.Since = q.CreatedSince.UnixMicro()
	}
	return l, nil
}

// known tells whether the copy knows all that q asks for.
func (q ContactQuery) known() bool {
	return q.Organization == uuid.Nil && q.AppointmentFrom.IsZero() && q.AppointmentTo.IsZero() && q.NoAppointmentSince.IsZero() && q.UpdatedSince.IsZero()
}

// few is how many ids a query is given rather than the words of a search.
const few = 5000

// narrowed is q with its search, when that finds few, replaced by a condition on ids.
func (s *service) narrowed(ctx context.Context, tx *db.Tx, q ContactQuery, w *where) (ContactQuery, error) {
	if q.Search == "" {
		return q, nil
	}
	l, err := s.selection(ctx, tx, q)
	if err != nil {
		return q, err
	}
	if keys := l.find(nil, few+1); len(keys) <= few {
		w.and("c.id = any(?)", ids(keys))
		q.Search = ""
	}
	return q, nil
}

func ids(keys []directory.Key) []uuid.UUID {
	out := make([]uuid.UUID, len(keys))
	for i, k := range keys {
		out[i] = k.ID
	}
	return out
}
