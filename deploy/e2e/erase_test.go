package e2e

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/deploy/system"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// person is the person to erase, with a name and an address that are unique, and the look-alikes who stay.
type person struct {
	word, first, last, phone string
	email, ascii, shouted    string // one address in three spellings
	alike                    string // an address that ends like it
}

func somebody() person {
	word := "q" + strings.ReplaceAll(uuid.NewString(), "-", "")[:9]
	p := person{word: word, first: "Zeno" + word, last: "Quill" + word, phone: "+32 470 " + fmt.Sprintf("%06d", time.Now().UnixNano()%1000000)}
	p.email, p.ascii = p.first+"@bücher.example", strings.ToLower(p.first)+"@xn--bcher-kva.example"
	p.shouted, p.alike = strings.ToUpper(p.first)+"@BÜCHER.example", "jan"+strings.ToLower(p.first)+"@bücher.example"
	return p
}

// spelt is an address in each form in which a text may hold it, a line each, in front of somebody else's.
func spelt(email, other string) string {
	local, host, _ := strings.Cut(email, "@")
	var lines []string
	for _, a := range []string{email, strings.ToUpper(local) + "@" + host, local + `\u0040` + host, local + "%40" + host, local[:3] + "\u00ad" + local[3:] + "@\u200b" + host,
		`"` + local + `"@` + host, "<" + email + ">", "'" + email + "'"} {
		lines = append(lines, a+" "+other)
	}
	return strings.Join(lines, "\n")
}

// struck is what is left of spelt without the address.
func struck(other string) string {
	var lines []string
	for _, a := range []string{"", "", "", "", "", `"`, "<>", "''"} {
		lines = append(lines, a+" "+other)
	}
	return strings.Join(lines, "\n")
}

// traces are what may not be left: the address in any spelling, each name as a word, also behind the escape of a line's end, the number.
func (p person) traces() traces {
	number := p.phone[len("+32 470 "):]
	return traces{
		regexp.MustCompile(`(?i)(^|\\[nrt]|[^\pL\pN])(` + p.first + `|` + p.last + `)($|[^\pL\pN])|` + p.first[:3] + `\x{ad}` + p.first[3:] + `|470 ?` + number),
		[]string{strings.ToLower(p.first), strings.ToLower(p.last), strings.ToLower(p.first[3:]), number},
	}
}

// traces are what an expression matches. Each match has a word in it, in lower case: where no word is, the expression is not asked, which is slow.
type traces struct {
	what  *regexp.Regexp
	words []string
}

// literal are the traces of a text, in this spelling.
func literal(text string) traces {
	return traces{regexp.MustCompile(regexp.QuoteMeta(text)), []string{strings.ToLower(text)}}
}

// in is where the traces begin in a text, or -1.
func (w traces) in(text string) int {
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(w.words, func(word string) bool { return strings.Contains(lower, word) }) {
		return -1
	}
	if at := w.what.FindStringIndex(text); at != nil {
		return at[0]
	}
	return -1
}

