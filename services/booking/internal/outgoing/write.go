package outgoing

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/caldav"
	"frontdesk/services/booking/internal/calendars"
)

const (
	// answerWithin bounds one answer of a server, entryWithin all that is asked for one entry. A claim is held for longer than that, from the begin of each.
	answerWithin, entryWithin, held = 10 * time.Second, 30 * time.Second, 45 * time.Second
	// slice is how long an account is written to at once.
	slice = 30 * time.Second
	// again is how long an entry waits that could not be written; it doubles with each try, up to longest.
	again, longest = 20 * time.Second, time.Hour
	// endedFor is how long it is tried to remove events with the account of a calendar that is not to have any.
	endedFor = 7 * 24 * time.Hour
)

// account is where events are written.
type account struct {
	ID         uuid.UUID
	UserID     int64
	URL        []byte // sealed
	Username   string
	Password   []byte // sealed; nil for none
	Collection string
	EndedAt    *time.Time
	Holder     *uuid.UUID
}

const columns = `id, user_id, url, username, password, collection, ended_at, holder`

func accounts(ctx context.Context, tx *db.Tx, query string, args ...any) ([]account, error) {
	return db.Rows[account](ctx, tx, query, args...)
}

// entry is an appointment in a calendar.
type entry struct {
	AppointmentID uuid.UUID
	Collection    string
	ETag          string
	Revision      int64
	Tries         int
	// Counts says that it is the calendar in which the person has appointments, Shared that the appointment belongs in that calendar for another account,
	// and Over that it has taken place.
	Counts, Shared, Over bool
}

// writeNext writes what waits longest, with what waits for the same account, and reports whether there was any.
func (r *Room) writeNext(ctx context.Context) (bool, error) {
	if !r.Apps.On(r.Service) {
		return false, nil
	}
	var found []account
	err := r.DB.Do(ctx, func(tx *db.Tx) (err error) {
		found, err = accounts(ctx, tx, `update outgoing_account set holder = $1, held_until = clock_timestamp() + $2::interval where id = (select a.id from outgoing_account a
			where (a.held_until is null or a.held_until < clock_timestamp()) and (exists (select from outgoing o where o.account_id = a.id and o.due_at <= clock_timestamp())
				or a.ended_at is not null and not exists (select from outgoing o where o.account_id = a.id and o.queued_at is not null) or a.ended_at < clock_timestamp() - $3::interval)
			order by (select min(o.due_at) from outgoing o where o.account_id = a.id) limit 1 for update of a skip locked) returning `+columns, db.NewID(), held, endedFor)
		return err
	})
	if err != nil || len(found) == 0 {
		return false, err
	}
	err = r.writeTo(ctx, found[0])
	return true, errors.Join(err, r.release(context.WithoutCancel(ctx), found[0]))
}

// release ends a claim. An account that is not to have events any more goes with the last of them.
func (r *Room) release(ctx context.Context, a account) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `delete from outgoing_account a where id = $1 and holder = $2 and ended_at is not null
			and (ended_at < clock_timestamp() - $3::interval or not exists (select from outgoing o where o.account_id = a.id and o.queued_at is not null))`, a.ID, a.Holder, endedFor); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `update outgoing_account set holder = null, held_until = null where id = $1 and holder = $2`, a.ID, a.Holder)
		return err
	})
}

