package calendars

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/busy"
	"frontdesk/services/booking/internal/caldav"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/times"
)

const (
	// every is how long a calendar that was read waits for the next time. One that fails waits as long as it has been failing, longest at most, and
	// is switched off after givenUp.
	every, longest, givenUp = 5 * time.Minute, 6 * time.Hour, 7 * 24 * time.Hour
	// answerWithin bounds one answer of a server, readWithin what is made of those of a turn, and held how long a calendar is claimed.
	answerWithin, readWithin, held = 30 * time.Second, 20 * time.Second, 3 * time.Minute
	// turn is how long a replica reads a calendar before others have theirs, and goesOn how long a server that was too slow is left alone before the next turn.
	turn, goesOn = time.Minute, 15 * time.Second
	// nowWithin is how long whoever asks for it waits until a calendar is read.
	nowWithin = 10 * time.Second
	// behind and ahead are the days around today whose events are kept.
	behind, ahead = 31, 400
	// longestError is the longest text about what is wrong, in bytes.
	longestError = 500

	userAgent = "Frontdesk-Calendars/1"
)

// source is where a calendar is, opened.
type source struct {
	url, username, password, calendar string
	// validators are those of the last reading; empty to read everything.
	validators string
}

// content is what a server says of a calendar.
type content struct {
	unchanged  bool // since the validators; there is nothing else then
	validators string
	file       []byte // of type text/calendar
}

// failure is why a calendar cannot be read: a code, and words in English that say more.
type failure struct {
	code, words string
	// after is how long its server wants to be left alone; zero if it does not say.
	after time.Duration
}

func (f failure) Error() string { return f.words }

// Codes of what is wrong with a calendar, beside those of refusals.
const (
	noCalendar  = "no_calendar"
	tooLarge    = "too_large"
	leftOut     = "left_out"
	keysMissing = "keys"
)

// refusedWith is the failure of an answer at an address.
func refusedWith(res *http.Response) failure {
	f := failure{code: "broken", words: fmt.Sprintf("the server answers with status %d", res.StatusCode)}
	switch status := res.StatusCode; status {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.code, f.words = "sign_in", fmt.Sprintf("the server refuses name and password, or asks for them (%d)", status)
	case http.StatusNotFound, http.StatusGone:
		f.code = "missing"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.code, f.after = "busy", caldav.RetryAfter(res.Header)
	}
	return f
}

// refusals are the codes of what calendar servers answer.
var refusals = map[error]string{caldav.ErrSignIn: "sign_in", caldav.ErrForbidden: "forbidden", caldav.ErrMissing: "missing", caldav.ErrLater: "busy", caldav.ErrBroken: "broken",
	caldav.ErrTooLarge: tooLarge, caldav.ErrNoCalendars: noCalendar}

// reasonOf is why a calendar could not be read. It says nothing about the network that a server is in.
func reasonOf(err error) failure {
	if own, ok := errors.AsType[failure](err); ok {
		return own
	}
	for known, code := range refusals {
		if errors.Is(err, known) {
			return failure{code, err.Error(), caldav.Later(err)}
		}
	}
	var certificate *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	var name *net.DNSError
	var timeout interface{ Timeout() bool }
	f := failure{code: "unreachable", words: "the server cannot be reached, or ends the connection"}
	switch {
	case errors.Is(err, fetch.ErrRefused):
		f.code, f.words = "private", "the address leads to a host that is not on the public internet; the operator can allow it in SVC_FETCH_ALLOW"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		f.code, f.words = "certificate", "the certificate of the server has ended, or is not valid yet"
	case errors.As(err, &certificate):
		f.code, f.words = "certificate", "the certificate of the server is not valid"
	case errors.As(err, &name) && name.IsNotFound:
		f.code, f.words = "unknown_host", "the host of the address is not known"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f.code, f.words = "too_slow", fmt.Sprintf("the server does not answer within %.0f seconds", answerWithin.Seconds())
	}
	return f
}

var outcomes = app.NewOutcomes("booking.external_calendar_reads", "{read}", "readings of external calendars, by outcome: changed, unchanged or failed")

// syncNext reads the calendar that is due first, and reports whether there was one.
func (r *Room) syncNext(ctx context.Context) (bool, error) {
	if !r.Apps.On(r.Service) {
		return false, nil
	}
	var c record
	var found bool
	err := r.DB.Do(ctx, func(tx *db.Tx) (err error) {
		c, found, err = r.claim(ctx, tx, `due_at <= @now order by due_at`, db.Args{})
		return err
	})
	if err != nil || !found {
		return false, err
	}
	return true, r.syncClaimed(ctx, c)
}

