package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Published declares records that a service publishes on a topic of its own: how their state is published again, and how
// their versions are raised. Records and OneRecord make them. The process does not start if one of the service's compacted
// topics has none.
type Published struct {
	Topic string
	// name is the prefix of the records' keys, or the key of one record: what tells the records of a topic apart.
	name string
	// slice publishes the records behind the id after, nil for the first ones, and returns the id of the last; nil at the end.
	slice func(ctx context.Context, tx *db.Tx, after any) (last any, err error)
	// raise gives records that are older than the version of their key the next version, and returns how many.
	raise func(ctx context.Context, tx *db.Tx, versions map[string]int64) (int, error)
	// known returns the keys of records that exist.
	known func(ctx context.Context, tx *db.Tx, keys map[string]bool) ([]string, error)
	// end deletes records whose keys have ended and must not come back, and returns how many.
	end func(ctx context.Context, tx *db.Tx, keys []string) (int, error)
	// skipNumbers lets an identity column go on behind the numbers that keys hold.
	skipNumbers func(ctx context.Context, tx *db.Tx, keys map[string]int64) error
}

// stateSlice is how many records one transaction of publishState locks and publishes.
const stateSlice = 200

// RecordID is the type of an id: []byte stands in keys as hexadecimal digits.
type RecordID interface {
	uuid.UUID | int64 | string | []byte
}

// Rows describes the records of a topic that are rows of a table.
type Rows[ID RecordID] struct {
	Topic, Table string
	// Column has the ids; id if it is empty.
	Column string
	// Prefix stands before the id in keys.
	Prefix string
	// Where limits the rows to those that are published; empty for all.
	Where string
	// Unversioned rows have no column version: they never change, or the newest message of their key counts.
	Unversioned bool
	// EndForGood rows that have ended in the topic do not come back with a backup.
	EndForGood bool
	// Emit publishes the rows with these ids as they are, under the versions that they have. They are locked.
	Emit func(ctx context.Context, tx *db.Tx, ids []ID) error
}

// Records declares rows that are published one by one.
func Records[ID RecordID](r Rows[ID]) Published {
	r.Column, r.Where = cmp.Or(r.Column, "id"), cmp.Or(r.Where, "true")
	return Published{Topic: r.Topic, name: r.Prefix, slice: r.slice, raise: r.raise, known: r.known, end: r.end, skipNumbers: r.skipNumbers}
}

func (r Rows[ID]) slice(ctx context.Context, tx *db.Tx, after any) (last any, err error) {
	var w db.Where
	w.And(r.Where)
	if after != nil {
		w.And(r.Column+" > ?", after)
	}
	ids, err := db.Column[ID](ctx, tx, `select `+r.Column+` from `+r.Table+` where `+w.String()+db.LimitTo(` order by `+r.Column, stateSlice)+` for no key update`, w.Args...)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return ids[len(ids)-1], r.Emit(ctx, tx, ids)
}

func (r Rows[ID]) raise(ctx context.Context, tx *db.Tx, versions map[string]int64) (int, error) {
	if r.Unversioned {
		return 0, nil
	}
	ids := r.ids(maps.Keys(versions))
	least := make([]int64, len(ids))
	for i, id := range ids {
		least[i] = versions[r.Prefix+id]
	}
	tag, err := tx.Exec(ctx, `update `+r.Table+` t set version = m.version + 1 from unnest($1::text[], $2::bigint[]) m (id, version)
		where t.`+r.Column+` = `+r.inKeys().id+` and t.version < m.version`, ids, least)
	return int(tag.RowsAffected()), err
}

func (r Rows[ID]) known(ctx context.Context, tx *db.Tx, keys map[string]bool) ([]string, error) {
	return db.Column[string](ctx, tx, `select $2 || `+r.inKeys().text+` from `+r.Table+` where `+r.Column+` in (select `+r.inKeys().id+` from unnest($1::text[]) m (id))`,
		r.ids(maps.Keys(keys)), r.Prefix)
}

func (r Rows[ID]) end(ctx context.Context, tx *db.Tx, keys []string) (int, error) {
	if !r.EndForGood {
		return 0, nil
	}
	tag, err := tx.Exec(ctx, `delete from `+r.Table+` where `+r.Column+` in (select `+r.inKeys().id+` from unnest($1::text[]) m (id))`, r.ids(slices.Values(keys)))
	return int(tag.RowsAffected()), err
}

func (r Rows[ID]) skipNumbers(ctx context.Context, tx *db.Tx, keys map[string]int64) error {
	if _, ok := any(*new(ID)).(int64); !ok {
		return nil
	}
	// A column without a sequence gets its numbers from elsewhere.
	_, err := tx.Exec(ctx, `select setval(s.name, n.highest) from (select pg_get_serial_sequence($1, $2)::regclass as name) s,
		(select max(n::bigint) as highest from unnest($3::text[]) n) n
		where n.highest > coalesce(pg_sequence_last_value(s.name), 0)`,
		r.Table, r.Column, r.ids(maps.Keys(keys)))
	return err
}