//e2e:broker
func TestNothingOfAPersonWhoIsErasedIsLeftAnywhere(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	echoes(t, d)
	p := somebody()
	free := publish(t, d, map[string]any{"create": false})
	withOrganization := publish(t, d, nil)
	starts, token := d.Slots(t)
	tokens := map[string]string{}
	for _, form := range []string{d.Form, free, withOrganization} {
		f := d
		f.Form = form
		tokens[form] = f.FormToken(t)
	}
	system.Wait()
	submit := func(form string, values map[string]string) string {
		t.Helper()
		key := uuid.NewString()
		visitor.With("Idempotency-Key", key).Post(t, "/forms/"+form+"/submit", map[string]any{"token": tokens[form], "hp_url": "", "page": "https://example.com/?from=" + p.ascii, "values": values}).Is(200)
		return key
	}
	contactOf := func(email string) (id string) {
		t.Helper()
		system.Eventually(t, func() bool {
			for _, c := range d.Admin.Get(t, "/contacts?search="+strings.Split(email, "@")[0]).Is(200).Items() {
				if c["email"] == email {
					id = c["id"].(string)
				}
			}
			return id != ""
		}, "no contact with "+email)
		return id
	}

	// Before there is a contact: what was sent in without one, and details of a booking that do not fit their form.
	submit(free, map[string]string{"email": p.shouted, "message": "I make no contact"})
	command(t, proto.FormsCommandTopic, proto.KindRecordSubmission, uuid.NewString(), &proto.RecordSubmission{SubmissionId: uuid.NewString(), FormId: number(d.Form),
		ContactId: uuid.NewString(), Values: []byte(`{"email":"` + p.ascii + `","unknown":"` + p.first + `"}`)})
	// What makes no contact belongs to one that has the address when contacts handles it, so contacts has both before it makes any.
	var data *system.Answer
	withoutContact := func() bool {
		data = d.Admin.Post(t, "/privacy/personal-data", map[string]string{"email": p.shouted}).Is(200)
		submissions, _ := data.Field("submissions").([]any)
		return len(submissions) == 2
	}
	system.Eventually(t, withoutContact, "contacts does not have what was sent without a contact")
	// One in the trash, and somebody else who had the address before.
	trashed := d.Admin.Post(t, "/contacts", map[string]any{"first_name": p.first, "last_name": p.last, "email": p.email}).Is(201).Text("id")
	d.Admin.Call(t, "DELETE", "/contacts/"+trashed, nil).Is(204)
	other := d.Admin.Post(t, "/contacts", map[string]any{"first_name": "A" + p.first + "s", "last_name": p.last + "son", "email": p.shouted}).Is(201).Text("id")
	d.Admin.Call(t, "PATCH", "/contacts/"+other, map[string]any{"mode": "overwrite", "email": p.alike}).Is(200)
	d.Admin.Post(t, "/contacts/"+other+"/notes", map[string]any{"body": "had " + p.email + ", has " + p.alike}).Is(201)

	// The person, by every way in.
	submit(d.Form, map[string]string{"first": p.first, "email": p.email, "message": "I am " + p.first + " " + p.last})
	contact := contactOf(p.email)
	booking := d.Booking(starts[7], token, p.shouted)
	booking["values"] = map[string]string{"first_name": p.first, "last_name": p.last, "email": p.shouted}
	visitor.With("Idempotency-Key", uuid.NewString()).Post(t, "/booking/book", booking).Is(201)
	visitor.Post(t, "/booking/manage/cancel", map[string]string{"token": sys.ManageToken(t, p.ascii, 1)}).Is(200)
	d.Admin.With("Idempotency-Key", uuid.NewString()).Call(t, "PATCH", "/contacts/"+contact, map[string]any{"last_name": p.last, "phone": p.phone}).Is(200)
	d.Admin.With("Idempotency-Key", uuid.NewString()).Post(t, "/contacts/"+contact+"/notes", map[string]any{"body": p.first + " likes mornings"}).Is(201)
	d.Admin.Post(t, "/contacts/"+contact+"/marketing/request", map[string]any{"reason": p.first + " asked for it"}).Is(200)
	twin := d.Admin.Post(t, "/contacts", map[string]any{"first_name": p.first, "last_name": "Twin"}).Is(201).Text("id")
	d.Admin.Post(t, "/contacts/"+contact+"/merge", map[string]any{"other_id": twin}).Is(200)
	submit(withOrganization, map[string]string{"first": p.first, "email": p.email, "organization": "House " + p.word})
	submit(d.Form, map[string]string{"first": p.first, "email": p.email, "message": "https://a https://b https://c " + p.last})
	byTeam := map[string]any{"contact": contact, "service": d.Service, "starts_at": starts[9], "notes": p.first + " comes twice"}
	key := uuid.NewString()
	var appointment *system.Answer
	system.Eventually(t, func() bool {
		appointment = d.Admin.With("Idempotency-Key", key).Post(t, "/appointments", byTeam)
		return appointment.Status == 201
	}, "no appointment")
	// What somebody else sent names the person, in every form that an address has in a text, and so does what is written about their appointment.
	submit(d.Form, map[string]string{"first": "Jan" + p.word, "email": p.alike, "message": "ask " + p.shouted + " or " + p.alike + "\n" + p.ascii + " first\n<" + p.email + "> " +
		p.ascii + "/" + p.alike + " https://a.example/?e=" + strings.ReplaceAll(p.ascii, "@", "%40") + "&n=1\n" + spelt(p.ascii, p.alike)})
	theirs := ""
	system.Eventually(t, func() bool {
		a := d.Admin.With("Idempotency-Key", "theirs"+p.word).Post(t, "/appointments", map[string]any{"contact": other, "service": d.Service, "starts_at": starts[11], "notes": "brings <" + p.shouted + ">\n" + spelt(p.ascii, p.alike)})
		if a.Status == 201 {
			theirs = a.Text("id")
		}
		return theirs != ""
	}, "no appointment of somebody else")
	d.Admin.Post(t, "/appointments/"+theirs+"/cancel", map[string]any{"reason": p.ascii + " is ill"}).Is(200)
	// So does each place for a text of the team, in every form that an address has there.
	d.Admin.Post(t, "/contacts/"+other+"/notes", map[string]any{"body": spelt(p.ascii, p.alike)}).Is(201)
	task := d.Admin.Post(t, "/tasks", map[string]any{"title": "Ask " + p.ascii + " or " + p.alike, "body": spelt(p.ascii, p.alike), "contact": other}).Is(201).Text("id")
	// Somebody with an apostrophe, whose name a living colleague has.
	q := somebody()
	q.email = "o'" + strings.ToLower(q.first) + "@example.com"
	d.Admin.Post(t, "/contacts", map[string]any{"first_name": q.first, "last_name": q.last, "email": q.email}).Is(201)
	colleague := d.Admin.Post(t, "/contacts", map[string]any{"first_name": q.first, "last_name": q.last, "email": q.email[2:]}).Is(201).Text("id")
	submit(d.Form, map[string]string{"first": q.first, "email": q.email[2:], "message": "ask " + q.email + ", not " + q.email[2:]})
	// Files: one waits, one has no headers, one is done and had errors.
	file := func(name, csv string) string {
		return d.Admin.With("Idempotency-Key", uuid.NewString()).Post(t, "/imports", map[string]any{"file_name": name, "csv": csv}).Is(201).Text("id")
	}
	waits := file("waits.csv", strings.Join([]string{"first_name,last_name,email", p.first + ",x," + p.shouted, "x,y," + p.ascii, " " + p.first + " ," + p.last + ",",
		"Jan" + p.word + "," + p.last + "son," + p.alike, "A" + p.first + "s," + p.last + "son,"}, "\n"))
	namesakes := file("namesakes.csv", "first_name,last_name,email\n"+q.first+","+q.last+","+q.email[2:]+"\n"+q.first+","+q.last+",\n"+q.first+","+q.last+","+q.email+"\n")
	file("headless.csv", p.first+","+p.last+","+p.ascii+"\nSomebody,Else,"+system.Address("else")+"\n")
	done := file("done.csv", "first_name,email,note\n"+p.first+",nowhere,"+p.shouted+" at work\nJan,nowhere,"+p.alike+" at work\n"+
		"Jan,nowhere,"+strings.ReplaceAll(p.ascii, "@", `\u0040`)+"\nJan,nowhere,"+p.ascii[:3]+"\u00ad"+p.ascii[3:]+"\n")
	d.Admin.Post(t, "/imports/"+done+"/start", map[string]any{"mapping": []string{"first_name", "email", ""}}).Is(200)
	system.Eventually(t, func() bool { return d.Admin.Get(t, "/imports/"+done).Is(200).Text("status") == "completed" }, "the import does not end")
	// Messages that fail in every service.
	command(t, proto.ContactsCommandTopic, proto.KindEnsureContact, p.ascii, &proto.EnsureContact{ContactId: "no id", Email: p.shouted, FirstName: p.first})
	command(t, proto.FormsCommandTopic, proto.KindRecordSubmission, "x", &proto.RecordSubmission{SubmissionId: "no id", Values: []byte(`{"email":"` + p.email + `"}`)})
	event(t, proto.ContactTopic, proto.KindContactUpdated, contact, `{"first_name": 7, "email": "`+p.email+`"}`)
	// Merging organizations erases no person.
	small := d.Admin.Post(t, "/organizations", map[string]any{"name": "Small " + p.word}).Is(201).Text("id")
	// Events of a record that are not sent yet go when it ends.
	mentionsSmall := func() bool { return slices.Contains(tablesWith(t, literal("Small "+p.word)), "webhooks.message") }
	system.Eventually(t, mentionsSmall, "webhooks does not hear of the organization")
	big := d.Admin.Post(t, "/organizations", map[string]any{"name": "Big " + p.word}).Is(201).Text("id")
	d.Admin.Post(t, "/organizations/"+big+"/merge", map[string]any{"other_id": small}).Is(200)

	everywhere := []string{"contacts.contact", "contacts.activity", "contacts.import", "contacts.import_error", "contacts.former_address", "contacts.idempotency", "contacts.parked",
		"booking.contact", "booking.appointment", "booking.idempotency", "booking.parked", "forms.submission", "forms.parked", "settings.mail", "settings.audit",
		"webhooks.message", "webhooks.attempt"}
	var missing []string
	until.Holds(t, func() bool {
		have := tablesWith(t, p.traces())
		missing = slices.DeleteFunc(slices.Clone(everywhere), func(table string) bool { return slices.Contains(have, table) })
		return len(missing) == 0
	}, 40*time.Second, 500*time.Millisecond, "the person does not stand in %v", &missing)
	// The one that made no contact, and the details with a problem, and none of the others when they all have theirs.
	until.Holds(t, withoutContact, 20*time.Second, 200*time.Millisecond, "submissions without a contact")
	require.Len(t, data.Field("contacts"), 2)

	require.EqualValues(t, 2, d.Admin.Post(t, "/privacy/erase", map[string]string{"email": strings.ToUpper(p.ascii)}).Is(200).Field("erased"))
	require.EqualValues(t, 1, d.Admin.Post(t, "/privacy/erase", map[string]string{"email": q.email}).Is(200).Field("erased"))
	gone(t, p.traces())
	gone(t, traces{regexp.MustCompile(`(?i)o'` + q.first + `@`), []string{strings.ToLower(q.first)}})
	for _, id := range []string{contact, twin, trashed} {
		until.Holds(t, func() bool { return erased(t, id) }, time.Minute, 200*time.Millisecond, "the last event of %s is not contact.erased", id)
	}
	// The same request is a new one.
	d.Admin.With("Idempotency-Key", key).Post(t, "/appointments", byTeam).Fails(404, "svc_not_found")
	require.Equal(t, "null", strings.TrimSpace(d.Admin.Post(t, "/privacy/personal-data", map[string]string{"email": p.email}).Is(200).Body))

	// Look-alikes are whole.
	o := d.Admin.Get(t, "/contacts/"+other).Is(200)
	require.Equal(t, p.alike, o.Text("email"))
	require.Equal(t, "A"+p.first+"s", o.Text("first_name"))
	require.Contains(t, d.Admin.Get(t, "/contacts/"+other+"/activities").Is(200).Body, "had , has "+p.alike)
	var notes []any
	for _, e := range d.Admin.Get(t, "/contacts/"+other+"/activities").Is(200).Items() {
		notes = append(notes, e["body"])
	}
	require.Contains(t, notes, struck(p.alike))
	asked := d.Admin.Get(t, "/tasks/"+task).Is(200)
	require.Equal(t, []string{"Ask  or " + p.alike, struck(p.alike)}, []string{asked.Text("title"), asked.Text("body")})
	sent := d.Admin.Get(t, "/submissions?contact="+other).Is(200)
	require.Equal(t, "ask  or "+p.alike+"\n first\n<> /"+p.alike+" https://a.example/?e=&n=1\n"+struck(p.alike), sent.Text("items.0.values.message"))
	cancelled := d.Admin.Get(t, "/appointments/"+theirs).Is(200)
	require.Equal(t, []string{"brings <>\n" + struck(p.alike), " is ill"}, []string{cancelled.Text("notes"), cancelled.Text("cancel_reason")})
	same := d.Admin.Get(t, "/contacts/"+colleague).Is(200)
	require.Equal(t, []string{q.first, q.last, q.email[2:]}, []string{same.Text("first_name"), same.Text("last_name"), same.Text("email")})
	require.Equal(t, "ask , not "+q.email[2:], d.Admin.Get(t, "/submissions?contact="+colleague).Is(200).Text("items.0.values.message"))
	require.Equal(t, []any{[]any{q.first, q.last, q.email[2:]}, []any{q.first, q.last, ""}, []any{"", "", ""}}, d.Admin.Get(t, "/imports/"+namesakes).Is(200).Field("preview"))
	require.Equal(t, []any{[]any{"", "", ""}, []any{"", "", ""}, []any{"", "", ""}, []any{"Jan" + p.word, p.last + "son", p.alike}, []any{"A" + p.first + "s", p.last + "son", ""}},
		d.Admin.Get(t, "/imports/"+waits).Is(200).Field("preview"))
	errors := d.Admin.Get(t, "/imports/"+done).Is(200)
	require.Equal(t, []any{"erased", "svc_invalid_param", "erased", "erased"}, []any{errors.Field("errors.0.code"), errors.Field("errors.1.code"), errors.Field("errors.2.code"), errors.Field("errors.3.code")})
	d.Admin.Get(t, "/organizations/"+big).Is(200)
	require.True(t, mentionsSmall(), "merging organizations erases nobody")
	require.Contains(t, strings.Join(tablesWith(t, literal("jan"+strings.ToLower(p.first))), " "), "webhooks.attempt")
}

