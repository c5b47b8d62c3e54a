package chaos

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// findings are what a comparison with the owners' tables has found, each in a sentence.
type findings struct {
	lost    []string // acknowledged, and not there; or told to nobody
	doubled []string // there more than once
	unequal []string // copies that differ from their owner, messages that were parked
}

func (f *findings) once(what, of string, n int) {
	switch {
	case n == 0:
		f.lost = append(f.lost, what+" of "+of)
	case n > 1:
		f.doubled = append(f.doubled, fmt.Sprintf("%d times %s of %s", n, what, of))
	}
}

// Check compares what the load was acknowledged with the owners' tables, the receiver of webhooks and the mails, and every copy
// with its owner. The system is settled.
func (w *world) Check(t *testing.T, l *load) *findings {
	t.Helper()
	f := &findings{}
	w.checkContacts(t, l, f)
	w.checkBookings(t, l, f)
	w.checkSubmissions(t, l, f)
	w.checkCopies(t, f)
	w.Hook.NoneRefused(t)
	return f
}

// counts reads rows of a text and a number.
func (w *world) counts(t *testing.T, sql string, args ...any) map[string]int {
	t.Helper()
	rows, err := w.DB.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	all := map[string]int{}
	var key string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&key, &n}, func() error { all[key] = n; return nil })
	require.NoError(t, err)
	return all
}

// stored are the contacts with a mark in their address, by id.
func (w *world) stored(t *testing.T, mark string) map[string]contact {
	t.Helper()
	rows, err := w.DB.Query(t.Context(), `select id::text, email, last_name, version from contacts.contact where email like '%'||$1||'%'`, mark)
	require.NoError(t, err)
	stored := map[string]contact{}
	var id string
	var c contact
	_, err = pgx.ForEachRow(rows, []any{&id, &c.email, &c.last, &c.version}, func() error { stored[id] = c; return nil })
	require.NoError(t, err)
	return stored
}

func (w *world) checkContacts(t *testing.T, l *load, f *findings) {
	stored := w.stored(t, l.mark)
	entries := w.counts(t, `select contact_id::text, count(*) from contacts.activity where type = 'created' and contact_id is not null group by 1`)
	told := w.told("contact.created", "contact")
	for id, want := range l.contacts {
		have, ok := stored[id]
		if !ok || have.version < want.version || have.last != want.last {
			f.lost = append(f.lost, fmt.Sprintf("contact %s is %+v, acknowledged %+v", id, have, want))
		}
		f.once("timeline entry 'created'", "contact "+id, entries[id])
		f.once("webhook contact.created", "contact "+id, told[id])
	}
	// Bookings and submissions make one contact each.
	if want := len(l.contacts) + len(l.booked) + len(l.sent); len(stored) > want {
		f.doubled = append(f.doubled, fmt.Sprintf("%d contacts of %d people", len(stored), want))
	} else if len(stored) < want {
		f.lost = append(f.lost, fmt.Sprintf("%d contacts of %d people", len(stored), want))
	}
}

func (w *world) checkBookings(t *testing.T, l *load, f *findings) {
	rows, err := w.DB.Query(t.Context(), `select a.id::text, coalesce(c.email, ''), a.starts_at from booking.appointment a
		left join booking.contact c on c.id = a.contact_id where c.email is null or c.email like '%'||$1||'%'`, l.mark)
	require.NoError(t, err)
	ids := map[string][]string{} // by address
	var id, email string
	var starts time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &email, &starts}, func() error {
		ids[email] = append(ids[email], id)
		if want, ok := l.booked[email]; ok && want != starts.UTC().Format(time.RFC3339) {
			f.lost = append(f.lost, fmt.Sprintf("the time of the appointment of %s: %s, acknowledged %s", email, starts, want))
		}
		return nil
	})
	require.NoError(t, err)
	entries := w.counts(t, `select ref::text, count(*) from contacts.activity where type = 'appointment' and data->>'event' = 'appointment.booked' group by 1`)
	told := w.told("appointment.booked", "appointment")
	mails := map[string]int{}
	for _, m := range w.Mails.sent() {
		mails[m.To]++
	}
	for email := range l.booked {
		f.once("appointment", email, len(ids[email]))
		for _, id := range ids[email] {
			f.once("timeline entry", "appointment "+id, entries[id])
			f.once("webhook appointment.booked", "appointment "+id, told[id])
		}
		f.once("mail", "the booking of "+email, mails[email])
	}
	if n := len(ids[""]); n > 0 {
		f.unequal = append(f.unequal, fmt.Sprint(n, " appointments whose contact booking does not have"))
	}
	var overlaps int
	require.NoError(t, w.DB.QueryRow(t.Context(), `select count(*) from booking.appointment a join booking.appointment b
		on a.id < b.id and a.user_id = b.user_id and a.period && b.period where a.status = 'confirmed' and b.status = 'confirmed'`).Scan(&overlaps))
	if overlaps > 0 {
		f.doubled = append(f.doubled, fmt.Sprint(overlaps, " appointments overlap"))
	}
}

