package calendars

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/busy"
	"frontdesk/services/booking/internal/caldav"
	"frontdesk/services/booking/internal/slots"
)

// kindCalDAV is a calendar of a server, one of several that an account has there.
const kindCalDAV = "caldav"

// waits reports whether a calendar cannot be read because nobody has chosen which of the account it is.
func (c record) waits() bool { return c.Kind == kindCalDAV && c.Calendar == "" }

// due is when a calendar that is to be read at once is read.
func (c record) due(now time.Time) *time.Time {
	if c.waits() {
		return nil
	}
	return &now
}

// reached is how far a calendar of a server was read; it is the validators of the row.
type reached struct {
	Mark caldav.Mark `json:"mark"`
	// Addresses are those by which the server knows the person.
	Addresses []string `json:"addresses"`
}

// reading is how far a calendar is read that takes several turns.
type reading struct {
	caldav.Reading
	Addresses []string `json:"addresses"`
	// Anew says that objects of before Began are read whether they changed or not: other days of theirs count now. On is the day then.
	Anew  bool      `json:"anew"`
	Began time.Time `json:"since"`
	On    slots.Day `json:"on"`
}

// object is what an object of a server takes.
type object struct {
	Key     string `json:"key"`
	ETag    string `json:"etag"`
	Events  int    `json:"events"`
	Problem string `json:"problem"`
	// Spans are the seconds of begin and end of each time.
	Spans []int64 `json:"spans"`
	// SeenAt is the begin of the turn in which it was read, or seen unchanged.
	SeenAt time.Time `json:"-"`
}

// lookAtServer asks a server what became of a calendar since it was last read, or goes on with that. The error is a failure if that is not possible; what
// was found before it is beside it.
func (r *Room) lookAtServer(ctx context.Context, c record, s source, began time.Time, today slots.Day) (found, error) {
	client := caldav.New(r.client, caldav.Account{Address: s.url, Username: s.username, Password: s.password})
	at, of, err := r.begin(ctx, c, s, client)
	if err != nil {
		return found{}, err
	}
	if !of.Begun {
		of.Anew, of.Began, of.On = s.validators == "", began, today
	}
	var kept map[string]object
	load := func() (err error) {
		if kept == nil {
			kept, err = r.objects(ctx, c.ID)
		}
		return err
	}
	known := func() (map[string]string, error) {
		tags := map[string]string{}
		err := load()
		for _, o := range kept {
			if !of.Anew || !o.SeenAt.Before(of.Began) {
				tags[o.Key] = o.ETag
			}
		}
		return tags, err
	}
	from, to := slots.Bounds(r.Config.Zone, today-behind, today+ahead)
	changes, failed := client.Changes(ctx, s.calendar, at.Mark, of.Reading, from, to, time.Now().Add(turn), known)
	f := found{gone: changes.Gone, seen: changes.Seen, turn: began, at: of.Began, on: of.On}
	if changes.Rest != nil {
		ctx = context.WithoutCancel(ctx) // what was read is kept, whatever has ended the turn
		if changes.Rest.Slow > 0 {
			f.after = goesOn
		}
		of.Reading = *changes.Rest
		if f.rest, err = json.Marshal(of); err != nil {
			return found{}, err
		}
	} else {
		validators, err := json.Marshal(reached{changes.Mark, of.Addresses})
		if err != nil {
			return found{}, err
		}
		sum := sha256.Sum256(validators)
		f.validators, f.digest = string(validators), sum[:]
		if f.unchanged = !changes.Listed && len(changes.Objects) == 0 && len(changes.Gone) == 0; f.unchanged {
			return f, nil
		}
	}
	if err := load(); err != nil {
		return found{}, err
	}
	if f.objects, err = r.timesOf(ctx, c, changes.Objects, of.Addresses, today); err != nil {
		return found{}, err
	}
	for _, o := range f.objects {
		o.SeenAt = began
		kept[o.Key] = o
	}
	for _, key := range f.seen {
		if o, ok := kept[key]; ok {
			o.SeenAt = began
			kept[key] = o
		}
	}
	f.gone = append(f.gone, f.settle(kept, changes.Listed, of.Began)...)
	if failed != nil {
		return f, reasonOf(failed)
	}
	there := 0
	for _, o := range kept {
		if f.rest == nil || !o.SeenAt.Before(of.Began) { // in the middle of a reading those of before may be gone
			there++
		}
	}
	if there > mostObjects {
		return found{}, reasonOf(caldav.ErrTooLarge)
	}
	return f, nil
}

// begin is how far a calendar was read, and how far the reading is that it goes on with; zero for a new one.
func (r *Room) begin(ctx context.Context, c record, s source, client *caldav.Client) (at reached, of reading, err error) {
	if s.validators != "" {
		if err := json.Unmarshal([]byte(s.validators), &at); err != nil {
			return at, of, err
		}
		of.Addresses = at.Addresses
	}
	if c.Reading != nil {
		err := json.Unmarshal(c.Reading, &of)
		return at, of, err
	}
	if s.validators == "" {
		account, err := client.Find(ctx)
		if err != nil {
			return at, of, reasonOf(err)
		}
		of.Addresses = account.Addresses
	}
	return at, of, nil
}

