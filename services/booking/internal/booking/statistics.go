package booking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// BookingStatistics counts the appointments that the caller may see, by the week in which they start.
type BookingStatistics struct {
	Weeks []BookingWeek `json:"weeks" doc:"The oldest first."`
}

// BookingWeek is one week's appointments.
type BookingWeek struct {
	Week      string `json:"week" format:"date" doc:"Its Monday."`
	Booked    int64  `json:"booked" doc:"Those that are not cancelled or declined."`
	Online    int64  `json:"online" doc:"Of all, those that visitors booked themselves."`
	Cancelled int64  `json:"cancelled" doc:"Cancelled or declined."`
	Completed int64  `json:"completed" doc:"Appointments that took place."`
	NoShow    int64  `json:"no_show" doc:"Appointments that the client missed."`
}

type findStatistics struct {
	db.LastWeeks
	Staff int64 `json:"staff,omitempty" minimum:"1"`
}

func (s *service) statistics(ctx context.Context, tx *db.Tx, in findStatistics) (BookingStatistics, error) {
	var w db.Where
	weeks := in.In(&w, s.Config.Timezone, tx.Now)
	w.And("a.starts_at >= w.begins and a.starts_at < w.ends")
	if user := tx.Who.OwnUser(); user != 0 {
		w.And("a.user_id = ?", user)
	}
	if in.Staff != 0 {
		w.And("a.user_id = ?", in.Staff)
	}
	rows, err := tx.Query(ctx, `select w.week::text as week, count(a.id) filter (where a.status not in ('cancelled', 'declined')) as booked,
		count(a.id) filter (where a.source = 'booking') as online, count(a.id) filter (where a.status in ('cancelled', 'declined')) as cancelled,
		count(a.id) filter (where a.status = 'completed') as completed, count(a.id) filter (where a.status = 'no_show') as no_show
		from `+weeks+` w left join appointment a on `+w.String()+` group by w.week order by w.week`, w.Args...)
	if err != nil {
		return BookingStatistics{}, fmt.Errorf("count appointments by week: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[BookingWeek])
	return BookingStatistics{all}, err
}
