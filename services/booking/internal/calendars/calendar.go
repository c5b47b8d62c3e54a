package calendars

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/net/publicsuffix"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/booking/internal/appointments"
)

// kindICS is a file at an address.
const kindICS = "ics"

// States of a calendar. One that is off was failing for so long that nobody asks for it any more.
const (
	stateNew     = "new"
	stateOK      = "ok"
	stateFailing = "failing"
	stateOff     = "off"
)

// mostOfOne is how many calendars a person may have.
const mostOfOne = 20

// externalCalendar is a calendar as the interface shows it.
type externalCalendar struct {
	ID           uuid.UUID  `json:"id" format:"uuid" doc:"The id of the record."`
	Kind         string     `json:"kind" enum:"ics,caldav" doc:"ics is a file at an address, caldav a calendar of an account on a server."`
	Name         string     `json:"name" doc:"What the person calls it."`
	URL          string     `json:"url" doc:"Where it is. Of an address of kind ics, which is a secret, scheme and host."`
	Username     string     `json:"username" doc:"Whom its server knows the person as; empty for nobody. The password is never shown."`
	Calendar     string     `json:"calendar" doc:"Which calendar of the account: one of get-external-calendar-choices. Empty until one is chosen, and for kind ics."`
	Blocks       bool       `json:"blocks" doc:"Its events take the person's time."`
	Writes       bool       `json:"writes" doc:"The person's appointments are written into it, if it is the first that has this; never into an address of kind ics. Deleting one there cancels nothing."`
	State        string     `json:"state" enum:"new,ok,failing,off" doc:"new was not read yet; ok; failing could not be read last, and what was read before counts on; off could not be read for seven days and is not tried any more."`
	LastSyncedAt *time.Time `json:"last_synced_at" doc:"When it was last read; null for never."`
	LastError    string     `json:"last_error" doc:"Why it could not be read, or which events of it are left out; empty for neither."`
	ErrorCode    string     `json:"last_error_code" enum:",sign_in,forbidden,missing,busy,broken,too_slow,unreachable,unknown_host,private,certificate,no_calendar,too_large,keys,left_out" doc:"What last_error is about, for programs; empty for nothing. left_out says that some of its events take no time because they cannot be read."`
	Events       int        `json:"events" doc:"How many events of the next 400 days take time; a series counts each time."`
	// Deleted is said and nothing else, because whoever tidies up a calendar does not mean to send a client away.
	Deleted []appointments.Touched `json:"deleted_appointments" doc:"Appointments to come that were written into it and deleted there. They stand; the next change of one puts it back."`
	Version int64                  `json:"version" doc:"The ETag that changes take in If-Match. Reading the calendar does not change it."`

	status int
}

// RecordVersion is the answer's ETag.
func (c externalCalendar) RecordVersion() int64 { return c.Version }

// StatusCode is 201 for a new calendar, and 202 for one that is still being read.
func (c externalCalendar) StatusCode() int { return c.status }

// record is a row.
type record struct {
	ID             uuid.UUID
	UserID         int64
	Kind, Name     string
	URL            []byte // sealed
	Username       string
	Password       []byte // sealed; nil for none
	Calendar       string
	Blocks, Writes bool
	State          string
	LastSyncedAt   *time.Time
	LastError      string
	LastErrorCode  string
	Events         int
	Deleted        []appointments.Touched
	Validators     string // of its kind: by what its server says that nothing has changed
	Digest         []byte // of what it was last read from
	ReadOn         *time.Time
	Reading        []byte // how far it is read; nil if it is read to its end
	FailingSince   *time.Time
	Version        int64
	Holder         *uuid.UUID // reads it now
}

const columns = `external_calendar.id, external_calendar.user_id, kind, name, url, username, password, calendar, blocks, writes, state, last_synced_at, last_error, last_error_code, events, validators, digest, read_on, reading, failing_since,
	external_calendar.version, holder, (select coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'starts_at', p.starts_at) order by p.starts_at, p.id), '[]') from outgoing o join appointment p
	on p.id = o.appointment_id where o.account_id = external_calendar.id and o.deleted_at is not null and p.status = 'confirmed' and p.ends_at > clock_timestamp()) as deleted`

