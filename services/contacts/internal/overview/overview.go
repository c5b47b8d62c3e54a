package overview

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/task"
	"frontdesk/services/contacts/internal/timeline"
)

// overview is what a person sees first: today and the last seven days, of what they may see.
type overview struct {
	Today       today            `json:"today"`
	Requests    requests         `json:"requests"`
	NewContacts int64            `json:"new_contacts" doc:"Of the last 7 days."`
	Submissions int64            `json:"submissions" doc:"Of the last 7 days, without spam."`
	Tasks       task.OwnTasks    `json:"tasks"`
	Activity    []timeline.Entry `json:"activity" doc:"The 10 newest timeline entries of contacts."`
}

// today is the day's appointments that are not cancelled or declined.
type today struct {
	Items     []overviewAppointment `json:"items" doc:"The appointments of today."`
	Total     int64                 `json:"total" doc:"How many there are."`
	Remaining int64                 `json:"remaining" doc:"Those that are still to come."`
}

// requests are the appointments that wait for a confirmation.
type requests struct {
	Items []overviewAppointment `json:"items" doc:"The 5 soonest."`
	Total int64                 `json:"total" doc:"How many requests wait."`
}

// overviewAppointment is an appointment in short.
type overviewAppointment struct {
	ID       uuid.UUID                      `json:"id" doc:"The id of the record."`
	Status   string                         `json:"status" doc:"Its status."`
	Service  overviewService                `json:"service"`
	Staff    overviewStaff                  `json:"staff"`
	Contact  opt.Value[timeline.ContactRef] `json:"contact" doc:"The client; null if they are gone."`
	StartsAt time.Time                      `json:"starts_at" doc:"When it begins."`
	EndsAt   time.Time                      `json:"ends_at" doc:"When it ends."`
}

// overviewService names a service.
type overviewService struct {
	ID   *uuid.UUID `json:"id" nullable:"true" doc:"The id of the service; null if it is gone."`
	Name string     `json:"name" doc:"The name of the service."`
}

// overviewStaff names a member of the team.
type overviewStaff struct {
	UserID *int64 `json:"user_id" doc:"The user id of the person; null if they have left."`
	Name   string `json:"name" doc:"The name of the person."`
}

const week = 7 * 24 * time.Hour

// getOverview sums up what concerns the actor now.
func (r *Room) getOverview(ctx context.Context, tx *db.Tx, _ op.None) (overview, error) {
	o := overview{Today: today{Items: []overviewAppointment{}}, Requests: requests{Items: []overviewAppointment{}}, Activity: []timeline.Entry{}}
	if r.Apps.On("booking") {
		if err := r.appointments(ctx, tx, &o); err != nil {
			return o, err
		}
	}
	var w db.Where
	w.And("c.deleted_at is null and c.created_at >= ?", tx.Now.Add(-week))
	contact.OnlyOwn(&w, tx)
	if err := tx.QueryRow(ctx, `select count(*) from contact c where `+w.String(), w.Args...).Scan(&o.NewContacts); err != nil {
		return o, err
	}
	if r.Apps.On("forms") {
		var w db.Where
		w.And("s.status = 'received' and s.created_at >= ?", tx.Now.Add(-week))
		if tx.Who.Own {
			w.And("s.contact_id in (select c.id from contact c where c.owner_user_id = ? and c.deleted_at is null)", tx.Who.UserID)
		}
		if err := tx.QueryRow(ctx, `select count(*) from submission s where `+w.String(), w.Args...).Scan(&o.Submissions); err != nil {
			return o, err
		}
	}
	var err error
	if o.Tasks, err = task.Mine(ctx, tx, tx.Now.In(r.Config.Zone).Format(time.DateOnly)); err != nil {
		return o, err
	}
	err = activity(ctx, tx, &o)
	return o, err
}

