package task

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
)

// taskQuery asks for a page of tasks.
type taskQuery struct {
	Owner        int64     `json:"owner,omitempty" minimum:"1" doc:"Tasks of this user."`
	Contact      uuid.UUID `json:"contact,omitzero" doc:"Tasks about this contact."`
	Organization uuid.UUID `json:"organization,omitzero" doc:"Tasks about this organization."`
	Done         string    `json:"done,omitempty" enum:"true,false" doc:"true for those that are done, false for open ones; both when left out."`
	DueFrom      string    `json:"due_from,omitempty" format:"date" doc:"Due on this local day or later."`
	DueTo        string    `json:"due_to,omitempty" format:"date" doc:"Due on this local day or earlier."`
	db.Page
}

// conditions narrows the tasks to those that q asks for and the actor may see. What is about a record in the trash waits there with it.
func (q taskQuery) conditions(tx *db.Tx, w *db.Where) {
	w.And("c.deleted_at is null and o.deleted_at is null")
	onlyOwn(tx, w)
	if q.Owner != 0 {
		w.And("t.owner_user_id = ?", q.Owner)
	}
	if q.Contact != uuid.Nil {
		w.And("t.contact_id = ?", q.Contact)
	}
	if q.Organization != uuid.Nil {
		w.And("t.organization_id = ?", q.Organization)
	}
	switch q.Done {
	case "true":
		w.And("t.done_at is not null")
	case "false":
		w.And("t.done_at is null")
	}
	if q.DueFrom != "" {
		w.And("t.due_on >= ?", q.DueFrom)
	}
	if q.DueTo != "" {
		w.And("t.due_on <= ?", q.DueTo)
	}
}

// findTasks lists tasks in the order of their places.
func (r *Room) findTasks(ctx context.Context, tx *db.Tx, in taskQuery) (db.List[Task], error) {
	page, err := tx.Page(in.Page, "tasks", in)
	if err != nil {
		return db.List[Task]{}, err
	}
	if page.First {
		if page.Total, err = in.count(ctx, tx); err != nil {
			return db.List[Task]{}, err
		}
	}
	tasks, err := in.read(ctx, tx, page)
	return db.Close(page, tasks, func(t Task) (time.Time, uuid.UUID) { return time.UnixMicro(t.Place), t.ID }), err
}

func (q taskQuery) count(ctx context.Context, tx *db.Tx) (n int64, err error) {
	var w db.Where
	q.conditions(tx, &w)
	err = tx.QueryRow(ctx, `select count(*)`+linked+` where `+w.String(), w.Args...).Scan(&n)
	return n, err
}

func (q taskQuery) read(ctx context.Context, tx *db.Tx, page *db.Cursor) ([]Task, error) {
	var w db.Where
	selected := from(tx.Who.OwnUser(), &w)
	q.conditions(tx, &w)
	if !page.First {
		w.And("(t.place, t.id) > (?, ?)", page.At.UnixMicro(), page.ID)
	}
	return db.Rows[Task](ctx, tx, selected+` where `+w.String()+db.LimitTo(` order by t.place, t.id`, page.Limit), w.Args...)
}

// OwnTasks is what somebody has to do.
type OwnTasks struct {
	Items   []Task `json:"items" doc:"The caller's open tasks, at most 10, the soonest first."`
	Total   int64  `json:"total" doc:"How many open tasks the caller has."`
	Overdue int64  `json:"overdue" doc:"Those of them that were due before today."`
}

// most is how many tasks it names.
const most = 10

// Mine sums up the actor's own open tasks; today is the local day.
func Mine(ctx context.Context, tx *db.Tx, today string) (s OwnTasks, err error) {
	mine := taskQuery{Owner: tx.Who.UserID, Done: "false"}
	if s.Items, err = mine.read(ctx, tx, &db.Cursor{First: true, Limit: most}); err != nil {
		return s, err
	}
	if s.Items == nil {
		s.Items = []Task{}
	}
	var w db.Where
	mine.conditions(tx, &w)
	err = tx.QueryRow(ctx, `select count(*), count(*) filter (where t.due_on < `+w.Bind("?", today)+`)`+linked+` where `+w.String(), w.Args...).Scan(&s.Total, &s.Overdue)
	return s, err
}

// Assigned counts the open tasks that somebody else gave the actor after since.
func Assigned(ctx context.Context, tx *db.Tx, since time.Time) (n int64, err error) {
	mine := taskQuery{Owner: tx.Who.UserID, Done: "false"}
	var w db.Where
	mine.conditions(tx, &w)
	w.And("t.assigned_at > ? and t.assigned_by is distinct from ?", since, tx.Who.UserID)
	err = tx.QueryRow(ctx, `select count(*)`+linked+` where `+w.String(), w.Args...).Scan(&n)
	return n, err
}
