package booking

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

type object = map[string]any

// office is a service with an administrator and one staff member who works every day from 9 to 17.
type office struct {
	*apptest.Service
	t       testing.TB
	admin   *apptest.Client
	staff   *apptest.Client
	service string
	// since is an id from before the case of a test: ids sort by time, in one process.
	since    string
	settings object
}

var everyDay = func() object {
	week := object{}
	for day := 1; day <= 7; day++ {
		week[fmt.Sprint(day)] = [][]string{{"09:00", "17:00"}}
	}
	return week
}()

// open9to5 is an office with one service, which is open from 9 to 17 each day. Its clock begins ten minutes past an hour, so that no
// time that is offered passes while a test runs.
func open9to5(t testing.TB, fields object, configure ...func(*app.Config)) *office {
	t.Helper()
	s := apptest.Start(t, Service, configure...)
	o := &office{Service: s, t: t, admin: s.As("site_admin"), staff: s.As("staff")}
	s.SetSite("general", object{"business": object{"name": "Praktijk Jansen", "email": "office@example.com"}, "country": "BE", "currency": "EUR"})
	o.settings = o.admin.Get("/settings/booking").Is(200).Map()
	o.open(fields)
	return o
}

// again is the office as open9to5 opens it, for one more case of a test: nothing is booked or known of anybody, the settings are
// those of the beginning, and the events are those that are sent from here on. Who else has joined stays on the team, the app must be
// on, and the clock goes on. It takes a tenth of the time of another service.
func (o *office) again(t testing.TB, fields object) *office {
	t.Helper()
	next := *o
	next.t = t
	next.Settle()
	for _, table := range []string{"appointment", "exception", "skill", "service", "staff", "contact", "organization", "form", "page", "embedding", "idempotency", "forgotten_person"} {
		next.exec(`delete from ` + table)
	}
	next.admin.Patch("/settings/booking", o.settings).Is(200)
	next.open(fields)
	next.Settle()
	next.since = db.NewID().String()
	return &next
}

func (o *office) open(fields object) {
	o.t.Helper()
	o.Travel(o.Now().Add(50 * time.Minute).Truncate(time.Hour).Add(10 * time.Minute).Sub(o.Now()))
	o.staff.Put(fmt.Sprintf("/staff/%d/hours", o.staff.UserID), object{"hours": everyDay}).Is(200)
	body := object{"name": "Intake", "duration_min": 60, "staff": []int64{o.staff.UserID}, "location_details": "Kerkstraat 1, Gent"}
	for k, v := range fields {
		body[k] = v
	}
	o.service = o.admin.Post("/services", body).Is(201).Text("id")
}

// Events are those of the case. A tombstone, which has no id, belongs to the case of its record's other events.
func (o *office) Events(topic string) []*proto.Envelope {
	o.t.Helper()
	all, records := o.Service.Events(topic), map[string]bool{}
	for _, e := range all {
		records[e.GetRecordId()] = records[e.GetRecordId()] || e.GetId() >= o.since && e.GetId() != ""
	}
	return slices.DeleteFunc(all, func(e *proto.Envelope) bool {
		return !records[e.GetRecordId()] || e.GetId() != "" && e.GetId() < o.since
	})
}

// contacts counts those that tests have had.
var contacts atomic.Int64

// contact is a contact that the contacts service has told of.
func (o *office) contact(owner int64, fields ...string) string {
	o.t.Helper()
	id := uuid.NewString()
	// Without letters that a search for a name could find.
	email := fmt.Sprintf("an.%d@example.com", contacts.Add(1))
	if len(fields) > 0 {
		email = fields[0]
	}
	o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactCreated, Key: id, Version: 1, Data: object{
		"id": id, "first_name": "An", "last_name": "Peeters", "email": email, "phone": "+32470000000", "owner_user_id": owner, "deleted_at": nil}})
	o.Settle()
	return id
}