func (r *Room) appointments(ctx context.Context, tx *db.Tx, o *overview) error {
	zone := r.Config.Zone
	now := tx.Now.In(zone)
	from := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone)
	to := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, zone)
	var today db.Where
	today.And("a.status not in ('cancelled', 'declined') and a.starts_at >= ? and a.starts_at < ?", from, to)
	var err error
	if o.Today.Items, err = listAppointments(ctx, tx, today, 0); err != nil {
		return err
	}
	o.Today.Total = int64(len(o.Today.Items))
	for _, a := range o.Today.Items {
		if a.StartsAt.After(tx.Now) {
			o.Today.Remaining++
		}
	}
	var requests db.Where
	requests.And("a.status = 'pending'")
	if o.Requests.Items, err = listAppointments(ctx, tx, requests, 5); err != nil {
		return err
	}
	ownAppointments(tx, &requests)
	return tx.QueryRow(ctx, `select count(*) from appointment a where `+requests.String(), requests.Args...).Scan(&o.Requests.Total)
}

func ownAppointments(tx *db.Tx, w *db.Where) {
	if tx.Who.Own {
		w.And("a.staff_id = ?", tx.Who.UserID)
	}
}

// listAppointments reads appointments by start; most is 0 for all.
func listAppointments(ctx context.Context, tx *db.Tx, w db.Where, most int) ([]overviewAppointment, error) {
	ownAppointments(tx, &w)
	query := `select a.id, a.status, a.service_id, a.service_name, a.staff_id, a.staff_name, a.starts_at, a.ends_at,
		c.id as contact_id, c.first_name, c.last_name, c.email, c.phone
		from appointment a left join contact c on c.id = a.contact_id where ` + w.String() + ` order by a.starts_at, a.id`
	if most > 0 {
		query += db.LimitTo(``, most)
	}
	rows, err := tx.Query(ctx, query, w.Args...)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanAppointment)
	if list == nil {
		list = []overviewAppointment{}
	}
	return list, err
}

type appointmentRow struct {
	ID                                uuid.UUID
	Status                            string
	ServiceID                         *uuid.UUID
	ServiceName                       string
	StaffID                           *int64
	StaffName                         string
	StartsAt, EndsAt                  time.Time
	ContactID                         *uuid.UUID
	FirstName, LastName, Email, Phone *string
}

func scanAppointment(row pgx.CollectableRow) (overviewAppointment, error) {
	r, err := pgx.RowToStructByName[appointmentRow](row)
	a := overviewAppointment{ID: r.ID, Status: r.Status, Service: overviewService{r.ServiceID, r.ServiceName}, Staff: overviewStaff{r.StaffID, r.StaffName},
		StartsAt: r.StartsAt, EndsAt: r.EndsAt}
	if r.ContactID != nil {
		a.Contact = opt.Of(timeline.ContactRef{ID: *r.ContactID, Name: person.DisplayName(*r.FirstName, *r.LastName, *r.Email, *r.Phone)})
	}
	return a, err
}

// activity reads the ten newest entries. With own visibility they are those of the ten contacts where
// something happened last, so that nobody else's entries are read.
func activity(ctx context.Context, tx *db.Tx, o *overview) error {
	query := `select ` + timeline.Columns + timeline.Pinned + ` from activity a join contact c on c.id = a.contact_id
		where a.contact_id is not null and c.deleted_at is null order by a.created_at desc, a.id desc limit 10`
	var args []any
	if tx.Who.Own {
		query = `select ` + timeline.Columns + timeline.Pinned + ` from (select * from contact where owner_user_id = $1 and deleted_at is null order by last_activity desc nulls last, id desc limit 10) c
			cross join lateral (select * from activity a where a.contact_id = c.id order by a.created_at desc, a.id desc limit 10) a
			order by a.created_at desc, a.id desc limit 10`
		args = append(args, tx.Who.UserID)
	}
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	entries, err := pgx.CollectRows(rows, timeline.Scan)
	o.Activity = append(o.Activity, entries...)
	return err
}