// claim takes the first calendar that the condition allows and nobody reads, for as long as reading it may last.
func (r *Room) claim(ctx context.Context, tx *db.Tx, condition string, args db.Args) (record, bool, error) {
	args["now"], args["holder"], args["held"] = tx.Now, db.NewID(), held
	return find(ctx, tx, `update external_calendar set holder = @holder, held_until = clock_timestamp() + @held where id = (select id from external_calendar
		where (kind = 'ics' or calendar <> '') and (held_until is null or held_until < clock_timestamp()) and `+condition+` limit 1 for update skip locked) returning `+columns, args)
}

// syncClaimed reads a calendar that is claimed and ends the claim. If ctx ends meanwhile the calendar is due at once.
func (r *Room) syncClaimed(ctx context.Context, c record) error {
	today := slots.DayOf(r.DB.Now(), r.Config.Zone)
	within, cancel := context.WithTimeout(ctx, held-30*time.Second)
	defer cancel()
	began := r.DB.Now().Truncate(time.Microsecond) // as Postgres keeps it
	got, err := r.look(within, c, began, today)
	if got.rest != nil {
		if err := r.keepPart(context.WithoutCancel(ctx), c, got); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return r.release(context.WithoutCancel(ctx), c, 0)
	}
	if why, ok := errors.AsType[failure](err); ok {
		outcomes.Add(ctx, "failed", 1)
		slog.InfoContext(ctx, "calendar cannot be read", "calendar", c.ID, "error", why.words)
		return r.failed(ctx, c, why)
	}
	if err != nil {
		return err
	}
	if got.rest != nil {
		return r.release(ctx, c, got.after)
	}
	outcome := "changed"
	if got.unchanged {
		outcome = "unchanged"
	}
	outcomes.Add(ctx, outcome, 1)
	return r.keep(ctx, c, got)
}

// found is what was found in a calendar.
type found struct {
	unchanged  bool // since it was last read; there is nothing else then but validators
	validators string
	digest     []byte
	events     int
	times      []busy.Span
	problem    string // about events that are left out
	// Of a calendar on a server: what its objects take that were read, the keys of those that are gone and of others that were seen, and whether an
	// appointment is not there any more.
	objects    []object
	gone, seen []string
	isGone     func(key string) bool
	turn, at   time.Time // when this turn and the reading began
	on         slots.Day // the day then
	// rest is where the next turn goes on, which comes after a while; nil if there is no more.
	rest  []byte
	after time.Duration
}

// look asks for a calendar and reads it. The error is a failure if that is not possible. Because the days move on, what has not changed counts as
// unchanged for the rest of the day only.
func (r *Room) look(ctx context.Context, c record, began time.Time, today slots.Day) (found, error) {
	s, err := r.sourceOf(c)
	if err != nil {
		return found{}, err
	}
	known := c.Digest != nil && c.ReadOn != nil && slots.DayOf(*c.ReadOn, time.UTC) == today
	if known {
		s.validators = c.Validators
	}
	if c.Kind == kindCalDAV {
		return r.lookAtServer(ctx, c, s, began, today)
	}
	got, err := r.readFile(ctx, s)
	if err != nil {
		return found{}, reasonOf(err)
	}
	if got.unchanged {
		return found{unchanged: true, validators: c.Validators, on: today}, nil
	}
	digest := sha256.Sum256(got.file)
	if known && bytes.Equal(digest[:], c.Digest) {
		return found{unchanged: true, validators: got.validators, on: today}, nil
	}
	f, err := r.timesIn(ctx, c, got.file, today)
	f.validators, f.digest, f.on = got.validators, digest[:], today
	return f, err
}

// sourceOf is where a calendar is. The error is a failure.
func (r *Room) sourceOf(c record) (source, error) {
	s := source{username: c.Username, calendar: c.Calendar}
	var err error
	if s.url, err = r.open(c.ID, c.URL); err == nil {
		s.password, err = r.open(c.ID, c.Password)
	}
	if err != nil {
		return source{}, failure{code: keysMissing, words: "the address or password cannot be read with the keys of this service; set them again"}
	}
	return s, nil
}

// appointmentUID finds what may be the UID of an appointment of ours.
var appointmentUID = regexp.MustCompile(`(?i)UID[^:\r\n]*:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})` + appointments.UIDSuffix)