// query reads the calendars that the rest of a statement chooses.
func query(ctx context.Context, tx *db.Tx, rest string, args ...any) ([]record, error) {
	return db.Rows[record](ctx, tx, `select `+columns+` from external_calendar `+rest, args...)
}

// PurposeOf is the purpose under which the secrets of a calendar are sealed.
func PurposeOf(id string) string { return "external calendar " + id }

func (r *Room) seal(id uuid.UUID, secret string) []byte {
	if secret == "" {
		return nil
	}
	return r.Keys.Seal(PurposeOf(id.String()), []byte(secret))
}

// open is what seal has sealed; empty for nothing. The error is that no key opens it.
func (r *Room) open(id uuid.UUID, sealed []byte) (string, error) {
	if sealed == nil {
		return "", nil
	}
	secret, err := r.Keys.Open(PurposeOf(id.String()), sealed)
	return string(secret), err
}

// shown is a calendar as the interface shows it. One whose address no key opens has none.
func (r *Room) shown(c record) externalCalendar {
	address, _ := r.open(c.ID, c.URL)
	if u, err := url.Parse(address); err == nil && address != "" && c.Kind == kindICS {
		address = u.Scheme + "://" + u.Host + "/…"
	}
	return externalCalendar{ID: c.ID, Kind: c.Kind, Name: c.Name, URL: address, Username: c.Username, Calendar: c.Calendar, Blocks: c.Blocks, Writes: c.Writes, State: c.State,
		LastSyncedAt: c.LastSyncedAt, LastError: c.LastError, ErrorCode: c.LastErrorCode, Events: c.Events, Deleted: utc(c.Deleted), Version: c.Version, status: http.StatusOK}
}

// utc are appointments with their times as the interface writes them.
func utc(all []appointments.Touched) []appointments.Touched {
	out := make([]appointments.Touched, len(all))
	for i, a := range all {
		out[i] = appointments.Touched{ID: a.ID, StartsAt: a.StartsAt.UTC()}
	}
	return out
}

type ofPerson struct {
	User int64 `json:"user" minimum:"1"`
}

func (r *Room) list(ctx context.Context, tx *db.Tx, in ofPerson) (db.List[externalCalendar], error) {
	if err := r.staff.MayHave(ctx, tx, in.User); err != nil {
		return db.List[externalCalendar]{}, err
	}
	all, err := query(ctx, tx, `where user_id = $1 order by created_at, id`, in.User)
	items := make([]externalCalendar, len(all))
	for i, c := range all {
		items[i] = r.shown(c)
	}
	return db.All(items), err
}

// fetch is how calendars are asked for.
func (r *Room) fetch() fetch.Options {
	return fetch.Options{Allow: r.Config.Receivers, Timeout: answerWithin, Keep: mostBytes + 1}
}

// checkedURL is the address that is asked for; webcal is the same as https.
func (r *Room) checkedURL(given string) (string, fault.Problem) {
	address := overHTTPS(strings.TrimSpace(given))
	if address == "" {
		return "", fault.Empty()
	}
	if err := fetch.CheckURL(address, r.fetch()); err != nil {
		return "", fetch.Problem("url", err)
	}
	return address, fault.Problem{}
}

func overHTTPS(address string) string {
	for _, scheme := range []string{"webcal://", "webcals://"} {
		if len(address) > len(scheme) && strings.EqualFold(address[:len(scheme)], scheme) {
			return "https://" + address[len(scheme):]
		}
	}
	return address
}

