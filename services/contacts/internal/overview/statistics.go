package overview

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/contact"
)

// contactStatistics counts the contacts that the caller may see and that were made in the last weeks.
type contactStatistics struct {
	Weeks   []contactWeek   `json:"weeks" doc:"The oldest first."`
	Sources []contactSource `json:"sources" doc:"Where they came from: the ten most frequent sources."`
}

// contactWeek is one week's new contacts.
type contactWeek struct {
	Week    string `json:"week" format:"date" doc:"Its Monday."`
	Created int64  `json:"created" doc:"How many contacts were made."`
}

// contactSource is a source and how many of the contacts have it.
type contactSource struct {
	Source   string `json:"source" doc:"Empty for contacts without one."`
	Contacts int64  `json:"contacts" doc:"How many contacts came from it."`
}

// statistics counts new contacts, without those in the trash, by week and by source.
func (r *Room) statistics(ctx context.Context, tx *db.Tx, in db.LastWeeks) (contactStatistics, error) {
	var out contactStatistics
	var w db.Where
	weeks := in.In(&w, r.Config.Timezone, tx.Now)
	w.And("c.deleted_at is null and c.created_at >= w.begins and c.created_at < w.ends")
	contact.OnlyOwn(&w, tx)
	rows, err := tx.Query(ctx, `select w.week::text as week, count(c.id) as created from `+weeks+` w left join contact c on `+w.String()+`
		group by w.week order by w.week`, w.Args...)
	if err != nil {
		return out, fmt.Errorf("count contacts by week: %w", err)
	}
	if out.Weeks, err = pgx.CollectRows(rows, pgx.RowToStructByName[contactWeek]); err != nil {
		return out, err
	}
	rows, err = tx.Query(ctx, `select c.source, count(*) as contacts from `+weeks+` w join contact c on `+w.String()+`
		group by c.source order by contacts desc, c.source limit 10`, w.Args...)
	if err != nil {
		return out, fmt.Errorf("count contacts by source: %w", err)
	}
	out.Sources, err = pgx.CollectRows(rows, pgx.RowToStructByName[contactSource])
	return out, err
}