func TestAnAddressWithoutAContactIsErasedToo(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	p := somebody()
	free := publish(t, d, map[string]any{"create": false})
	d.Form = free
	token := d.FormToken(t)
	system.Wait()
	for _, email := range []string{p.email, p.alike} {
		visitor.Post(t, "/forms/"+free+"/submit", map[string]any{"token": token, "hp_url": "", "page": "", "values": map[string]string{"email": email, "message": "hello"}}).Is(200)
	}
	system.Eventually(t, func() bool {
		return len(d.Admin.Get(t, "/submissions?form="+free).Is(200).Items()) == 2 && d.Admin.Post(t, "/privacy/personal-data", map[string]string{"email": p.ascii}).Is(200).Field("submissions") != nil
	}, "no submissions")
	require.EqualValues(t, 0, d.Admin.Post(t, "/privacy/erase", map[string]string{"email": p.ascii}).Is(200).Field("erased"))
	gone(t, p.traces())
	left := d.Admin.Get(t, "/submissions?form="+free).Is(200).Items()
	require.Len(t, left, 1)
	require.Equal(t, p.alike, left[0]["values"].(map[string]any)["email"])
}

// publish makes a form with an optional address and the name of an organization.
func publish(t testing.TB, d system.Desk, newContacts any) string {
	t.Helper()
	definition := map[string]any{"elements": []any{
		map[string]any{"id": "first", "type": "field", "target": "contact.first_name", "label": "First name"},
		map[string]any{"id": "email", "type": "field", "target": "contact.email", "label": "Email"},
		map[string]any{"id": "organization", "type": "field", "target": "organization.name", "label": "Company"},
		map[string]any{"id": "message", "type": "field", "target": "submission.fields.message", "label": "Message"},
	}}
	if newContacts != nil {
		definition["new_contacts"] = newContacts
	}
	return fmt.Sprint(d.Admin.Post(t, "/forms", map[string]any{"name": "Free " + uuid.NewString()[:8], "status": "publish", "definition": definition}).Is(201).Field("id"))
}