type newCalendar struct {
	User     int64           `json:"user" minimum:"1"`
	Kind     string          `json:"kind" required:"true" enum:"ics,caldav" doc:"ics is a file at an address, caldav a calendar of an account on a server."`
	Name     string          `json:"name" required:"true" maxLength:"100" doc:"What the person calls it."`
	URL      string          `json:"url" required:"true" maxLength:"2048" secret:"true" doc:"Where it is: https, or webcal, which is the same."`
	Username string          `json:"username" maxLength:"255" doc:"Whom its server knows the person as, if it asks."`
	Password string          `json:"password" maxLength:"1024" doc:"The password there. It is kept sealed and never shown."`
	Calendar string          `json:"calendar" maxLength:"2048" doc:"Which calendar of the account: one of get-external-calendar-choices; it is read once one is chosen. Empty for kind ics."`
	Blocks   opt.Value[bool] `json:"blocks,omitzero" doc:"Its events take the person's time, as when it is left out."`
	Writes   bool            `json:"writes" by:"person" doc:"Write the person's appointments into it. An address of kind ics cannot be written to."`
}

func (r *Room) add(ctx context.Context, tx *db.Tx, in newCalendar) (externalCalendar, error) {
	if err := r.staff.MayHave(ctx, tx, in.User); err != nil {
		return externalCalendar{}, err
	}
	address, wrong := r.checkedURL(in.URL)
	found, c := fault.Problems{}, record{ID: db.NewID(), UserID: in.User, Kind: in.Kind, Name: strings.TrimSpace(in.Name), Username: strings.TrimSpace(in.Username),
		Calendar: in.Calendar, Blocks: in.Blocks.Or(true), Writes: in.Writes, State: stateNew, Version: 1}
	found.Add("url", wrong)
	found.Add("name", form.Name(c.Name, 100))
	r.checkWays(found, c)
	if err := found.Err(); err != nil {
		return externalCalendar{}, err
	}
	if err := tx.Lock(ctx, "booking.external_calendars", in.User); err != nil {
		return externalCalendar{}, err
	}
	var have int
	if err := tx.QueryRow(ctx, `select count(*) from external_calendar where user_id = $1`, in.User).Scan(&have); err != nil {
		return externalCalendar{}, err
	}
	if have >= mostOfOne {
		return externalCalendar{}, fault.Conflict("too_many", "The person has as many calendars as there may be. Remove one of them first.")
	}
	c.URL, c.Password = r.seal(c.ID, address), r.seal(c.ID, in.Password)
	if _, err := tx.Exec(ctx, `insert into external_calendar (id, user_id, kind, name, url, username, password, calendar, blocks, writes, due_at, created_at)
		values (@id, @user, @kind, @name, @url, @username, @password, @calendar, @blocks, @writes, @due, @now)`, db.Args{"id": c.ID, "user": c.UserID, "kind": c.Kind, "name": c.Name,
		"url": c.URL, "username": c.Username, "password": c.Password, "calendar": c.Calendar, "blocks": c.Blocks, "writes": c.Writes, "due": c.due(tx.Now), "now": tx.Now}); err != nil {
		return externalCalendar{}, err
	}
	tx.Changed(changed(record{}, c).Created())
	out := r.shown(c)
	out.status = http.StatusCreated
	return out, op.Audit(ctx, tx, "add-external-calendar", "external_calendar", c.ID.String())
}

// checkWays refuses what the kind of a calendar has no way for.
func (r *Room) checkWays(found fault.Problems, c record) {
	if c.Kind != kindICS {
		if c.Calendar != "" {
			if err := fetch.CheckURL(c.Calendar, r.fetch()); err != nil {
				found.Add("calendar", fetch.Problem("url", err))
			}
		}
		return
	}
	if c.Writes {
		found.Add("writes", fault.NewProblem("read_only", "must be false: a file at an address cannot be written to"))
	}
	if c.Calendar != "" {
		found.Add("calendar", fault.NewProblem("one_only", "must be empty: a file at an address is one calendar"))
	}
}

// changed are the changes of a calendar that the audit log shows. Of secrets it shows that they changed.
func changed(was, now record) change.Set {
	s := change.Set{}
	s.Note("name", was.Name, now.Name)
	s.Note("username", was.Username, now.Username)
	s.Note("calendar", was.Calendar, now.Calendar)
	s.Note("blocks", was.Blocks, now.Blocks)
	s.Note("writes", was.Writes, now.Writes)
	veil(s, "url", was.URL, now.URL)
	veil(s, "password", was.Password, now.Password)
	return s
}