// at is a local time some days from today.
func (o *office) at(days int, clock string) time.Time {
	o.t.Helper()
	zone := o.Kit.Config.Zone
	day := o.Now().In(zone).AddDate(0, 0, days)
	t, err := time.ParseInLocation("2006-01-02 15:04", day.Format("2006-01-02 ")+clock, zone)
	require.NoError(o.t, err)
	return t.UTC()
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// token is a time token that is old enough.
func (o *office) token(service string) string {
	o.t.Helper()
	token := o.Visitor().Get("/booking/slots?service=" + service).Is(200).Text("token")
	o.Travel(4 * time.Second)
	return token
}

func (o *office) visit(service, token string, start time.Time, email string) object {
	return object{"service": service, "starts_at": stamp(start), "token": token, "hp_url": "", "page": "http://localhost/book",
		"values": object{"first_name": "Bea", "last_name": "Maes", "email": email, "phone": "0470112233"}}
}

// mails are the mails to clients with an address so far, in order; to everybody for none.
func (o *office) mails(to string) []*proto.Mail {
	o.t.Helper()
	var all []*proto.Mail
	for _, e := range o.Events(proto.MailTopic) {
		if e.GetKind() != proto.KindMail {
			continue // to the team, see notices_test.go
		}
		m := &proto.Mail{}
		require.NoError(o.t, protobuf.Unmarshal(e.GetData(), m))
		if to == "" || strings.EqualFold(m.GetTo(), to) {
			all = append(all, m)
		}
	}
	// Keys are ids in order of time; partitions are not.
	for i := range all {
		for j := range all[:i] {
			if all[i].GetId() < all[j].GetId() {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
	return all
}

func (o *office) lastMail(to string) *proto.Mail {
	o.t.Helper()
	all := o.mails(to)
	require.NotEmpty(o.t, all)
	return all[len(all)-1]
}

var manageLink = regexp.MustCompile(`/manage#token=([A-Za-z0-9_-]+)`)

func linkIn(t testing.TB, m *proto.Mail) string {
	t.Helper()
	found := manageLink.FindStringSubmatch(m.GetText())
	require.NotNil(t, found, m.GetText())
	return found[1]
}

func (o *office) book(contact string, start time.Time, more ...object) *apptest.Answer {
	o.t.Helper()
	body := object{"contact": contact, "service": o.service, "starts_at": stamp(start)}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	return o.admin.Post("/appointments", body)
}

func (o *office) kinds(id string) []string { o.t.Helper(); return o.Kinds(proto.AppointmentTopic, id) }

func (o *office) exec(sql string, args ...any) {
	o.t.Helper()
	_, err := o.Kit.DB.Pool.Exec(o.t.Context(), sql, args...)
	require.NoError(o.t, err)
}

// gauge is what a gauge without a label shows now.
func (o *office) gauge(name string) (n int) {
	o.t.Helper()
	i := slices.IndexFunc(o.Parts.Gauges, func(g app.Gauge) bool { return g.Name == name })
	require.NoError(o.t, o.Kit.DB.Pool.QueryRow(o.t.Context(), o.Parts.Gauges[i].SQL).Scan(&n))
	return n
}

// nextSecond waits until the database stamps changes later than before, and returns that stamp: stamps are whole seconds of its clock,
// which does not travel.
func (o *office) nextSecond() (stamp time.Time) {
	o.t.Helper()
	o.exec(`select pg_sleep(extract(epoch from date_trunc('second', clock_timestamp()) + interval '1 second' - clock_timestamp()))`)
	require.NoError(o.t, o.Kit.DB.Pool.QueryRow(o.t.Context(), `select date_trunc('second', clock_timestamp())`).Scan(&stamp))
	return stamp
}

// run runs a job by its name, as its timer would.
func (o *office) run(job string) {
	o.t.Helper()
	i := slices.IndexFunc(o.Parts.Jobs, func(j app.Job) bool { return j.Name == job })
	require.GreaterOrEqual(o.t, i, 0, "no job %s", job)
	require.NoError(o.t, o.Parts.Jobs[i].Run(db.WithActor(o.t.Context(), db.Actor{Channel: db.ChannelSystem})))
}

func path(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// routeOf is what the description says of "METHOD /path".
func routeOf(paths map[string]map[string]any, route string) object {
	method, at, _ := strings.Cut(route, " ")
	raw, _ := json.Marshal(paths[at][strings.ToLower(method)])
	var out object
	_ = json.Unmarshal(raw, &out)
	return out
}

func bodyNames(operation object) (names []string) {
	var v any = operation
	for _, key := range []string{"requestBody", "content", "application/json", "schema", "properties"} {
		m, ok := v.(object)
		if !ok {
			return nil
		}
		v = m[key]
	}
	properties, _ := v.(object)
	return slices.Sorted(maps.Keys(properties))
}

// filled puts ids into the path of a route.
func (o *office) filled(route, id string) string {
	return strings.NewReplacer("{id}", id, "{user}", fmt.Sprint(o.staff.UserID)).Replace(route)
}