// echoes subscribes everything for a receiver that repeats what it gets, so that answers hold people as well.
func echoes(t testing.TB, d system.Desk) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	t.Cleanup(server.Close)
	var events []string
	for _, e := range d.Admin.Get(t, "/webhooks/events").Is(200).Items() {
		events = append(events, e["event"].(string))
	}
	id := d.Admin.Post(t, "/webhooks", map[string]any{"name": "Echo", "url": server.URL + "/hook", "active": true, "events": events}).Is(201).Text("webhook.id")
	t.Cleanup(func() { d.Admin.Call(t, "DELETE", "/webhooks/"+id, nil) })
}

func number(id string) (n int64) {
	_, _ = fmt.Sscan(id, &n)
	return n
}

// command sends a command as a service would.
func command(t testing.TB, topic, kind, key string, m protobuf.Message) {
	t.Helper()
	data, err := protobuf.Marshal(m)
	require.NoError(t, err)
	produce(t, topic, key, &proto.Envelope{Kind: kind, Data: data})
}

// event sends an event about a record as its service would.
func event(t testing.TB, topic, kind, key, record string) {
	t.Helper()
	produce(t, topic, key, &proto.Envelope{Kind: kind, Version: 99, Data: []byte(record)})
}

func produce(t testing.TB, topic, key string, env *proto.Envelope) {
	t.Helper()
	env.Id, env.RecordId, env.OccurredAt, env.Actor = uuid.NewString(), key, timestamppb.Now(), &proto.Actor{Channel: "form"}
	value, err := protobuf.Marshal(env)
	require.NoError(t, err)
	client, _, err := sys.Now(t).Broker()
	require.NoError(t, err)
	w := &kafka.Writer{Addr: client.Addr, Transport: client.Transport, Balancer: &kafka.Hash{}, BatchTimeout: time.Millisecond}
	defer w.Close()
	require.NoError(t, w.WriteMessages(t.Context(), kafka.Message{Topic: topic, Key: []byte(key), Value: value}))
}