func veil(s change.Set, field string, old, new []byte) {
	veiled := func(secret []byte) string {
		if secret == nil {
			return ""
		}
		return "…"
	}
	if string(old) != string(new) {
		s[field] = change.Change{Old: veiled(old), New: veiled(new)}
	}
}

type ofCalendar struct {
	ID   uuid.UUID `json:"id"`
	User int64     `json:"user" minimum:"1"`
}

// forUpdate is the lock of a calendar that is about to change.
const forUpdate = ` for update`

// one is a calendar of a person that the caller may have, with the lock that is given.
func (r *Room) one(ctx context.Context, tx *db.Tx, of ofCalendar, lock string) (record, error) {
	if err := r.staff.MayHave(ctx, tx, of.User); err != nil {
		return record{}, err
	}
	found, err := query(ctx, tx, `where id = $1 and user_id = $2`+lock, of.ID, of.User)
	if err == nil && len(found) == 0 {
		err = fault.NotFound("calendar")
	}
	if err != nil {
		return record{}, err
	}
	return found[0], nil
}

type changedCalendar struct {
	ofCalendar
	Name     opt.Value[string] `json:"name,omitzero" maxLength:"100" doc:"What the person calls it."`
	URL      opt.Value[string] `json:"url,omitzero" maxLength:"2048" secret:"true" doc:"Where it is. With another host the password has to be given again."`
	Username opt.Value[string] `json:"username,omitzero" nullable:"true" maxLength:"255" doc:"Whom its server knows the person as."`
	Password opt.Value[string] `json:"password,omitzero" nullable:"true" maxLength:"1024" doc:"The password there; empty for none."`
	Calendar opt.Value[string] `json:"calendar,omitzero" maxLength:"2048" doc:"Which calendar of the account: one of get-external-calendar-choices; it is read once one is chosen. Empty for kind ics."`
	Blocks   opt.Value[bool]   `json:"blocks,omitzero" doc:"Its events take the person's time."`
	Writes   opt.Value[bool]   `json:"writes,omitzero" by:"person" doc:"Write the person's appointments into it. An address of kind ics cannot be written to."`
}

func (r *Room) update(ctx context.Context, tx *db.Tx, in changedCalendar) (externalCalendar, error) {
	found, address := fault.Problems{}, ""
	if in.URL.Set {
		var wrong fault.Problem
		address, wrong = r.checkedURL(in.URL.V)
		found.Add("url", wrong)
	}
	if in.Name.Set {
		found.Add("name", form.Name(strings.TrimSpace(in.Name.V), 100))
	}
	if err := found.Err(); err != nil {
		return externalCalendar{}, err
	}
	was, err := r.one(ctx, tx, in.ofCalendar, forUpdate)
	if err != nil {
		return externalCalendar{}, err
	}
	if err := tx.Match(was.Version); err != nil {
		return externalCalendar{}, err
	}
	now := was
	in.Name.Apply(&now.Name)
	in.Username.Apply(&now.Username)
	in.Calendar.Apply(&now.Calendar)
	in.Blocks.Apply(&now.Blocks)
	in.Writes.Apply(&now.Writes)
	now.Name, now.Username = strings.TrimSpace(now.Name), strings.TrimSpace(now.Username)
	if r.checkWays(found, now); len(found) > 0 {
		return externalCalendar{}, found.Err()
	}
	before, _ := r.open(was.ID, was.URL)
	if in.URL.Set && address != before {
		now.URL = r.seal(now.ID, address)
	}
	// Whoever may change the address must not have the password sent to a host of their own.
	if was.Password != nil && !in.Password.Set && (now.Calendar != was.Calendar && !sameSite(before, now.Calendar) || in.URL.Set && !sameHost(before, address)) {
		return externalCalendar{}, fault.Invalid("password", fault.NewProblem("required", "is required with another host"))
	}
	if password, _ := r.open(was.ID, was.Password); in.Password.Set && in.Password.V != password {
		now.Password = r.seal(now.ID, in.Password.V)
	}
	changes := changed(was, now)
	if len(changes) == 0 {
		return r.shown(was), nil
	}
	tx.Changed(changes)
	now.Version++
	if _, err := tx.Exec(ctx, `update external_calendar set name = @name, url = @url, username = @username, password = @password, calendar = @calendar, blocks = @blocks,
		writes = @writes, version = @version where id = @id`, db.Args{"id": now.ID, "name": now.Name, "url": now.URL, "username": now.Username, "password": now.Password,
		"calendar": now.Calendar, "blocks": now.Blocks, "writes": now.Writes, "version": now.Version}); err != nil {
		return externalCalendar{}, err
	}
	_, renamed := changes["name"]
	if renamed && len(changes) == 1 {
		return r.shown(now), nil
	}
	now.State = stateNew
	return r.shown(now), readAnew(ctx, tx, now)
}

