package chaos

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"frontdesk/deploy/system"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// onTheLog does to the log of the embedded broker what a broker does to it in a week. Nobody reaches the broker meanwhile.
func (w *world) onTheLog(t *testing.T, do func(*kfake.Cluster)) {
	t.Helper()
	up := w.System.Down(t, "kafka", syscall.SIGTERM)
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(filepath.Join(w.System.Data, "kafka")), kfake.SyncWrites())
	require.NoError(t, err)
	do(broker)
	broker.Close()
	up()
}

// logBytes is the size of a topic's log.
func (w *world) logBytes(t *testing.T, topic string) (n int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(w.System.Data, "kafka"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(path, topic) || filepath.Ext(path) != ".dat" {
			return err
		}
		info, err := e.Info()
		n += info.Size()
		return err
	}))
	return n
}

// sent waits until services have nothing in their outboxes.
func (w *world) sent(t *testing.T, services ...string) {
	t.Helper()
	for _, s := range services {
		until.Holds(t, func() bool { return w.number(t, `select count(*) from `+s+`.outbox where `+unsent) == 0 }, time.Minute, 20*time.Millisecond, s)
	}
}

// handled waits until a service has read all of its topics.
func (w *world) handled(t *testing.T, service string) {
	t.Helper()
	until.Holds(t, func() bool {
		behind, err := w.behind(t.Context())
		for _, b := range behind {
			if strings.HasPrefix(b, service+" ") {
				return false
			}
		}
		return err == nil
	}, time.Minute, 50*time.Millisecond)
}

