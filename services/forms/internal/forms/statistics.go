package forms

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// SubmissionStatistics counts the submissions that the caller may see, by week.
type SubmissionStatistics struct {
	Weeks []SubmissionWeek `json:"weeks" doc:"The oldest first."`
}

// SubmissionWeek is one week's submissions.
type SubmissionWeek struct {
	Week     string `json:"week" format:"date" doc:"Its Monday."`
	Received int64  `json:"received" doc:"How many came, without spam."`
	Spam     int64  `json:"spam" doc:"How many were spam."`
}

type findStatistics struct {
	db.LastWeeks
	Form int64 `json:"form,omitempty" minimum:"1"`
}

func (s *service) statistics(ctx context.Context, tx *db.Tx, in findStatistics) (SubmissionStatistics, error) {
	w := ownSubmissions(tx)
	weeks := in.In(w, s.Config.Timezone, tx.Now)
	if in.Form != 0 {
		w.And("s.form_id = ?", in.Form)
	}
	rows, err := tx.Query(ctx, `select w.week::text as week, count(s.id) filter (where s.status = 'received') as received,
		count(s.id) filter (where s.status = 'spam') as spam
		from `+weeks+` w left join lateral (select s.id, s.status from submission s left join contact c on c.id = s.contact_id
			where s.created_at >= w.begins and s.created_at < w.ends and `+w.String()+`) s on true
		group by w.week order by w.week`, w.Args...)
	if err != nil {
		return SubmissionStatistics{}, fmt.Errorf("count submissions by week: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[SubmissionWeek])
	return SubmissionStatistics{all}, err
}

// countSubmissions counts the submissions since a moment that the actor may see, by form. id limits it to one form; 0 is all.
func countSubmissions(ctx context.Context, tx *db.Tx, id int64, since time.Time) (map[int64]formCounts, error) {
	w := ownSubmissions(tx)
	w.And("s.created_at >= ?", since)
	if id != 0 {
		w.And("s.form_id = ?", id)
	}
	rows, err := tx.Query(ctx, `select s.form_id, count(*) filter (where s.status = 'received'), count(*) filter (where s.status = 'spam')
		from submission s left join contact c on c.id = s.contact_id where `+w.String()+` group by s.form_id`, w.Args...)
	if err != nil {
		return nil, err
	}
	counts := map[int64]formCounts{}
	var form, received, spam int64
	_, err = pgx.ForEachRow(rows, []any{&form, &received, &spam}, func() error {
		counts[form] = formCounts{received, spam}
		return nil
	})
	return counts, err
}
