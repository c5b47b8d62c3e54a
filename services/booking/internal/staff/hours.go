package staff

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
)

// Hours are weekly hours keyed by ISO weekday, 1 (Monday) to 7 (Sunday), each a list of [start, end] blocks
// written HH:MM.
type Hours map[string][][2]string

type ofStaff struct {
	User int64 `json:"user" minimum:"1"`
}

func (r *Room) getHours(ctx context.Context, tx *db.Tx, in ofStaff) (Hours, error) {
	p, err := r.Member(ctx, tx, in.User)
	return p.Hours, err
}

type newHours struct {
	User  int64                 `json:"user" minimum:"1"`
	Hours map[string][][]string `json:"hours" required:"true" doc:"By ISO weekday 1 to 7, lists of [start, end] in HH:MM; an end may be 24:00."`
}

func (r *Room) putHours(ctx context.Context, tx *db.Tx, in newHours) (Hours, error) {
	raw, err := json.Marshal(in.Hours)
	if err != nil {
		return nil, err
	}
	var week slots.Week
	if err := json.Unmarshal(raw, &week); err != nil {
		return nil, fault.Invalid("hours", fault.NewProblem("hours", "are not valid: "+err.Error()))
	}
	if _, err := r.Member(ctx, tx, in.User); err != nil {
		return nil, err
	}
	if err := MayChange(tx, in.User); err != nil {
		return nil, err
	}
	p, err := r.Lock(ctx, tx, in.User)
	if err != nil {
		return nil, err
	}
	was := p.Hours
	p.Week, p.Hours = week, week.Strings()
	if maps.EqualFunc(was, p.Hours, slices.Equal) {
		return p.Hours, nil
	}
	if _, err := tx.Exec(ctx, `update staff set hours = $2 where user_id = $1`, p.UserID, week); err != nil {
		return nil, err
	}
	if err := tx.ChangedFrom(map[string]any{"hours": was}, map[string]any{"hours": p.Hours}); err != nil {
		return nil, err
	}
	return p.Hours, p.Emit(ctx, tx, proto.KindStaffUpdated, nil, "hours")
}
