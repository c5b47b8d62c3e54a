package contact

import (
	"time"

	"frontdesk/libs/db"
)

// Sort names the order of a list.
type Sort string

const (
	newest Sort = "-created_at"
	oldest Sort = "created_at"
	byName Sort = "name"

	// ByActivity has what was active last first, and at the end what never was.
	ByActivity Sort = "-last_activity"
)

// Bound is s as it is bound to a cursor: the usual order by its name and without one are the same.
func (s Sort) Bound() Sort {
	if s == newest {
		return ""
	}
	return s
}

// At is the time by which a record stands in the order s; zero for one that never had an activity.
func (s Sort) At(created time.Time, activity *time.Time) time.Time {
	switch {
	case s != ByActivity:
		return created
	case activity != nil:
		return *activity
	}
	return time.Time{}
}

// Orders are those of a list, in SQL: alias is the table's, activity and name what records are sorted by. A name is compared without case and accents,
// by two hundred characters, since an index has no room for more in all scripts. Indexes have the same words (migrations/00029_sort_index.sql).
func Orders(alias, activity, name string) map[Sort]db.Order {
	id := alias + ".id"
	return map[Sort]db.Order{
		"":         db.Newest(alias),
		newest:     db.Newest(alias),
		oldest:     {Key: alias + ".created_at", ID: id},
		byName:     {Key: `(left(fold(` + name + `), 200) collate "C")`, ID: id, Text: true},
		ByActivity: {Key: `coalesce(` + activity + `, '0001-01-01 00:00:00+00')`, ID: id, Desc: true},
	}
}