// writeTo writes what waits for a claimed account. If its server cannot be reached or refuses to sign in, all of it waits.
func (r *Room) writeTo(ctx context.Context, a account) error {
	url, err := r.Keys.Open(calendars.PurposeOf(a.ID.String()), a.URL)
	if err != nil {
		return r.wait(ctx, a, entry{}, 0, "the keys of this service do not open the address")
	}
	var password []byte
	if a.Password != nil {
		if password, err = r.Keys.Open(calendars.PurposeOf(a.ID.String()), a.Password); err != nil {
			return r.wait(ctx, a, entry{}, 0, "the keys of this service do not open the password")
		}
	}
	client := caldav.New(r.client, caldav.Account{Address: string(url), Username: a.Username, Password: string(password)})
	for until := time.Now().Add(slice); time.Now().Before(until) && ctx.Err() == nil; {
		e, wanted, ok, err := r.next(ctx, a)
		if err != nil || !ok {
			return err
		}
		tag, stands, err := r.write(ctx, client, e, wanted)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && stands == asWanted:
			err = r.done(ctx, a, e, tag, wanted != nil)
		case err == nil:
			err = r.learn(ctx, a, e, tag)
		case errors.Is(err, caldav.ErrForbidden), errors.Is(err, caldav.ErrMissing), errors.Is(err, caldav.ErrChanged):
			outcomes.Add(ctx, "failed", 1)
			err = r.wait(ctx, a, e, 0, err.Error())
		default:
			outcomes.Add(ctx, "failed", 1)
			return r.wait(ctx, a, entry{Tries: e.Tries}, caldav.Later(err), err.Error())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next is the entry of a claimed account that is due first, and the event that is to stand there; nil for none. ok is false if no entry is due, or the claim
// has ended.
func (r *Room) next(ctx context.Context, a account) (e entry, wanted []byte, ok bool, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		e, wanted, ok = entry{}, nil, false
		claim, err := tx.Exec(ctx, `update outgoing_account set held_until = clock_timestamp() + $3::interval where id = $1 and holder = $2 and held_until > clock_timestamp()`, a.ID, a.Holder, held)
		if err != nil || claim.RowsAffected() == 0 {
			return err
		}
		e, err = db.One[entry](ctx, tx, `select o.appointment_id, o.collection, o.etag, o.revision, o.tries,
			coalesce((o.account_id, o.collection) = (select f.id, f.collection from outgoing_account f where f.user_id = p.user_id and f.collection <> '' order by f.created_at, f.id limit 1), false) as counts,
			exists (select from outgoing s join outgoing_account f on f.id = s.account_id and f.collection = s.collection
				where s.appointment_id = o.appointment_id and s.account_id <> o.account_id and s.collection = o.collection and f.user_id = p.user_id) as shared,
			coalesce(p.ends_at < clock_timestamp() and p.status in ('confirmed', 'completed', 'no_show'), false) as over
			from outgoing o left join appointment p on p.id = o.appointment_id where o.account_id = $1 and o.due_at <= clock_timestamp() order by o.due_at limit 1`, a.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if ok = err == nil; err != nil || !e.Counts {
			return err
		}
		found, err := r.appointments.Query(ctx, tx, `where a.id = $1 and a.status in ('confirmed', 'completed', 'no_show')`, e.AppointmentID)
		if err != nil || len(found) == 0 {
			return err
		}
		wanted, err = r.feed.Event(found[0])
		return err
	})
	return e, wanted, ok, err
}

// outcome is what became of an entry.
type outcome bool

const (
	asWanted outcome = true
	// changed says that somebody else has changed the event. The next try is made over their version, of the appointment as it is then.
	changed outcome = false
)

// write brings a calendar to what is wanted of an entry. It returns the ETag of what is there then, which is empty for nothing and if it is not known.
// The error is one of the server or the network.
func (r *Room) write(ctx context.Context, client *caldav.Client, e entry, wanted []byte) (string, outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, entryWithin)
	defer cancel()
	uid := appointments.UIDOf(e.AppointmentID)
	var tag string
	var err error
	switch {
	case wanted != nil:
		outcomes.Add(ctx, "written", 1)
		tag, err = client.Put(ctx, e.Collection, uid, e.ETag, wanted)
	case e.Shared || e.Over:
		return "", asWanted, nil // it stays
	case e.ETag == "":
		// A writer that was stopped may have written it.
		tag, err = client.ETag(ctx, e.Collection, uid)
		return tag, outcome(tag == ""), err
	default:
		outcomes.Add(ctx, "removed", 1)
		tag, err = "", client.Delete(ctx, e.Collection, uid, e.ETag)
	}
	if !errors.Is(err, caldav.ErrChanged) {
		return tag, asWanted, err
	}
	if tag, err = client.ETag(ctx, e.Collection, uid); err == nil && tag == e.ETag {
		err = caldav.ErrChanged // the server refuses the version that it names itself
	}
	return tag, changed, err
}