// Booking and forms are away while all kinds of things happen to contacts, until Kafka has compacted its topics: of each contact the
// last event is left.
func TestServicesThatWereAwayForAWeekAgreeWithTheOthers(t *testing.T) {
	w := start(t)
	names := []string{"edited", "erased", "winner", "loser", "trashed"}
	person, address := map[string]string{}, map[string]string{}
	starts, token := w.Slots(t)
	formToken := w.FormToken(t)
	for _, name := range names {
		address[name] = system.Address(name)
		person[name] = w.person(t, address[name])
	}
	w.Settled(t)
	system.Wait()
	slot := 0
	book := func(email string) {
		t.Helper()
		w.System.Visitor().Post(t, "/booking/book", w.Booking(starts[slot], token, email)).Is(201)
		slot++
	}
	submit := func(email string) {
		t.Helper()
		w.System.Visitor().Post(t, "/forms/"+w.Form+"/submit", w.Submission(formToken, email)).Is(200)
	}
	for _, name := range names {
		book(address[name])
		submit(address[name])
	}
	w.Settled(t)

	// Two visitors book and write. Contacts takes the id that came first for each of them; the other service is away by then.
	contactsUp := w.System.Down(t, "contacts", syscall.SIGTERM)
	bookedFirst, wroteFirst := system.Address("booked-first"), system.Address("wrote-first")
	book(bookedFirst)
	submit(wroteFirst)
	w.sent(t, "booking", "forms")
	book(wroteFirst)
	submit(bookedFirst)
	w.sent(t, "booking", "forms")
	bookingUp, formsUp := w.System.Down(t, "booking", syscall.SIGTERM), w.System.Down(t, "forms", syscall.SIGTERM)
	contactsUp()
	system.Eventually(t, func() bool {
		return w.number(t, `select count(*) from contacts.contact where email = any($1)`, []string{bookedFirst, wroteFirst}) == 2
	}, "contacts has handled the commands")
	w.handled(t, "contacts")

	change := func(id string) {
		t.Helper()
		system.Eventually(t, func() bool {
			return w.Admin.Call(t, "PATCH", "/contacts/"+id, map[string]any{"mode": "overwrite", "last_name": "Changed"}).Status == 200
		}, "contacts is routed to")
	}
	for _, email := range []string{bookedFirst, wroteFirst} {
		var id string
		require.NoError(t, w.DB.QueryRow(t.Context(), `select id::text from contacts.contact where email = $1`, email).Scan(&id))
		change(id)
	}
	change(person["edited"])
	w.Admin.Post(t, "/privacy/erase", map[string]string{"email": address["erased"]}).Is(200)
	w.Admin.Post(t, "/contacts/"+person["winner"]+"/merge", map[string]string{"other_id": person["loser"]}).Is(200)
	w.Admin.Call(t, "DELETE", "/contacts/"+person["trashed"], nil)
	w.sent(t, "contacts")

	before := w.logBytes(t, proto.ContactTopic)
	w.onTheLog(t, func(b *kfake.Cluster) { b.Compact() })
	require.Less(t, w.logBytes(t, proto.ContactTopic), before, "nothing was compacted")
	for _, sql := range []string{
		`update booking.position set current_at = current_at - interval '8 days'`, `update forms.position set current_at = current_at - interval '8 days'`,
		`update booking.appointment set created_at = created_at - interval '8 days'`, `update forms.submission set created_at = created_at - interval '8 days'`,
	} {
		_, err := w.DB.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	began := time.Now()
	bookingUp()
	formsUp()
	w.System.Healthy(t)
	w.Settled(t)
	took := time.Since(began)

	f := &findings{}
	w.checkCopies(t, f)
	require.Equal(t, &findings{}, f)
	require.Equal(t, 2, w.number(t, `select count(*) from booking.appointment where contact_id = $1`, person["winner"]), "the merged contact's appointment is the other's")
	require.Equal(t, 2, w.number(t, `select count(*) from forms.submission where contact_id = $1`, person["winner"]))
	require.Zero(t, w.number(t, `select count(*) from booking.appointment where contact_id = $1`, person["erased"]))
	require.Zero(t, w.number(t, `select count(*) from forms.submission where email = $1`, address["erased"]))
	require.Equal(t, 1, w.number(t, `select count(*) from booking.appointment where contact_id = $1`, person["trashed"]))
	// Appointments and submissions, and what follows from each of them.
	counts := map[string]int{}
	booked, submitted := w.told("appointment.booked", "appointment"), w.told("form.submitted", "submission")
	for _, email := range []string{bookedFirst, wroteFirst} {
		for what, sql := range map[string]string{
			"contact":                  `select count(*) from contacts.contact where email = $1`,
			"appointment":              `select count(*) from booking.appointment a join contacts.contact c on c.id = a.contact_id where c.email = $1`,
			"submission":               `select count(*) from forms.submission s join contacts.contact c on c.id = s.contact_id where c.email = $1`,
			"entry of the appointment": `select count(*) from contacts.activity a join contacts.contact c on c.id = a.contact_id where c.email = $1 and a.type = 'appointment' and a.data->>'event' = 'appointment.booked'`,
			"entry of the submission":  `select count(*) from contacts.activity a join contacts.contact c on c.id = a.contact_id where c.email = $1 and a.type = 'submission'`,
		} {
			counts[what+" of "+email] = w.number(t, sql, email)
		}
		counts["mail to "+email] = w.Mails.count(email)
	}
	for id := range w.counts(t, `select id::text, 1 from booking.appointment`) {
		counts["webhook of appointment "+id] = booked[id]
	}
	for id := range w.counts(t, `select id::text, 1 from forms.submission`) {
		counts["webhook of submission "+id] = submitted[id]
	}
	reportCounts(t, "booking and forms are away until topics are compacted", fmt.Sprint(len(counts), " effects"), took, counts)
}

// A command that the topic drops before its reader has handled it is sent again.
func TestCommandsThatTheTopicDroppedAreSentAgain(t *testing.T) {
	w := start(t)
	starts, token := w.Slots(t)
	formToken := w.FormToken(t)
	w.Settled(t)
	contactsUp := w.System.Down(t, "contacts", syscall.SIGTERM)
	system.Wait()
	var emails []string
	for slot := range 5 {
		booker, writer := system.Address("booker"), system.Address("writer")
		w.System.Visitor().Post(t, "/booking/book", w.Booking(starts[slot], token, booker)).Is(201)
		w.System.Visitor().Post(t, "/forms/"+w.Form+"/submit", w.Submission(formToken, writer)).Is(200)
		emails = append(emails, booker, writer)
	}
	w.sent(t, "booking", "forms")
	dropped := int64(0)
	w.onTheLog(t, func(b *kfake.Cluster) {
		for _, p := range b.PartitionInfos(proto.ContactsCommandTopic) {
			dropped += p.HighWatermark - p.LogStartOffset
			require.NoError(t, b.DeleteRecords(proto.ContactsCommandTopic, p.Partition, -1))
		}
	})
	require.GreaterOrEqual(t, dropped, int64(len(emails)))
	began := time.Now()
	contactsUp()
	w.System.Healthy(t)
	contacts := func() int { return w.number(t, `select count(*) from contacts.contact where email = any($1)`, emails) }
	until.Holds(t, func() bool { return contacts() == len(emails) }, 2*time.Minute, 200*time.Millisecond)
	w.Settled(t)
	took := time.Since(began)
	f := &findings{}
	w.checkCopies(t, f)
	require.Equal(t, &findings{}, f)
	counts := map[string]int{}
	for _, email := range emails {
		counts["contact "+email] = w.number(t, `select count(*) from contacts.contact where email = $1`, email)
		counts["entry of "+email] = w.number(t, `select count(*) from contacts.activity a join contacts.contact c on c.id = a.contact_id
			where c.email = $1 and a.type in ('appointment', 'submission')`, email)
	}
	reportCounts(t, "a topic drops commands before their reader is back", fmt.Sprint(dropped, " commands"), took, counts)
}
