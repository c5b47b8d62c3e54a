package appointments

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/slots"
)

func (r *Room) getAppointment(ctx context.Context, tx *db.Tx, in op.ByID) (Appointment, error) {
	a, err := r.Find(ctx, tx, in.ID)
	return a.Whole(), err
}

type findAppointments struct {
	db.Page
	From         string    `json:"from,omitempty" format:"date" doc:"First local day of the start."`
	To           string    `json:"to,omitempty" format:"date" doc:"Last local day of the start, at most 62 days later."`
	Staff        int64     `json:"staff,omitempty" minimum:"1"`
	Service      uuid.UUID `json:"service,omitzero"`
	Status       []string  `json:"status,omitempty" enum:"pending,confirmed,declined,cancelled,completed,no_show,pending_payment"`
	Contact      uuid.UUID `json:"contact,omitzero"`
	Search       string    `json:"search,omitempty" maxLength:"100" doc:"Parts of name, address or number of the contact, or of the name in booked_for; accents and case do not count."`
	Conflict     bool      `json:"conflict,omitempty" doc:"true: only those that are open, not over, and fall on a time that the person's own calendar takes."`
	Source       string    `json:"source,omitempty" maxLength:"20" doc:"Only those that were booked through this channel: booking is the page and the widget for visitors."`
	UpdatedSince time.Time `json:"updated_since,omitzero"`
	Whole        bool      `json:"whole,omitempty" doc:"true: with the client's address and phone number, as get-appointment has them."`
}

// total is how many appointments where allows, which is made of in.
func (in findAppointments) total(ctx context.Context, tx *db.Tx, where *db.Where) (n int64, err error) {
	if in.From != "" || in.To != "" || in.Contact != uuid.Nil || in.Service != uuid.Nil || in.Search != "" || in.Source != "" || in.Conflict || !in.UpdatedSince.IsZero() {
		err = tx.QueryRow(ctx, `select count(*) from appointment a where `+where.String(), where.Args...).Scan(&n)
		return n, err
	}
	user := tx.Who.OwnUser()
	switch {
	case user == 0:
		user = in.Staff
	case in.Staff != 0 && in.Staff != user:
		return 0, nil
	}
	var whose []string
	if user != 0 {
		whose = []string{strconv.FormatInt(user, 10)}
	}
	return tx.CountRows(ctx, "appointment", whose, in.Status)
}

func (r *Room) findAppointments(ctx context.Context, tx *db.Tx, in findAppointments) (db.List[Appointment], error) {
	none := db.List[Appointment]{}
	c, err := tx.Page(in.Page, "appointments", in)
	if err != nil {
		return none, err
	}
	var where db.Where
	if in.From != "" || in.To != "" {
		from, to, err := slots.Period(in.From, in.To, slots.FirstDay, slots.MaxDays)
		if err != nil {
			return none, err
		}
		begin, end := slots.Bounds(r.Config.Zone, from, to)
		where.And("a.starts_at >= ? and a.starts_at < ?", begin, end)
	}
	if user := tx.Who.OwnUser(); user != 0 {
		where.And("a.user_id = ?", user)
	}
	if in.Staff != 0 {
		where.And("a.user_id = ?", in.Staff)
	}
	if in.Service != uuid.Nil {
		where.And("a.service_id = ?", in.Service)
	}
	if slices.Equal(in.Status, []string{StatusPending}) {
		where.And("a.status = 'pending'") // what the index of requests is for
	} else if len(in.Status) > 0 {
		where.And("a.status = any(?)", in.Status)
	}
	if in.Contact != uuid.Nil {
		where.And("a.contact_id = ?", in.Contact)
	}
	if words := strings.Fields(in.Search); len(words) > 0 {
		where.And("(" + named(&where, "a.booked_for", words) + " or a.contact_id in (select id from contact where " +
			named(&where, "concat_ws(' ', first_name, last_name, email, phone)", words) + "))")
	}
	if in.Source != "" {
		where.And("a.source = ?", in.Source)
	}
	if in.Conflict {
		where.And("a.ends_at > ? and a.starts_at > ? and "+OverExternal, tx.Now, tx.Now.Add(-longest))
	}
	by := byStart
	if !in.UpdatedSince.IsZero() {
		by = byUpdate
		if c.First {
			if c.Until, err = tx.ChangesUntil(ctx, "appointment"); err != nil {
				return none, err
			}
		}
		where.And("a.updated_at >= ? and a.updated_at <= ?", in.UpdatedSince, c.Until)
	}
	if c.First {
		if c.Total, err = in.total(ctx, tx, &where); err != nil {
			return none, fmt.Errorf("count appointments: %w", err)
		}
	} else {
		where.And(by.behind, c.At, c.At, c.ID)
	}
	rows, err := r.Query(ctx, tx, "where "+where.String()+db.LimitTo(by.order, c.Limit), where.Args...)
	if err != nil {
		return none, err
	}
	items := make([]Appointment, len(rows))
	for i, a := range rows {
		if in.Whole {
			items[i] = a.Whole()
		} else {
			items[i] = a.Rest()
		}
	}
	return db.Close(c, items, by.at), nil
}

// named is the condition that a text has all words, without regard to case and accents.
func named(where *db.Where, text string, words []string) string {
	var all []string
	for _, word := range words {
		all = append(all, where.Bind("fold("+text+") like fold(?)", db.LikeWord(word)))
	}
	return strings.Join(all, " and ")
}

// sorting is an order of lists of appointments: what stands behind the last one of a page, which the order has at.
type sorting struct {
	order, behind string
	at            func(Appointment) (time.Time, uuid.UUID)
}

var (
	byStart = sorting{" order by a.starts_at, a.id", "a.starts_at >= ? and (a.starts_at > ? or a.id > ?)",
		func(a Appointment) (time.Time, uuid.UUID) { return a.StartsAt, a.ID }}
	byUpdate = sorting{" order by a.updated_at, a.id", "a.updated_at >= ? and (a.updated_at > ? or a.id > ?)",
		func(a Appointment) (time.Time, uuid.UUID) { return a.UpdatedAt, a.ID }}
)

// bookingStatistics counts the appointments that the caller may see, by the week in which they start.
type bookingStatistics struct {
	Weeks []bookingWeek `json:"weeks" doc:"The oldest first."`
}

// bookingWeek is one week's appointments.
type bookingWeek struct {
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

func (r *Room) statistics(ctx context.Context, tx *db.Tx, in findStatistics) (bookingStatistics, error) {
	var w db.Where
	weeks := in.In(&w, r.Config.Timezone, tx.Now)
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
		return bookingStatistics{}, fmt.Errorf("count appointments by week: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[bookingWeek])
	return bookingStatistics{all}, err
}