// done notes what was written. If the appointment has changed meanwhile, the entry stays due.
func (r *Room) done(ctx context.Context, a account, e entry, tag string, stands bool) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		args := db.Args{"appointment": e.AppointmentID, "account": a.ID, "holder": a.Holder, "collection": e.Collection, "tag": tag, "revision": e.Revision, "now": tx.Now}
		const claimed = ` where appointment_id = @appointment and account_id = @account and collection = @collection
			and exists (select from outgoing_account where id = @account and holder = @holder and held_until > clock_timestamp())`
		if !stands {
			gone, err := tx.Exec(ctx, `delete from outgoing`+claimed+` and revision = @revision`, args)
			if err != nil || gone.RowsAffected() > 0 {
				return err
			}
		}
		_, err := tx.Exec(ctx, `update outgoing set etag = @tag, tries = 0, written_at = @now, deleted_at = null, queued_at = case when revision <> @revision then queued_at end, due_at = case when revision <> @revision then due_at end`+claimed, args)
		return err
	})
}

// Gone notes which events somebody has deleted in a calendar, as it was read at a moment: of those written before, these whose keys are gone. The
// appointments stand, and their next change puts the events back. Calendars are read for 400 days.
func Gone(ctx context.Context, tx *db.Tx, id uuid.UUID, collection string, gone func(key string) bool, readAt time.Time) error {
	written, err := db.Column[uuid.UUID](ctx, tx, `select o.appointment_id from outgoing o join appointment p on p.id = o.appointment_id where o.account_id = $1 and o.collection = $2
		and o.queued_at is null and o.deleted_at is null and coalesce(o.written_at < $3, true) and p.status = 'confirmed' and p.ends_at between $3 and $3 + interval '399 days'`, id, collection, readAt)
	if err != nil {
		return err
	}
	deleted := slices.DeleteFunc(written, func(appointment uuid.UUID) bool {
		key, err := caldav.Key(collection, appointments.UIDOf(appointment))
		return err != nil || !gone(key)
	})
	_, err = tx.Exec(ctx, `update outgoing set deleted_at = $4 where account_id = $1 and collection = $2 and appointment_id = any($3)`, id, collection, deleted, tx.Now)
	return err
}

// learn notes which version of an event a calendar has. The entry stays due.
func (r *Room) learn(ctx context.Context, a account, e entry, tag string) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `update outgoing set etag = $4 where appointment_id = $1 and account_id = $2 and collection = $3
			and exists (select from outgoing_account where id = $2 and holder = $5 and held_until > clock_timestamp())`, e.AppointmentID, a.ID, e.Collection, tag, a.Holder)
		return err
	})
}

// wait puts an entry off, at least as long as the server asks for, up to longest; all that are due of the account if it names no appointment.
func (r *Room) wait(ctx context.Context, a account, e entry, asked time.Duration, why string) error {
	slog.WarnContext(ctx, "an appointment cannot be written into a calendar", "calendar", a.ID, "error", why)
	next := min(max(again<<min(e.Tries, 10), asked), longest)
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `update outgoing set tries = tries + 1, due_at = clock_timestamp() + $4::interval where (appointment_id, account_id, collection) in
			(select appointment_id, account_id, collection from outgoing where account_id = $1 and due_at <= clock_timestamp() and ($2 or appointment_id = $3) order by appointment_id for update)`,
			a.ID, e.AppointmentID == uuid.Nil, e.AppointmentID, next)
		return err
	})
}

var outcomes = app.NewOutcomes("booking.outgoing_writes", "{write}", "events in calendars of other programs, by outcome: written, removed or failed")
