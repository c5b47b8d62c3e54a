package staff

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
)

// Hours are weekly hours keyed by ISO weekday, 1 (Monday) to 7 (Sunday), each a list of [start, end] blocks
// written HH:MM.
type Hours map[string][][2]string

// Open are the hours in which somebody works who does a service that visitors book.
func Open(ctx context.Context, tx *db.Tx) (week slots.Week, err error) {
	rows, err := tx.Query(ctx, `select hours from staff where removed_at is null and exists (
		select from skill join service s on s.id = service_id where skill.user_id = staff.user_id and s.bookable_online and not s.archived)`)
	if err != nil {
		return week, err
	}
	var hours []byte
	_, err = pgx.ForEachRow(rows, []any{&hours}, func() error {
		var of slots.Week
		err := json.Unmarshal(hours, &of)
		week = week.With(of)
		return err
	})
	return week, err
}

// weekly are somebody's hours as an answer, under the version of the member.
type weekly struct {
	hours   Hours
	version int64
}

// RecordVersion is the answer's ETag.
func (w weekly) RecordVersion() int64 { return w.version }

// MarshalJSON is that of the hours.
func (w weekly) MarshalJSON() ([]byte, error) { return json.Marshal(w.hours) }

// Schema is that of the hours.
func (weekly) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[Hours](), true, "")
}

type ofStaff struct {
	User int64 `json:"user" minimum:"1"`
}

func (r *Room) getHours(ctx context.Context, tx *db.Tx, in ofStaff) (weekly, error) {
	p, err := r.Member(ctx, tx, in.User)
	return p.weekly(), err
}

type newHours struct {
	User  int64                 `json:"user" minimum:"1"`
	Hours map[string][][]string `json:"hours" required:"true" doc:"By ISO weekday 1 to 7, lists of [start, end] in HH:MM; an end may be 24:00."`
}

func (r *Room) putHours(ctx context.Context, tx *db.Tx, in newHours) (weekly, error) {
	raw, err := json.Marshal(in.Hours)
	if err != nil {
		return weekly{}, err
	}
	var week slots.Week
	if err := json.Unmarshal(raw, &week); err != nil {
		return weekly{}, fault.Invalid("hours", fault.NewProblem("hours", "are not valid: "+err.Error()))
	}
	if _, err := r.Member(ctx, tx, in.User); err != nil {
		return weekly{}, err
	}
	if err := MayChange(tx, in.User); err != nil {
		return weekly{}, err
	}
	p, err := r.Lock(ctx, tx, in.User)
	if err != nil {
		return weekly{}, err
	}
	if err := tx.Match(p.version); err != nil {
		return weekly{}, err
	}
	was := p.Hours
	p.Week, p.Hours = week, week.Strings()
	if maps.EqualFunc(was, p.Hours, slices.Equal) {
		return p.weekly(), nil
	}
	if _, err := tx.Exec(ctx, `update staff set hours = $2 where user_id = $1`, p.UserID, week); err != nil {
		return weekly{}, err
	}
	tx.Was(change.Set{"hours": {Old: was}})
	if err := tx.ChangedFrom(map[string]any{"hours": was}, map[string]any{"hours": p.Hours}); err != nil {
		return weekly{}, err
	}
	err = p.Emit(ctx, tx, proto.KindStaffUpdated, nil, "hours")
	return p.weekly(), err
}