// options say how the files of a calendar are read. Our own appointments, which it may show by the feed, a mail or because they were written there, take
// no time.
func (r *Room) options(ctx context.Context, c record, files [][]byte, addresses []string, today slots.Day) (busy.Options, error) {
	var ours []string
	for _, file := range files {
		for _, uid := range appointmentUID.FindAllSubmatch(file, -1) {
			ours = append(ours, strings.ToLower(string(uid[1])))
		}
	}
	own := map[string]bool{}
	if len(ours) > 0 {
		if err := r.DB.Read(ctx, func(tx *db.Tx) error {
			ids, err := db.Column[string](ctx, tx, `select id::text from appointment where id = any($1::uuid[])`, ours)
			for _, id := range ids {
				own[id+appointments.UIDSuffix] = true
			}
			return err
		}); err != nil {
			return busy.Options{}, err
		}
	}
	u, _ := r.Identity.User(c.UserID)
	from, to := slots.Bounds(r.Config.Zone, today-behind, today+ahead)
	return busy.Options{Zone: r.Config.Zone, From: from, To: to, Addresses: append(slices.Clone(addresses), u.GetEmail()), Within: readWithin,
		Own: func(uid string) bool { return own[strings.ToLower(uid)] }}, nil
}

// timesIn reads the times that a file takes.
func (r *Room) timesIn(ctx context.Context, c record, file []byte, today slots.Day) (found, error) {
	o, err := r.options(ctx, c, [][]byte{file}, nil, today)
	if err != nil {
		return found{}, err
	}
	read, err := busy.Read(file, o)
	if err != nil {
		f := failure{code: noCalendar, words: err.Error()}
		if errors.Is(err, busy.ErrTooLarge) || errors.Is(err, busy.ErrTooMany) {
			f.code = tooLarge
		}
		return found{}, f
	}
	problems := make([]string, len(read.Problems))
	for i, p := range read.Problems {
		problems[i] = p.Error()
	}
	return found{events: read.Events, times: read.Busy, problem: strings.Join(problems, "; ")}, nil
}

// pieces are times of at most a day, in no order, each moment once.
func pieces(all []busy.Span) (starts, ends []time.Time) {
	for _, s := range busy.Join(all) {
		for s.Start.Before(s.End) {
			end := s.Start.Add(24 * time.Hour)
			if end.After(s.End) {
				end = s.End
			}
			starts, ends = append(starts, s.Start), append(ends, end)
			s.Start = end
		}
	}
	return starts, ends
}

// keep stores what was found, unless the calendar was changed or removed meanwhile. Times that changed are replaced under the person's calendar.
func (r *Room) keep(ctx context.Context, c record, f found) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		if !f.unchanged {
			if err := times.LockCalendars(ctx, tx, c.UserID); err != nil {
				return err
			}
		}
		args := db.Args{"id": c.ID, "holder": c.Holder, "now": tx.Now, "due": tx.Now.Add(every), "validators": f.validators, "unchanged": f.unchanged,
			"digest": f.digest, "events": f.events, "problem": shortened(f.problem), "left_out": leftOut, "on": f.on.String()}
		done, err := tx.Exec(ctx, `update external_calendar set state = 'ok', last_synced_at = @now, failing_since = null, due_at = @due, holder = null, held_until = null, validators = @validators,
			digest = case when @unchanged then digest else @digest end, events = case when @unchanged then events else @events end,
			last_error = case when @unchanged then last_error else @problem end, last_error_code = case when @unchanged then last_error_code when @problem = '' then '' else @left_out end, read_on = @on::date, reading = null
			where id = @id and holder = @holder`, args)
		if err != nil || f.unchanged || done.RowsAffected() == 0 {
			return err
		}
		if c.Kind == kindCalDAV {
			if err := keepObjects(ctx, tx, c.ID, f); err != nil {
				return err
			}
			if err := r.gone(ctx, tx, c.ID, c.Calendar, f.isGone, f.at); err != nil {
				return err
			}
		}
		return keepTimes(ctx, tx, c, f)
	})
}

// keepPart stores what was found so far of a calendar that is not read to its end yet, unless it was changed or removed meanwhile. What was read before
// counts on beside it.
func (r *Room) keepPart(ctx context.Context, c record, f found) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		if err := times.LockCalendars(ctx, tx, c.UserID); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, `update external_calendar set reading = $3, events = $4 where id = $1 and holder = $2`, c.ID, c.Holder, f.rest, f.events)
		if err != nil || done.RowsAffected() == 0 {
			return err
		}
		if err := keepObjects(ctx, tx, c.ID, f); err != nil {
			return err
		}
		return keepTimes(ctx, tx, c, f)
	})
}