// settle takes what is gone off the objects of a calendar, and what their times are into f. Of a calendar that was listed to its end, that is also what
// was not seen since that began; settle returns the keys of these.
func (f *found) settle(kept map[string]object, listed bool, began time.Time) (unseen []string) {
	for _, key := range f.gone {
		delete(kept, key)
	}
	f.isGone = func(key string) bool { return slices.Contains(f.gone, key) }
	if listed {
		for key, o := range kept {
			if o.SeenAt.Before(began) {
				unseen = append(unseen, key)
				delete(kept, key)
			}
		}
		f.isGone = func(key string) bool { _, there := kept[key]; return !there }
	}
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		o := kept[key]
		f.events += o.Events
		for i := 0; i+1 < len(o.Spans); i += 2 {
			f.times = append(f.times, busy.Span{Start: time.Unix(o.Spans[i], 0).UTC(), End: time.Unix(o.Spans[i+1], 0).UTC()})
		}
		if o.Problem != "" {
			problems = append(problems, o.Problem)
		}
	}
	f.problem = strings.Join(problems, "; ")
	return unseen
}

// mostObjects is how many objects a calendar may have.
const mostObjects = 10_000

// objects are what is known of the objects of a calendar, by key.
func (r *Room) objects(ctx context.Context, calendar uuid.UUID) (map[string]object, error) {
	kept := map[string]object{}
	err := r.DB.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `select key, etag, events, problem, spans, seen_at from external_object where calendar_id = $1`, calendar)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, pgx.RowToStructByName[object])
		for _, o := range all {
			kept[o.Key] = o
		}
		return err
	})
	return kept, err
}

// timesOf reads the times that objects take.
func (r *Room) timesOf(ctx context.Context, c record, all []caldav.Object, addresses []string, today slots.Day) ([]object, error) {
	files := make([][]byte, len(all))
	for i, o := range all {
		files[i] = o.File
	}
	options, err := r.options(ctx, c, files, addresses, today)
	if err != nil {
		return nil, err
	}
	read, until := make([]object, len(all)), time.Now().Add(readWithin)
	for i, o := range all {
		if options.Within = time.Until(until); options.Within <= 0 {
			return nil, failure{code: tooLarge, words: "reading the calendar takes too long"}
		}
		read[i] = object{Key: o.Key, ETag: o.ETag, Spans: []int64{}}
		takes, err := busy.Read(o.File, options)
		if err != nil {
			read[i].Problem = "an event: " + err.Error()
			continue
		}
		read[i].Events = takes.Events
		for _, s := range takes.Busy {
			read[i].Spans = append(read[i].Spans, s.Start.Unix(), s.End.Unix())
		}
		for _, p := range takes.Problems {
			read[i].Problem = "an event: " + p.Error()
		}
	}
	return read, nil
}

// keepObjects stores what the objects take that were read, and which were seen.
func keepObjects(ctx context.Context, tx *db.Tx, calendar uuid.UUID, f found) error {
	if _, err := tx.Exec(ctx, `delete from external_object where calendar_id = $1 and key = any($2)`, calendar, f.gone); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update external_object set seen_at = $3 where calendar_id = $1 and key = any($2)`, calendar, f.seen, f.turn); err != nil {
		return err
	}
	rows, err := json.Marshal(f.objects)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into external_object (calendar_id, key, etag, events, problem, spans, seen_at)
		select distinct on (n.key) $1, n.key, n.etag, n.events, n.problem, n.spans, $3::timestamptz from jsonb_to_recordset($2) n(key text, etag text, events integer, problem text, spans bigint[])
		on conflict (calendar_id, key) do update set etag = excluded.etag, events = excluded.events, problem = excluded.problem, spans = excluded.spans, seen_at = excluded.seen_at`, calendar, rows, f.turn)
	return err
}

// choice is a calendar that an account has.
type choice struct {
	Href     string `json:"href" doc:"Its address, for the field calendar."`
	Name     string `json:"name" doc:"What it is called there."`
	Colour   string `json:"colour" doc:"Its colour there, as #rrggbb; empty if it has none."`
	Writable bool   `json:"writable" doc:"Appointments can be written into it."`
}

// choices asks the server which calendars the account has. They are those for events.
func (r *Room) choices(ctx context.Context, d *db.DB, in ofCalendar) (db.List[choice], error) {
	none := db.List[choice]{}
	var c record
	if err := d.Read(ctx, func(tx *db.Tx) (err error) {
		c, err = r.one(ctx, tx, in, ``)
		return err
	}); err != nil {
		return none, err
	}
	if c.Kind != kindCalDAV {
		return none, fault.Conflict("one_only", "A file at an address is one calendar.")
	}
	wait, err := d.Allow(ctx, r.Config.RateFactor, db.Bucket{Key: "external-calendar-choices/" + c.ID.String(), Limit: db.Limit{N: 10, Per: time.Minute}})
	if err != nil {
		return none, err
	}
	if wait > 0 {
		return none, fault.RateLimited(wait)
	}
	s, err := r.sourceOf(c)
	if err != nil {
		return none, fault.Conflict("unreachable", err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, nowWithin)
	defer cancel()
	account, err := caldav.New(r.client, caldav.Account{Address: s.url, Username: s.username, Password: s.password}).Find(ctx)
	if err != nil {
		return none, fault.Conflict("unreachable", fmt.Sprintf("The calendars cannot be listed: %s.", reasonOf(err).words))
	}
	items := make([]choice, len(account.Calendars))
	for i, c := range account.Calendars {
		items[i] = choice{Href: c.Href, Name: c.Name, Colour: c.Colour, Writable: c.Writable}
	}
	return db.All(items), nil
}
