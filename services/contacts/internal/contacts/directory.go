package contacts

import (
	"context"
	"log/slog"
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
}

func newMemory() memory { return memory{loading: make(chan struct{}, 1)} }

// The database forgets which contacts are gone after keepGone; a copy that is older than half of that is read anew.
const keepGone = 24 * time.Hour

const directoryColumns = `c.id, c.created_at, c.owner_user_id, c.deleted_at is not null, c.search, c.status, c.marketing, c.source, c.tags`

// since is what the queries below compare rows with: the snapshot $1 of the copy, and that of now. In a row of its own
// it leaves one plan for all snapshots. Transactions of the future are those of the cluster that a backup came from.
const since = `
	with now as materialized (select s, pg_snapshot_xmax(s) as ahead, old, pg_snapshot_xmin(old) as since
		from (select pg_current_snapshot() as s, ?::text::pg_snapshot as old offset 0) x)`

const unseen = `changed >= since and changed < ahead and not pg_visible_in_snapshot(changed, old)`

// changesSince gives the snapshot it sees, whether it is a later one than that of the copy, and whether it ends before
// that begins, with what transactions did that the copy did not see: first what is gone.
const changesSince = since + `
	select now.s::text, pg_snapshot_xmin(s) >= since and ahead >= pg_snapshot_xmax(old), ahead < since, c.gone, ` + directoryColumns + `
	from now left join lateral (
		select true as gone, id, created_at, null::bigint as owner_user_id, null::timestamptz as deleted_at, '' as search, '' as status,
			'' as marketing, '' as source, null::text[] as tags
		from contact_gone where ` + unseen + `
		union all
		select false, id, created_at, owner_user_id, deleted_at, search, status, marketing, source, tags from contact where ` + unseen + `
	) c on true
	order by c.gone desc`

// upToDate tells whether there is nothing of that.
const upToDate = since + `
	select not exists (select from contact where ` + unseen + `) and not exists (select from contact_gone where ` + unseen + `) from now`

// applied is how many changes are put into the copy at a time.
const applied = 8192

// changes collects what a query brings for the copy.
type directoryChanges struct {
	to      *directory.Directory
	past    bool // the snapshot ends before the copy's begins
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
	c.records = append(c.records, directory.Record{Key: directory.KeyOf(r.created, r.id), Text: searched(r.search), Labels: labels})
	if len(c.records) == applied {
		c.apply()
	}
}

// searched is text without the bare digits at its end, where the number before them has these in a row.
func searched(text string) string {
	at := strings.LastIndexByte(text, ' ')
	if at > 0 && strings.HasSuffix(text[:at], text[at+1:]) {
		return text[:at]
	}
	return text
}

func ownerLabel(user int64) directory.Label {
	return directory.Label{Kind: directory.Owner, Value: strconv.FormatInt(user, 10)}
}

// directoryBatch asks, before all else in b, for what changed, and has the copy once b was sent.
func (s *service) directoryBatch(ctx context.Context, b *pgx.Batch) (*directoryChanges, error) {
	old, err := s.copied(ctx)
	if err != nil {
		return nil, err
	}
	c := &directoryChanges{to: old.Directory}
	var w where
	b.Queue(w.number(changesSince, old.snapshot), w.args...).Query(func(rows pgx.Rows) error {
		var snapshot string
		var later bool
		var gone *bool
		for rows.Next() {
			if rows.RawValues()[3] == nil {
				if err := rows.Scan(&snapshot, &later, &c.past, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil); err != nil {
					return err
				}
				continue
			}
			var r directoryRow
			if err := rows.Scan(append([]any{&snapshot, &later, &c.past, &gone}, r.targets()...)...); err != nil {
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
	return c, nil
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
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

func (s *service) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return s.DB.Read(ctx, func(tx *db.Tx) error {
		b := &pgx.Batch{}
		c, err := s.directoryBatch(ctx, b)
		if err != nil {
			return err
		}
		err = tx.SendBatch(ctx, b).Close()
		if err == nil && c.past {
			// This snapshot was taken after the copy's. The database is at an earlier state: somebody brought back
			// a backup.
			s.memory.newest.Store(nil)
		}
		return err
	})
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

// first is how many contacts the query selects, and the latest limit of them.
func (l *selection) first(limit int) ([]directory.Key, int64) {
	if l.none {
		return nil, 0
	}
	return l.First(l.query, limit)
}

func (l *selection) after(key directory.Key, limit int) []directory.Key {
	if l.none {
		return nil
	}
	return l.After(l.query, key, limit)
}

// selection brings the copy up to date and q into its terms.
func (s *service) selection(ctx context.Context, tx *db.Tx, q ContactQuery) (*selection, error) {
	b := &pgx.Batch{}
	c, err := s.directoryBatch(ctx, b)
	if err != nil {
		return nil, err
	}
	l := &selection{query: q.directoryQuery(tx)}
	if words := strings.Fields(q.Search); len(words) > 0 || q.Tag != "" {
		b.Queue(`select array(select fold(w) from unnest($1::text[]) w), (select name from tag where slug = $2)`, words, slug(q.Tag)).QueryRow(func(row pgx.Row) error {
			var tag *string
			err := row.Scan(&l.query.Words, &tag)
			if tag != nil {
				l.query.Has = append(l.query.Has, directory.Label{Kind: directory.Tag, Value: *tag})
			}
			l.none = q.Tag != "" && tag == nil
			return err
		})
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	l.Directory = c.to
	if d := &l.query; len(d.Words) == 1 && d.Instead != "" {
		// A number in one word: the shorter of the two stands wherever the longer does.
		if strings.Contains(d.Words[0], d.Instead) {
			d.Words[0] = d.Instead
		}
		if strings.Contains(d.Instead, d.Words[0]) {
			d.Instead = ""
		}
	}
	return l, nil
}

// directoryQuery is q for the copy, but for words and tags as the database knows them.
func (q ContactQuery) directoryQuery(tx *db.Tx) directory.Query {
	d := directory.Query{Instead: phoneDigits(q.Search)}
	for kind, value := range map[directory.Kind]string{directory.Status: q.Status, directory.Marketing: q.Marketing, directory.Source: q.Source} {
		if value != "" {
			d.Has = append(d.Has, directory.Label{Kind: kind, Value: value})
		}
	}
	if q.Owner != 0 {
		d.Has = append(d.Has, ownerLabel(q.Owner))
	}
	if tx.Who.Own {
		d.Has = append(d.Has, ownerLabel(tx.Who.UserID))
	}
	if !q.IncludeDeleted {
		d.Lacks = []directory.Label{{Kind: directory.Trashed}}
	}
	if !q.CreatedSince.IsZero() {
		d.Since = q.CreatedSince.UnixMicro()
	}
	return d
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
	if keys, n := l.first(few); n <= few {
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
