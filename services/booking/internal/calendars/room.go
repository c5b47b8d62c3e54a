package calendars

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/staff"
)

// Room keeps the calendars, and reads them.
type Room struct {
	*app.Kit
	staff  *staff.Room
	gone   Gone
	client *http.Client
}

// Gone notes which appointments that were written into a calendar of a server are deleted there, as it was read at a moment.
type Gone func(ctx context.Context, tx *db.Tx, calendar uuid.UUID, collection string, gone func(key string) bool, readAt time.Time) error

func New(k *app.Kit, staff *staff.Room, gone Gone) *Room {
	r := &Room{Kit: k, staff: staff, gone: gone}
	r.client = fetch.Client(r.fetch())
	return r
}

// readers is how many calendars a replica reads at the same time: one that is slow keeps others waiting.
const readers = 4

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Personal: app.Personal{Holds: map[string]app.Holds{"external_calendar": app.People, "external_time": app.Nobody, "external_month": app.Nobody, "external_object": app.Nobody}, Forget: r.forget},
		Sealed:   []app.Sealed{{Table: "external_calendar", Column: "url", Purpose: PurposeOf}, {Table: "external_calendar", Column: "password", Purpose: PurposeOf}},
		Gauges: []app.Gauge{
			{Name: "booking.external_calendars", Unit: "{calendar}", Doc: "calendars of other programs that people have connected, by state", Label: "state",
				SQL: `select s.state, count(c.id) from unnest(array['new', 'ok', 'failing', 'off']) s(state) left join external_calendar c using (state) group by s.state`},
			{Name: "booking.external_calendars_late", Unit: "s", Doc: "how long the calendar that waits longest should have been read already",
				SQL: `select greatest(coalesce(extract(epoch from clock_timestamp() - min(due_at)), 0), 0) from external_calendar`, On: func() bool { return r.Apps.On(r.Service) }},
		},
		Workers: []app.Worker{{Name: "external-calendars", AtOnce: readers, Pause: 5 * time.Second, Slice: r.syncNext}},
	}
}

// Connected declares the operations on the calendars that somebody has connected.
func (r *Room) Connected(set *op.Set) {
	noPerson, noCalendar := "There is no such person.", "There is no such person or calendar."
	op.Add(set, op.Op{ID: "list-external-calendars", Route: "GET /staff/{user}/calendars", Perm: auth.ViewContacts, App: r.Service, Record: "external_calendar",
		Doc:   "List the calendars of other programs that take a person's time, and how reading them last went.",
		Use:   "Use it when somebody's times are free, or are not, though their own calendar says otherwise. last_error says what is wrong. Which times they take is in get-calendar.",
		Fails: op.Fails{"svc_not_found": noPerson}}, r.list)
	op.Add(set, op.Op{ID: "add-external-calendar", Undo: op.Undo{Never: op.Elsewhere}, Ability: "-", Route: "POST /staff/{user}/calendars", Perm: auth.ViewContacts, App: r.Service, Status: 201, Record: "external_calendar", Unaudited: true,
		Doc:   "Add a calendar of another program, whose events take the person's time. It is read within a minute.",
		Fails: op.Fails{"svc_not_found": noPerson, "svc_conflict too_many": "The person has as many as there may be."}}, r.add)
	op.Add(set, op.Op{ID: "update-external-calendar", Undo: op.Undo{Never: op.Elsewhere}, Ability: "-", Versioned: true, Route: "PATCH /staff/{user}/calendars/{id}", Perm: auth.ViewContacts, App: r.Service, Record: "external_calendar",
		Doc:   "Change a calendar of another program. One with another address or sign-in is read anew.",
		Fails: op.Fails{"svc_not_found": noCalendar}}, r.update)
	op.Add(set, op.Op{ID: "remove-external-calendar", Undo: op.Undo{Never: op.Elsewhere}, Ability: "-", Versioned: true, Route: "DELETE /staff/{user}/calendars/{id}", Perm: auth.ViewContacts, App: r.Service, Record: "external_calendar",
		Doc:   "Remove a calendar of another program; its events take no time from now on.",
		Fails: op.Fails{"svc_not_found": noCalendar}}, r.remove)
	op.AddOutside(set, op.Op{ID: "get-external-calendar-choices", Ability: "-", Route: "GET /staff/{user}/calendars/{id}/choices", Perm: auth.ViewContacts, App: r.Service,
		Doc:   "Get the calendars of an account on a calendar server, from that server; those for events only.",
		Fails: op.Fails{"svc_not_found": noCalendar, "svc_conflict one_only": "It is a file at an address.", "svc_conflict unreachable": "The server cannot be asked, or refuses; the message says why."}}, r.choices)
	op.AddOutside(set, op.Op{ID: "sync-external-calendar", Undo: op.Undo{Never: op.NothingStays}, Route: "POST /staff/{user}/calendars/{id}/sync", Perm: auth.ViewContacts, App: r.Service, Also: http.StatusAccepted, Record: "external_calendar",
		Outside: true, Doc: "Read a calendar of another program now, once a minute at most. 202 says that it takes longer than ten seconds and goes on.",
		Use:   "Calendars are read every five minutes by themselves; use it after somebody has changed theirs. Answers with the calendar: state failing and last_error say why it could not be read.",
		Fails: op.Fails{"svc_not_found": noCalendar}}, r.sync)
}
