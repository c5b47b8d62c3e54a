package search

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/directory"
	"frontdesk/services/contacts/internal/tag"
)

// filter is a condition that a query may ask for.
type filter struct {
	names []string // of the parameters
	given func(q *contactQuery) bool
	// where narrows w to the contacts c that q selects by it.
	where func(q *contactQuery, w *db.Where)
	// ask narrows d likewise; nil if the directory does not know what it would have to compare.
	ask func(q *contactQuery, d *directory.Query)
}

// filters are all that contacts are narrowed down by: in SQL, in the directory, in lists and in files. contactFilter and contactQuery describe
// their parameters; a test compares the names.
var filters = []filter{
	// What the directory is asked for by these two is folded by the database: selection does it.
	by("search", func(q *contactQuery) *string { return &q.Search }, search, func(d *directory.Query, text string) { d.Instead = phoneDigits(text) }),
	by("tag", func(q *contactQuery) *string { return &q.Tag },
		func(w *db.Where, name string) { w.And("c.tags && "+tag.NamedAny, name, name) }, func(*directory.Query, string) {}),

	by("status", func(q *contactQuery) *string { return &q.Status }, is[string]("c.status"), labelled(directory.Status)),
	by("marketing", func(q *contactQuery) *string { return &q.Marketing }, is[string]("c.marketing"), labelled(directory.Marketing)),
	by("source", func(q *contactQuery) *string { return &q.Source }, is[string]("c.source"), labelled(directory.Source)),
	by("owner", func(q *contactQuery) *int64 { return &q.Owner }, is[int64]("c.owner_user_id"),
		func(d *directory.Query, user int64) { d.Has = append(d.Has, directory.OwnerLabel(user)) }),
	by("created_since", func(q *contactQuery) *time.Time { return &q.CreatedSince },
		func(w *db.Where, at time.Time) { w.And("c.created_at >= ?", at) }, func(d *directory.Query, at time.Time) { d.Since = at.UnixMicro() }),
	by("updated_since", func(q *contactQuery) *time.Time { return &q.UpdatedSince },
		func(w *db.Where, at time.Time) { w.And("c.updated_at >= ?", at) }, nil),
	by("organization", func(q *contactQuery) *uuid.UUID { return &q.Organization },
		func(w *db.Where, id uuid.UUID) {
			w.And("c.id in (select l.contact_id from contact_organization l where l.organization_id = ?)", id)
		}, nil),
	by("no_appointment_since", func(q *contactQuery) *time.Time { return &q.NoAppointmentSince },
		func(w *db.Where, at time.Time) {
			w.And("not exists (select from appointment a where a.contact_id = c.id and "+takesPlace+" and a.starts_at >= ?)", at)
		}, nil),
	// One appointment has to be within both ends.
	{names: []string{"appointment_from", "appointment_to"},
		given: func(q *contactQuery) bool { return !q.AppointmentFrom.IsZero() || !q.AppointmentTo.IsZero() },
		where: func(q *contactQuery, w *db.Where) {
			during := ""
			if !q.AppointmentFrom.IsZero() {
				during += w.Bind(" and a.starts_at >= ?", q.AppointmentFrom)
			}
			if !q.AppointmentTo.IsZero() {
				during += w.Bind(" and a.starts_at <= ?", q.AppointmentTo)
			}
			w.And("c.id in (select a.contact_id from appointment a where " + takesPlace + during + ")")
		}},
}

const takesPlace = "a.status not in ('cancelled', 'declined')"

// by is the filter of one parameter, which counts if it is not zero.
func by[V comparable](name string, of func(*contactQuery) *V, where func(w *db.Where, v V), ask func(d *directory.Query, v V)) filter {
	f := filter{names: []string{name},
		given: func(q *contactQuery) bool { return *of(q) != *new(V) },
		where: func(q *contactQuery, w *db.Where) { where(w, *of(q)) }}
	if ask != nil {
		f.ask = func(q *contactQuery, d *directory.Query) { ask(d, *of(q)) }
	}
	return f
}

func is[V any](column string) func(*db.Where, V) {
	return func(w *db.Where, v V) { w.And(column+" = ?", v) }
}

func labelled(kind directory.Kind) func(*directory.Query, string) {
	return func(d *directory.Query, value string) {
		d.Has = append(d.Has, directory.Label{Kind: kind, Value: value})
	}
}

// asked are the filters that q asks for.
func (q *contactQuery) asked() iter.Seq[filter] {
	return func(yield func(filter) bool) {
		for _, f := range filters {
			if f.given(q) && !yield(f) {
				return
			}
		}
	}
}

// conditions narrows w to the contacts c that q selects and the actor may see.
func (q *contactQuery) conditions(tx *db.Tx, w *db.Where) {
	switch {
	case q.Deleted:
		w.And("c.deleted_at is not null")
	case !q.IncludeDeleted:
		w.And("c.deleted_at is null")
	}
	contact.OnlyOwn(w, tx)
	for f := range q.asked() {
		f.where(q, w)
	}
}

