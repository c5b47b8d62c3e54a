package feed

import (
	"cmp"
	"context"
	"embed"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/ics"
	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/slots"
)

//go:embed text/*.json
var texts embed.FS

// readers gives the words of feeds in a language.
var readers = web.Readers(texts)

const (
	suffix = ".ics"
	// behind and ahead are the days around today that a feed shows.
	behind, ahead = 90, 400
	// cancelledFor is how long a feed says that an appointment is cancelled: a calendar that reads it less often may keep the event.
	cancelledFor = 30 * 24 * time.Hour
	// readEvery is how often a calendar is asked to read. Some read when they like, once a day or less.
	readEvery = 15 * time.Minute
)

type behindToken struct {
	Token string `json:"token" doc:"What stands behind /calendar-feeds/ in the address, with .ics."`
}

// read answers with the calendar behind a token. The error is svc_not_found for a token that is not known, and for one of who may no longer
// see appointments.
func (r *Room) read(ctx context.Context, d *db.DB, in behindToken) ([]byte, error) {
	gone := fault.NotFound("calendar")
	token, ok := strings.CutSuffix(in.Token, suffix)
	if !ok {
		return nil, gone
	}
	hash := hashOf(token)
	var user int64
	err := d.Read(ctx, func(tx *db.Tx) error {
		err := tx.QueryRow(ctx, `select user_id from calendar_feed where hash = $1`, hash).Scan(&user)
		if errors.Is(err, pgx.ErrNoRows) {
			return gone
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !r.Identity.Rights(user)[auth.ViewContacts] {
		return nil, gone
	}
	wait, err := d.Allow(ctx, r.Config.RateFactor, db.Bucket{Key: "calendar-feed/" + hex.EncodeToString(hash), Limit: db.Limit{N: readsPerHour, Per: time.Hour}})
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return nil, fault.RateLimited(wait)
	}
	var file []byte
	err = d.Do(ctx, func(tx *db.Tx) error {
		tx.Relax() // of the two, the answer matters
		var details string
		err := tx.QueryRow(ctx, `update calendar_feed set last_read_at = $2 where hash = $1 returning details`, hash, tx.Now).Scan(&details)
		if errors.Is(err, pgx.ErrNoRows) {
			return gone // ended meanwhile
		}
		if err != nil {
			return err
		}
		shown, err := r.shown(ctx, tx, user)
		if err != nil {
			return err
		}
		file, err = r.calendar(shown, details)
		return err
	})
	return file, err
}

// shown are the appointments of a person in the days of the feed, by start.
func (r *Room) shown(ctx context.Context, tx *db.Tx, user int64) ([]appointments.Record, error) {
	today := slots.DayOf(tx.Now, r.Config.Zone)
	from, to := slots.Bounds(r.Config.Zone, today-behind, today+ahead)
	return r.appointments.Query(ctx, tx, `where a.user_id = $1 and a.starts_at >= $2 and a.starts_at < $3 and a.status <> 'declined'
		and (a.status <> 'cancelled' or a.updated_at > $4) order by a.starts_at, a.id`, user, from, to, tx.Now.Add(-cancelledFor))
}

func (r *Room) calendar(shown []appointments.Record, details string) ([]byte, error) {
	site := r.services.General()
	t := readers(lang.OfCountry(site.Country), site.Country, r.Config.Zone)
	f := ics.Feed{Name: site.Business.Name, Every: readEvery, Events: make([]ics.FeedEvent, len(shown))}
	for i, a := range shown {
		f.Events[i] = event(t, a, details)
	}
	return f.File()
}

func event(t *web.Reader, a appointments.Record, details string) ics.FeedEvent {
	// The stamp of an event is when it last changed, not now: a calendar in which nothing changed is the same file.
	e := ics.FeedEvent{Event: ics.Event{UID: a.UID(), Sequence: a.Sequence, Stamp: a.UpdatedAt, Start: a.StartsAt, End: a.EndsAt, Summary: t.T("busy")}, Status: statusOf(a)}
	if details == full {
		e.Summary, e.Location = summary(a), place(t, a)
	}
	return e
}

// Event is the file of one appointment for a calendar server, with the details of a full feed.
func (r *Room) Event(a appointments.Record) ([]byte, error) {
	site := r.services.General()
	return event(readers(lang.OfCountry(site.Country), site.Country, r.Config.Zone), a, full).File()
}

func statusOf(a appointments.Record) ics.Status {
	switch a.Status {
	case appointments.StatusCancelled:
		return ics.Cancelled
	case appointments.StatusConfirmed, appointments.StatusCompleted, appointments.StatusNoShow:
		return ics.Confirmed
	}
	return ics.Tentative
}

// summary is the service and whom it is for. A name may have been typed by a stranger.
func summary(a appointments.Record) string {
	if name := mail.Unlinked(cmp.Or(a.BookedFor, a.Client.Name())); name != "" {
		return a.Terms.Name + " – " + name
	}
	return a.Terms.Name
}

// place is where it takes place, without numbers and links: whoever reads the address of the feed is not signed in.
func place(t *web.Reader, a appointments.Record) string {
	at := a.Shown()
	switch at.Kind {
	case "online", "phone":
		return t.T(at.Kind)
	}
	return mail.Unlinked(at.Location)
}