// gone requires that traces are in no table, in no newest message of a record and in no file.
func gone(t *testing.T, what traces) {
	t.Helper()
	var left []string
	until.Holds(t, func() bool {
		// All topics are read for seconds, in which a table may have changed.
		if left = tablesWith(t, what); len(left) == 0 {
			left = topicsWith(t, what)
		}
		return len(left) == 0
	}, time.Minute, 300*time.Millisecond, "left behind: %v", &left)
	require.Empty(t, filesWith(t, what))
}

// tablesWith are the tables, of all services, with a row in which something matches, as text or in bytes.
func tablesWith(t *testing.T, what traces) (tables []string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	rows, err := db.Query(t.Context(), `select format('%I.%I', schemaname, tablename) from pg_tables
		where schemaname in ('settings', 'contacts', 'booking', 'forms', 'webhooks') order by 1`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(all), 40)
	for _, table := range all {
		rows, err := db.Query(t.Context(), `select x::text from `+table+` x`)
		require.NoError(t, err)
		found := false
		var row string
		_, err = pgx.ForEachRow(rows, []any{&row}, func() error {
			found = found || what.in(row) >= 0 || what.in(bytesIn(row)) >= 0
			return nil
		})
		require.NoError(t, err)
		if found {
			tables = append(tables, table)
		}
	}
	return tables
}