// keepTimes replaces the times that changed.
func keepTimes(ctx context.Context, tx *db.Tx, c record, f found) error {
	if !c.Blocks {
		return nil
	}
	starts, ends := pieces(f.times)
	if _, err := tx.Exec(ctx, `delete from external_time t where calendar_id = $1 and not exists (select from unnest($2::timestamptz[], $3::timestamptz[]) n(starts_at, ends_at)
		where n.starts_at = t.starts_at and n.ends_at = t.ends_at)`, c.ID, starts, ends); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `insert into external_time (calendar_id, user_id, starts_at, ends_at) select $1, $2, n.starts_at, n.ends_at
		from unnest($3::timestamptz[], $4::timestamptz[]) n(starts_at, ends_at) on conflict do nothing`, c.ID, c.UserID, starts, ends)
	return err
}

func shortened(text string) string {
	if len(text) <= longestError {
		return text
	}
	return strings.ToValidUTF8(text[:longestError], "") + "…"
}

// failed notes that a calendar could not be read, unless it was changed or removed meanwhile. Its person is told when that begins.
func (r *Room) failed(ctx context.Context, c record, why failure) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		since := tx.Now
		if c.FailingSince != nil {
			since = *c.FailingSince
		}
		state, failing := stateFailing, tx.Now.Sub(since)
		next := tx.Now.Add(min(max(failing, every, why.after), longest))
		due := &next
		if failing >= givenUp {
			state, due = stateOff, nil
		}
		done, err := tx.Exec(ctx, `update external_calendar set state = @state, last_error = @why, last_error_code = @code, failing_since = @since, due_at = @due, digest = null, holder = null,
			held_until = null where id = @id and holder = @holder`, db.Args{"id": c.ID, "holder": c.Holder, "state": state, "why": shortened(why.words), "code": why.code, "since": since, "due": due})
		if err != nil || done.RowsAffected() == 0 || c.State != stateNew && c.State != stateOK {
			return err
		}
		return tx.Tell(ctx, "external calendar/"+c.ID.String(), &proto.Notice{App: r.Service, Calendar: &proto.Notice_Calendar{Id: c.ID.String(), UserId: c.UserID, Name: c.Name},
			To: []*proto.Notice_Addressee{{UserId: c.UserID, Kind: "calendar_failing", How: "failing"}}})
	})
}

// release ends a claim; the calendar is due again after a while.
func (r *Room) release(ctx context.Context, c record, after time.Duration) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `update external_calendar set due_at = $3, holder = null, held_until = null where id = $1 and holder = $2`, c.ID, c.Holder, tx.Now.Add(after))
		return err
	})
}

// sync reads a calendar now. One that is off is tried again as if it had just begun to fail. The answer is 202 while it is being read, by this or
// another replica.
func (r *Room) sync(ctx context.Context, d *db.DB, in ofCalendar) (externalCalendar, error) {
	var c record
	if err := d.Read(ctx, func(tx *db.Tx) (err error) {
		c, err = r.one(ctx, tx, in, ``)
		return err
	}); err != nil {
		return externalCalendar{}, err
	}
	if c.waits() {
		return r.shown(c), nil // there is nothing to read until one is chosen
	}
	wait, err := d.Allow(ctx, r.Config.RateFactor, db.Bucket{Key: "external-calendar/" + c.ID.String(), Limit: db.Limit{N: 1, Per: time.Minute}})
	if err != nil {
		return externalCalendar{}, err
	}
	if wait > 0 {
		return externalCalendar{}, fault.RateLimited(wait)
	}
	var mine bool
	err = d.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `update external_calendar set due_at = @now, failing_since = case when state = 'off' then null else failing_since end where id = @id`,
			db.Args{"id": in.ID, "now": tx.Now}); err != nil {
			return err
		}
		var err error
		if c, mine, err = r.claim(ctx, tx, `id = @id`, db.Args{"id": in.ID}); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "sync-external-calendar", "external_calendar", in.ID.String())
	})
	if err != nil {
		return externalCalendar{}, err
	}
	goesOn := !mine
	if mine {
		within, cancel := context.WithTimeout(ctx, nowWithin)
		defer cancel()
		if err := r.syncClaimed(within, c); err != nil {
			return externalCalendar{}, err
		}
		goesOn = within.Err() != nil
	}
	var out externalCalendar
	err = d.Read(ctx, func(tx *db.Tx) error {
		c, err := r.one(ctx, tx, in, ``)
		if out = r.shown(c); goesOn {
			out.status = http.StatusAccepted
		}
		return err
	})
	return out, err
}