func (w *world) checkSubmissions(t *testing.T, l *load, f *findings) {
	rows, err := w.DB.Query(t.Context(), `select id::text, email from forms.submission where email like '%'||$1||'%'`, l.mark)
	require.NoError(t, err)
	ids := map[string][]string{}
	var id, email string
	_, err = pgx.ForEachRow(rows, []any{&id, &email}, func() error { ids[email] = append(ids[email], id); return nil })
	require.NoError(t, err)
	entries := w.counts(t, `select ref::text, count(*) from contacts.activity where type = 'submission' group by 1`)
	told := w.told("form.submitted", "submission")
	for _, email := range l.sent {
		f.once("submission", email, len(ids[email]))
		for _, id := range ids[email] {
			f.once("timeline entry", "submission "+id, entries[id])
			f.once("webhook form.submitted", "submission "+id, told[id])
		}
	}
}

// told counts the events of a kind that the receiver got, by record. The same webhook-id again is not counted: a sender that dies
// before it stores the answer repeats the request, and receivers recognise it by that id.
func (w *world) told(event, record string) map[string]int {
	ids := map[string][]string{}
	for _, r := range w.Hook.All() {
		if r.Event != event {
			continue
		}
		data, _ := r.Data[record].(map[string]any)
		id, _ := data["id"].(string)
		if !slices.Contains(ids[id], r.ID) {
			ids[id] = append(ids[id], r.ID)
		}
	}
	counts := map[string]int{}
	for id, events := range ids {
		counts[id] = len(events)
	}
	return counts
}

// copies are pairs of queries, of a copy and of its owner, that give the same rows.
var copies = []struct{ name, copied, owner string }{
	{"contacts in booking",
		`select id, version, first_name, last_name, email, phone, owner_user_id, trashed from booking.contact`,
		`select id, version, first_name, last_name, email, phone, owner_user_id, deleted_at is not null from contacts.contact`},
	{"organizations in booking",
		`select id, version, owner_user_id from booking.organization`,
		`select id, version, owner_user_id from contacts.organization where deleted_at is null`},
	{"forms in booking",
		`select id, version, status, trashed from booking.form`,
		`select id, version, status, deleted_at is not null from forms.form`},
	{"contacts in forms",
		`select id, version, email, owner_user_id from forms.contact`,
		`select id, version, email_key, owner_user_id from contacts.contact`},
	{"organizations in forms",
		`select id, version, name from forms.organization`,
		`select id, version, name from contacts.organization where deleted_at is null`},
	{"appointments in contacts",
		`select id, version, contact_id, status, service_id, staff_id, starts_at, ends_at from contacts.appointment`,
		`select id, version, contact_id, status, service_id, user_id, starts_at, ends_at from booking.appointment`},
	{"submissions in contacts",
		`select id, version, contact_id, form_id, status from contacts.submission`,
		`select id, version, contact_id, form_id, status from forms.submission where status = 'received'`},
}

func (w *world) checkCopies(t *testing.T, f *findings) {
	for _, c := range copies {
		for side, sql := range map[string]string{
			"in the copy and not at the owner": `(` + c.copied + ` except ` + c.owner + `)`,
			"at the owner and not in the copy": `(` + c.owner + ` except ` + c.copied + `)`,
		} {
			rows, err := w.DB.Query(t.Context(), `select x::text from `+sql+` x`)
			require.NoError(t, err)
			differ, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, c.name)
			for _, row := range differ {
				f.unequal = append(f.unequal, c.name+", "+side+": "+row)
			}
		}
	}
	for _, s := range system.Services {
		rows, err := w.DB.Query(t.Context(), `select topic || ' ' || key || ': ' || error from `+s+`.parked`)
		require.NoError(t, err)
		parked, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		for _, p := range parked {
			f.unequal = append(f.unequal, "parked by "+s+": "+p)
		}
	}
	w.checkIdentity(t, f)
}

// checkIdentity compares the copies of people and keys by what they do: each service takes a key that was made now, and no longer
// when it has been revoked.
func (w *world) checkIdentity(t *testing.T, f *findings) {
	key := w.System.SignIn(t).Post(t, "/me/application-passwords", map[string]string{"name": "checked"}).Is(201)
	c := w.System.Visitor().As("admin", key.Text("password"))
	paths := map[string]string{"settings": "/me", "contacts": "/contacts?per_page=1", "booking": "/services", "forms": "/forms", "webhooks": "/webhooks"}
	expect := func(status int) {
		for service, path := range paths {
			got := 0
			for until := time.Now().Add(5 * time.Second); time.Now().Before(until) && got != status; time.Sleep(50 * time.Millisecond) {
				if a, err := c.Try(context.Background(), "GET", path, nil); err == nil {
					got = a.Status
				}
			}
			if got != status {
				f.unequal = append(f.unequal, fmt.Sprintf("%s answers a key with %d, not %d", service, got, status))
			}
		}
	}
	expect(200)
	w.System.SignIn(t).Call(t, "DELETE", "/me/application-passwords/"+key.Text("id"), nil).Is(204)
	expect(401)
}