// bytesIn are the binary columns of a row as text. An expression would read each row ten times as long.
func bytesIn(row string) string {
	var b strings.Builder
	for _, part := range strings.Split(row, `\x`)[1:] {
		if end := strings.IndexFunc(part, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }); end >= 0 {
			part = part[:end]
		}
		if raw, err := hex.DecodeString(part); err == nil {
			b.Write(bytes.ToValidUTF8(raw, []byte(" ")))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// topicsWith are the compacted topics in which the newest message of a key matches: older ones are compacted away. The other
// topics drop everything after a week.
func topicsWith(t *testing.T, what traces) (found []string) {
	t.Helper()
	for _, topic := range proto.Topics {
		if !topic.Compacted {
			continue
		}
		for key, value := range newest(t, topic.Name) {
			text := string(bytes.ToValidUTF8(value, []byte(" ")))
			if what.in(text) >= 0 || value != nil && what.in(key) >= 0 {
				found = append(found, topic.Name+" "+key)
			}
		}
	}
	return found
}

// filesWith are the files of the run that match. The database and the broker have been looked through; mails that were
// delivered are in other people's boxes, for which the mail sink stands.
func filesWith(t *testing.T, what traces) (found []string) {
	t.Helper()
	looked := 0
	err := filepath.WalkDir(sys.Data, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			switch e.Name() {
			case "postgres", "kafka", "apache-kafka", "mail":
				return filepath.SkipDir
			}
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil // gone, or not a file to read
		}
		looked++
		if at := what.in(string(raw)); at >= 0 {
			found = append(found, fmt.Sprintf("%s: …%s…", path, raw[max(0, at-200):min(len(raw), at+200)]))
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, looked, 5)
	return found
}

// newest are the newest messages of a topic by key; nil for a tombstone.
func newest(t *testing.T, topic string) map[string][]byte {
	t.Helper()
	broker := sys.Now(t).Kafka
	_, login, err := sys.Now(t).Broker()
	require.NoError(t, err)
	dialer := login.Dialer("", 10*time.Second)
	conn, err := dialer.Dial("tcp", broker)
	require.NoError(t, err)
	defer conn.Close()
	partitions, err := conn.ReadPartitions(topic)
	require.NoError(t, err)
	last := map[string][]byte{}
	for _, p := range partitions {
		leader, err := dialer.DialLeader(t.Context(), "tcp", broker, topic, p.ID)
		require.NoError(t, err)
		begin, end, err := leader.ReadOffsets()
		require.NoError(t, err)
		require.NoError(t, leader.Close())
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Dialer: dialer, Topic: topic, Partition: p.ID, MaxWait: 100 * time.Millisecond})
		require.NoError(t, r.SetOffset(begin))
		for begin < end {
			m, err := r.ReadMessage(t.Context())
			require.NoError(t, err)
			begin = m.Offset + 1
			last[string(m.Key)] = m.Value
		}
		require.NoError(t, r.Close())
	}
	return last
}

// erased reports whether the last message about a contact is contact.erased.
func erased(t *testing.T, id string) bool {
	t.Helper()
	var e proto.Envelope
	require.NoError(t, protobuf.Unmarshal(newest(t, proto.ContactTopic)[id], &e))
	return e.GetKind() == proto.KindContactErased
}
