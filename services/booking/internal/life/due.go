package life

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/mails"
	"frontdesk/services/booking/internal/services"
)

// eachDue runs do for every appointment that is due, the earliest first, each in a transaction of its own, and stops while
// the app is off. from is the part of a query that selects the appointments a that are due at a time, given in SQL. do must end that the
// appointment is due. The condition is checked again under the appointment's lock, so a change of this moment counts and a
// second replica finds nothing to do. An appointment that do fails on goes aside.
func (r *Room) eachDue(ctx context.Context, aside *app.Aside[uuid.UUID], from func(at string) string, do func(ctx context.Context, tx *db.Tx, a appointments.Record) error) error {
	for ctx.Err() == nil && r.Apps.On(r.Service) {
		var due []uuid.UUID
		err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
			due, err = db.Column[uuid.UUID](ctx, tx, `select a.id `+from("$1::timestamptz")+` and a.id <> all($2) order by a.starts_at, a.id limit 100`, tx.Now, aside.Keys())
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		for _, id := range due {
			if _, err := aside.Did(ctx, []uuid.UUID{id}, r.ifDue(ctx, from, id, do)); err != nil {
				return fmt.Errorf("appointment %s: %w", id, err)
			}
		}
	}
	return ctx.Err()
}

func (r *Room) ifDue(ctx context.Context, from func(at string) string, id uuid.UUID, do func(ctx context.Context, tx *db.Tx, a appointments.Record) error) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		if !r.Apps.On(r.Service) {
			return nil
		}
		a, err := r.appointments.Lock(ctx, tx, id)
		if isGone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		var still bool
		if err := tx.QueryRow(ctx, `select exists (select `+from("$1::timestamptz")+` and a.id = $2)`, tx.Now, id).Scan(&still); err != nil || !still {
			return err
		}
		return do(ctx, tx, a)
	})
}

// isGone reports whether err says that a record is not there.
func isGone(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return errors.Is(err, pgx.ErrNoRows) || ok && f.Status == 404
}

// dueReminders are the appointments a that have a reminder due at a time: its moment has come since their time was last set, and since they
// were last reminded.
func dueReminders(at string) string {
	return `from appointment a, settings s where a.status = 'confirmed' and s.reminder_enabled and a.starts_at > ` + at + `
		and a.starts_at <= ` + at + ` + interval '168 hours' and exists (select from unnest(array[s.reminder_hours] || s.later_reminders) h
			where a.starts_at - make_interval(hours => h) <= ` + at + ` and greatest(a.timed_at, a.reminded_at) < a.starts_at - make_interval(hours => h))`
}

// remind mails and publishes the reminders that are due, each once for an appointment that is still confirmed. Of several that are due by now
// the last one goes out. An appointment that was booked or moved when a reminder would have been due already does not get that one.
func (r *Room) remind(ctx context.Context) error {
	return r.eachDue(ctx, r.unreminded, dueReminders,
		func(ctx context.Context, tx *db.Tx, a appointments.Record) error {
			if err := appointments.Reminded(ctx, tx, a.ID); err != nil {
				return err
			}
			settings, err := services.ReadSettings(ctx, tx)
			if err != nil {
				return err
			}
			now, err := services.Get(ctx, tx, op.ByID{ID: a.ServiceID})
			if err != nil {
				return err
			}
			a.Terms.MailText = now.MailText
			if err := tx.Emit(ctx, a.Change(proto.KindAppointmentReminderDue, map[string]any{"hours": dueNow(a, settings.Reminders, tx.Now)})); err != nil {
				return err
			}
			return r.mails.Notify(ctx, tx, a, mails.Reminder, settings)
		})
}

// dueNow is the hours of the last reminder that is due.
func dueNow(a appointments.Record, all []services.Reminder, now time.Time) (hours int) {
	for _, one := range all {
		if at := a.StartsAt.Add(-time.Duration(one.Hours) * time.Hour); !at.After(now) && a.TimedAt.Before(at) {
			hours = one.Hours
		}
	}
	return hours
}

// dueRequests are the requests a that have waited too long at a time; none if the setting is 0.
func dueRequests(at string) string {
	return `from appointment a, settings s where a.status = 'pending' and s.request_expires_hours > 0
		and greatest(a.timed_at, s.expires_since) <= ` + at + ` - make_interval(hours => s.request_expires_hours)`
}

// expireRequests declines the requests that nobody has answered within the hours that the settings give, counted from when
// their time or the setting was last set, and mails their clients. It does nothing if the setting is 0.
func (r *Room) expireRequests(ctx context.Context) error {
	return r.eachDue(ctx, r.unexpired, dueRequests, r.expireRequest)
}

func (r *Room) expireRequest(ctx context.Context, tx *db.Tx, a appointments.Record) error {
	_, err := r.Become(ctx, tx, a, appointments.StatusDeclined, "Nobody answered the request in time.", appointments.StatusPending)
	return err
}

// restored marks the reminders of a backup that are due by now as sent, because they may have been since, and declines the
// requests whose time is over without telling anybody again.
func (r *Room) restored(ctx context.Context) (did []string, err error) {
	if !r.Apps.On(r.Service) {
		return nil, nil
	}
	var reminders, requests []uuid.UUID
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		tx.History = true
		if reminders, err = db.Column[uuid.UUID](ctx, tx, `select a.id `+dueReminders("$1::timestamptz"), tx.Now); err != nil {
			return fmt.Errorf("find the reminders that are due: %w", err)
		}
		if err := appointments.Reminded(ctx, tx, reminders...); err != nil {
			return fmt.Errorf("mark the reminders that are due: %w", err)
		}
		if requests, err = db.Column[uuid.UUID](ctx, tx, `select a.id `+dueRequests("$1::timestamptz")+` order by a.id`, tx.Now); err != nil {
			return fmt.Errorf("find the requests that are due: %w", err)
		}
		waiting, err := db.Column[uuid.UUID](ctx, tx, `select a.id `+waitingRequests("$1::timestamptz"), tx.Now)
		if err != nil {
			return fmt.Errorf("find the requests that wait: %w", err)
		}
		if err := appointments.WaitingTold(ctx, tx, waiting...); err != nil {
			return fmt.Errorf("mark the requests that wait: %w", err)
		}
		for _, id := range requests {
			a, err := r.appointments.Lock(ctx, tx, id)
			if err != nil {
				return err
			}
			if err := r.expireRequest(ctx, tx, a); err != nil {
				return fmt.Errorf("decline the request %s: %w", id, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := len(reminders); n > 0 {
		did = append(did, fmt.Sprintf("%d reminders that are due are not sent, because they may have been sent since the backup", n))
	}
	if n := len(requests); n > 0 {
		did = append(did, fmt.Sprintf("%d requests that nobody answered in time are declined without a mail, because they may have been declined since the backup", n))
	}
	return did, nil
}
