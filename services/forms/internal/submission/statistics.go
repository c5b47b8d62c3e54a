package submission

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/forms/internal/form"
)

// submissionStatistics counts the submissions that the caller may see, by week.
type submissionStatistics struct {
	Weeks []submissionWeek `json:"weeks" doc:"The oldest first."`
}

// submissionWeek is one week's submissions.
type submissionWeek struct {
	Week     string `json:"week" format:"date" doc:"Its Monday."`
	Received int64  `json:"received" doc:"How many came, without spam."`
	Spam     int64  `json:"spam" doc:"How many were spam."`
}

type findStatistics struct {
	db.LastWeeks
	Form int64 `json:"form,omitempty" minimum:"1"`
}

func (r *Room) statistics(ctx context.Context, tx *db.Tx, in findStatistics) (submissionStatistics, error) {
	w := visible(tx)
	weeks := in.In(w, r.Config.Timezone, tx.Now)
	if in.Form != 0 {
		w.And("s.form_id = ?", in.Form)
	}
	rows, err := tx.Query(ctx, `select w.week::text as week, count(s.id) filter (where s.status = 'received') as received,
		count(s.id) filter (where s.status = 'spam') as spam
		from `+weeks+` w left join lateral (select s.id, s.status from submission s left join contact c on c.id = s.contact_id
			where s.created_at >= w.begins and s.created_at < w.ends and `+w.String()+`) s on true
		group by w.week order by w.week`, w.Args...)
	if err != nil {
		return submissionStatistics{}, fmt.Errorf("count submissions by week: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[submissionWeek])
	return submissionStatistics{all}, err
}

// Count fills in how many submissions forms had in the last 30 days, of those that the actor may see. id limits it to one form; 0 is all.
func Count(ctx context.Context, tx *db.Tx, id int64, forms []form.Form) error {
	w := visible(tx)
	w.And("s.created_at >= ?", tx.Now.AddDate(0, 0, -30))
	if id != 0 {
		w.And("s.form_id = ?", id)
	}
	rows, err := tx.Query(ctx, `select s.form_id, count(*) filter (where s.status = 'received'), count(*) filter (where s.status = 'spam')
		from submission s left join contact c on c.id = s.contact_id where `+w.String()+` group by s.form_id`, w.Args...)
	if err != nil {
		return fmt.Errorf("count submissions by form: %w", err)
	}
	counts := map[int64][2]int64{}
	var of, received, spam int64
	_, err = pgx.ForEachRow(rows, []any{&of, &received, &spam}, func() error {
		counts[of] = [2]int64{received, spam}
		return nil
	})
	for i := range forms {
		f := &forms[i]
		f.Submissions30d, f.Spam30d = counts[f.ID][0], counts[f.ID][1]
	}
	return err
}