// onPage is conditions for a page of q.
func (q *contactQuery) onPage(tx *db.Tx, w *db.Where, page *db.Cursor) {
	q.conditions(tx, w)
	if !page.Until.IsZero() {
		w.And("c.updated_at <= ?", page.Until)
	}
}

// search narrows w to the contacts c that have every word of text, in what they are called or in the names that others booked under with their
// address. It also finds a telephone number however it, or text, was written. Few contacts have such names, so they are looked through apart.
func search(w *db.Where, text string) {
	all := contact.Words(w, "c.search", text)
	if all == "" {
		return
	}
	if digits := phoneDigits(text); digits != "" {
		all += " or " + w.Bind("c.search like ?", "%"+digits+"%")
	}
	w.And("(" + all + " or c.booked_for <> '' and " + contact.Words(w, "(c.booked_for || c.search)", text) + ")")
}

// phoneDigits is the digits of a text that can be nothing but a telephone number, without the zeros that stand for a
// country or a region; empty for other text.
func phoneDigits(text string) string {
	digits := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return r
		case strings.ContainsRune(" +()./-", r):
			return -1
		}
		return 'x'
	}, text)
	if strings.Contains(digits, "x") || len(digits) < 3 {
		return ""
	}
	if significant := strings.TrimLeft(digits, "0"); len(significant) >= 3 {
		return significant
	}
	return digits
}

// selection is what a query selects in the directory.
type selection struct {
	*directory.Directory
	query directory.Query
	// tags are the names of the tag that the query asks for: several while the tag is renamed or merged, which the directory cannot ask for.
	tags []string
	// nothing is true if the query asks for a tag that does not exist.
	nothing bool
}

// first is how many contacts the query selects, and the latest of them, at most limit.
func (l *selection) first(limit int) ([]directory.Key, int64) {
	if l.nothing {
		return nil, 0
	}
	return l.First(l.query, limit)
}

// after are the latest contacts behind key, at most limit.
func (l *selection) after(key directory.Key, limit int) []directory.Key {
	if l.nothing {
		return nil
	}
	return l.After(l.query, key, limit)
}

// selection is what q selects in copied, which it checks.
func (r *Room) selection(ctx context.Context, tx *db.Tx, q contactQuery, copied *directory.Copy) (*selection, error) {
	l := &selection{Directory: copied.Directory, query: q.directoryQuery(tx)}
	b := &pgx.Batch{}
	if words := strings.Fields(q.Search); len(words) > 0 || q.Tag != "" {
		var w db.Where
		b.Queue(w.Bind(`select array(select fold(w) from unnest(?::text[]) w), `+tag.NamedAny, words, q.Tag, q.Tag), w.Args...).QueryRow(func(row pgx.Row) error {
			err := row.Scan(&l.query.Words, &l.tags)
			if len(l.tags) == 1 {
				l.query.Has = append(l.query.Has, directory.Label{Kind: directory.Tag, Value: l.tags[0]})
			}
			l.nothing = q.Tag != "" && len(l.tags) == 0
			return err
		})
	}
	if err := copied.Check(ctx, tx, b); err != nil {
		return nil, err
	}
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

// directoryQuery asks the directory for the filters of q. The search words and the tag are missing in it: selection adds them, because the
// database folds them.
func (q *contactQuery) directoryQuery(tx *db.Tx) directory.Query {
	var d directory.Query
	for f := range q.asked() {
		if f.ask != nil {
			f.ask(q, &d)
		}
	}
	if tx.Who.Own {
		d.Has = append(d.Has, directory.OwnerLabel(tx.Who.UserID))
	}
	switch trashed := (directory.Label{Kind: directory.Trashed}); {
	case q.Deleted:
		d.Has = append(d.Has, trashed)
	case !q.IncludeDeleted:
		d.Lacks = []directory.Label{trashed}
	}
	return d
}

// inDirectory reports whether the directory can answer all that q asks.
func (q *contactQuery) inDirectory() bool {
	for f := range q.asked() {
		if f.ask == nil {
			return false
		}
	}
	return true
}

// maxIDs is how many ids a query is given in place of the words of a search.
const maxIDs = 5000

// narrowed is q without its search, which becomes a condition of w on ids, if the search finds few contacts. A search is
// svc_unavailable while the directory is loaded.
func (r *Room) narrowed(ctx context.Context, tx *db.Tx, q contactQuery, w *db.Where) (contactQuery, error) {
	if q.Search == "" {
		return q, nil
	}
	copied := r.replica.Newest()
	if copied == nil {
		return q, fault.Unavailable()
	}
	l, err := r.selection(ctx, tx, q, copied)
	if err != nil {
		return q, err
	}
	if keys, n := l.first(maxIDs); n <= maxIDs {
		w.And("c.id = any(?)", ids(keys))
		q.Search = ""
	}
	return q, contact.PlanForWords(ctx, tx, q.Search)
}

func ids(keys []directory.Key) []uuid.UUID {
	out := make([]uuid.UUID, len(keys))
	for i, k := range keys {
		out[i] = k.ID
	}
	return out
}