// readAnew has a calendar read whole at once. Whoever reads it now does so for nothing. Until then its times stay, unless it takes none any more.
func readAnew(ctx context.Context, tx *db.Tx, c record) error {
	if _, err := tx.Exec(ctx, `update external_calendar set state = $2, validators = '', digest = null, reading = null, failing_since = null, due_at = $3, holder = null, held_until = null where id = $1`,
		c.ID, stateNew, c.due(tx.Now)); err != nil || c.Blocks {
		return err
	}
	_, err := tx.Exec(ctx, `delete from external_time where calendar_id = $1`, c.ID)
	return err
}

// sameHost reports whether two addresses lead to the same host and port, and the second not less safely.
func sameHost(a, b string) bool {
	before, err := url.Parse(a)
	if err != nil {
		return false
	}
	after, err := url.Parse(b)
	return err == nil && strings.EqualFold(before.Host, after.Host) && (after.Scheme == before.Scheme || after.Scheme == "https")
}

// sameSite is sameHost, or reports that both are hosts of one domain that somebody has registered: large providers keep each account on one of many.
// No address at all is the same site.
func sameSite(a, b string) bool {
	if b == "" || sameHost(a, b) {
		return true
	}
	after, err := url.Parse(b)
	domain := domainOf(a)
	return err == nil && after.Scheme == "https" && domain != "" && domain == domainOf(b)
}

// domainOf is the registered domain of an address; empty for one without, as a number.
func domainOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return ""
	}
	domain, _ := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(u.Hostname()))
	return domain
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in ofCalendar) (op.None, error) {
	c, err := r.one(ctx, tx, in, forUpdate)
	if err == nil {
		err = tx.Match(c.Version)
	}
	if err != nil {
		return op.None{}, err
	}
	_, err = tx.Exec(ctx, `delete from external_calendar where id = $1`, c.ID)
	return op.None{}, err
}

// End removes the calendars of a person.
func End(ctx context.Context, tx *db.Tx, user int64) error {
	_, err := tx.Exec(ctx, `delete from external_calendar where user_id = $1`, user)
	return err
}

// forget removes the calendars that a person signs in to, and those of the member whose address it is, and strikes the person from the names of others.
func (r *Room) forget(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	all, err := query(ctx, tx, `where created_at < $1 order by id for update`, p.At)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		member, _ := r.Identity.User(c.UserID)
		if p.HasAddress(c.Username) || p.HasAddress(member.GetEmail()) {
			_, err = tx.Exec(ctx, `delete from external_calendar where id = $1`, c.ID)
		} else if name, named := p.StrikeFrom(c.Name); named {
			_, err = tx.Exec(ctx, `update external_calendar set name = $2, version = version + 1 where id = $1`, c.ID, name)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// find is the calendar that a query for one has found; false if it found none.
func find(ctx context.Context, tx *db.Tx, statement string, args db.Args) (record, bool, error) {
	c, err := db.One[record](ctx, tx, statement, args)
	if errors.Is(err, pgx.ErrNoRows) {
		return record{}, false, nil
	}
	return c, err == nil, err
}