// spelling is how ids of a type stand in keys.
type spelling struct {
	// text is the SQL that makes a text of the column, id that which makes an id of the text m.id.
	text, id string
	// is reports whether a text can be an id.
	is func(text string) bool
}

func (r Rows[ID]) inKeys() spelling {
	anything := func(string) bool { return true }
	switch any(*new(ID)).(type) {
	case uuid.UUID:
		return spelling{r.Column + "::text", "m.id::uuid", func(text string) bool { _, err := uuid.Parse(text); return err == nil }}
	case int64:
		return spelling{r.Column + "::text", "m.id::bigint", func(text string) bool { _, err := strconv.ParseInt(text, 10, 64); return err == nil }}
	case []byte:
		return spelling{"encode(" + r.Column + ", 'hex')", "decode(m.id, 'hex')", anything}
	}
	return spelling{r.Column, "m.id", anything}
}

// ids are the ids in those keys that can be of this table.
func (r Rows[ID]) ids(keys iter.Seq[string]) []string {
	ids := []string{}
	for key := range keys {
		if id, ok := strings.CutPrefix(key, r.Prefix); ok && r.inKeys().is(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// OneRecord declares a single record under a fixed key. emit locks and publishes it. raise gives it the next version if it is
// older than the given one, and returns how many rows it changed.
func OneRecord(topic, key string, emit func(ctx context.Context, tx *db.Tx) error, raise func(ctx context.Context, tx *db.Tx, version int64) (int, error)) Published {
	return Published{
		Topic: topic, name: key,
		slice: func(ctx context.Context, tx *db.Tx, after any) (any, error) {
			if after != nil {
				return nil, nil
			}
			return key, emit(ctx, tx)
		},
		raise: func(ctx context.Context, tx *db.Tx, versions map[string]int64) (int, error) {
			if version, ok := versions[key]; ok {
				return raise(ctx, tx, version)
			}
			return 0, nil
		},
		known:       func(context.Context, *db.Tx, map[string]bool) ([]string, error) { return []string{key}, nil },
		end:         func(context.Context, *db.Tx, []string) (int, error) { return 0, nil },
		skipNumbers: func(context.Context, *db.Tx, map[string]int64) error { return nil },
	}
}

// recordsOf are those on a topic.
func recordsOf(topic string, all []Published) []Published {
	return slices.DeleteFunc(slices.Clone(all), func(p Published) bool { return p.Topic != topic })
}

// PublishAll publishes all records as they are, marked as state, in one transaction. It is for records that are few.
func PublishAll(ctx context.Context, tx *db.Tx, all []Published) error {
	history := tx.History
	defer func() { tx.History = history }()
	tx.History = true
	for _, p := range all {
		last, err := p.slice(ctx, tx, nil)
		for err == nil && last != nil {
			last, err = p.slice(ctx, tx, last)
		}
		if err != nil {
			return fmt.Errorf("publish the state of %s: %w", p.Topic, err)
		}
	}
	return nil
}

// publishState publishes all records of a topic of the service's own as they are, marked as state, in slices. The rows of a
// slice are locked until its events are in the outbox, so the event of a later change follows. It may run at any time, and
// again after an error.
func (r *runner) publishState(ctx context.Context, topic string) error {
	if topic == proto.ManifestTopic {
		return r.announce(ctx)
	}
	for _, p := range recordsOf(topic, r.parts.Published) {
		var after any
		for more := true; more; {
			var last any
			if err := r.kit.DB.Do(ctx, func(tx *db.Tx) (err error) {
				tx.History = true
				last, err = p.slice(ctx, tx, after)
				return err
			}); err != nil {
				return fmt.Errorf("publish the state of %s: %w", topic, err)
			}
			after, more = last, last != nil
		}
	}
	return nil
}

// checkPublished returns an error that names the service's compacted topics for which nothing is declared, and declared
// topics that are not the service's.
func checkPublished(service string, all []Published) error {
	declared := map[string]bool{}
	for _, p := range all {
		declared[p.Topic] = true
	}
	var wrong []string
	for _, t := range proto.Topics {
		own := t.Compacted && strings.HasPrefix(t.Name, service+".")
		if own && !declared[t.Name] {
			wrong = append(wrong, t.Name+" is not declared")
		}
		if !own && declared[t.Name] {
			wrong = append(wrong, t.Name+" has no records of this service")
		}
	}
	if len(wrong) > 0 {
		return errors.New("app: what the service publishes (Parts.Published): " + strings.Join(wrong, ", "))
	}
	return nil
}
