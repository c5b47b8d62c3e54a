package outgoing

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fetch"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/caldav"
	"frontdesk/services/booking/internal/calendars"
	"frontdesk/services/booking/internal/feed"
)

// Room writes appointments into calendars.
type Room struct {
	*app.Kit
	appointments *appointments.Room
	feed         *feed.Room
	client       *http.Client
}

func New(k *app.Kit, appointments *appointments.Room, feed *feed.Room) *Room {
	return &Room{k, appointments, feed, fetch.Client(fetch.Options{Allow: k.Config.Receivers, Timeout: answerWithin, Keep: caldav.MaxBytes + 1})}
}

// writers is how many accounts a replica writes to at the same time: a server that is slow keeps others waiting.
const writers = 2

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Personal: app.Personal{Holds: map[string]app.Holds{"outgoing_account": app.People, "outgoing": app.Nobody}, Forget: r.forget},
		Sealed: []app.Sealed{{Table: "outgoing_account", Column: "url", Purpose: calendars.PurposeOf},
			{Table: "outgoing_account", Column: "password", Purpose: calendars.PurposeOf}},
		Restored: r.restored,
		Gauges: []app.Gauge{
			{Name: "booking.outgoing_events", Unit: "{event}", Doc: "appointments that wait to be written into calendars of other programs, or to be removed there",
				SQL: `select count(*) from outgoing where queued_at is not null`},
			{Name: "booking.outgoing_oldest", Unit: "s", Doc: "how long the one that waits longest has waited",
				SQL: `select greatest(coalesce(extract(epoch from clock_timestamp() - min(queued_at)), 0), 0) from outgoing where queued_at is not null`, On: func() bool { return r.Apps.On(r.Service) }},
		},
		Workers: []app.Worker{{Name: "outgoing", AtOnce: writers, Pause: 2 * time.Second, Slice: r.writeNext}},
	}
}

// restored has each event that is to come compared with its appointment: what was written since the backup stands in the calendar still, as another
// version than the one that is known here, and is written over. An event whose appointment is lost stays there.
func (r *Room) restored(ctx context.Context) ([]string, error) {
	var compared int64
	err := r.DB.Do(ctx, func(tx *db.Tx) error {
		done, err := tx.Exec(ctx, `update outgoing o set revision = o.revision + 1, tries = 0, queued_at = coalesce(o.queued_at, clock_timestamp()), due_at = clock_timestamp()
			from appointment p where p.id = o.appointment_id and p.ends_at > clock_timestamp()`)
		compared = done.RowsAffected()
		return err
	})
	if err != nil || compared == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("%d events in calendars of other programs are compared with their appointments", compared)}, nil
}

// forget removes the accounts by which a person signs in, and those of the member whose address it is. What was written stays there.
func (r *Room) forget(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	all, err := accounts(ctx, tx, `select `+columns+` from outgoing_account where created_at < $1 order by id for update`, p.At)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		member, _ := r.Identity.User(a.UserID)
		if !p.HasAddress(a.Username) && !p.HasAddress(member.GetEmail()) {
			continue
		}
		if _, err := tx.Exec(ctx, `delete from outgoing_account where id = $1`, a.ID); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
