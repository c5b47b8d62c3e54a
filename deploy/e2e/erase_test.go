package e2e

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
)

func TestNothingOfAPersonWhoIsErasedIsLeftAnywhere(t *testing.T) {
	healthy(t)
	d := setUp(t)
	starts, token := d.slots(t)
	formToken := d.formToken(t)
	wait()
	// Words that nothing else has.
	first, last := "Zeno"+uuid.NewString()[:8], "Quill"+uuid.NewString()[:8]
	email := strings.ToLower(first) + "@example.com"

	sent := d.submission(formToken, email)
	sent["values"] = map[string]string{"first": first, "email": email, "message": "I am " + first + " " + last}
	visitor.with("Idempotency-Key", uuid.NewString()).post(t, "/forms/"+d.form+"/submit", sent).is(200)
	contact := ""
	eventually(t, func() bool {
		found := d.admin.get(t, "/contacts?search="+email).is(200).items()
		if len(found) == 1 {
			contact = found[0]["id"].(string)
		}
		return contact != ""
	}, "no contact")
	booking := d.booking(starts[7], token, email)
	booking["values"] = map[string]string{"first_name": first, "last_name": last, "email": email}
	visitor.with("Idempotency-Key", uuid.NewString()).post(t, "/booking/book", booking).is(201)
	visitor.post(t, "/booking/manage/cancel", map[string]string{"token": manageToken(t, email, 1)}).is(200)
	d.admin.with("Idempotency-Key", uuid.NewString()).call(t, "PATCH", "/contacts/"+contact, map[string]any{"last_name": last, "phone": "+32 470 12 34 56"}).is(200)
	d.admin.with("Idempotency-Key", uuid.NewString()).post(t, "/contacts/"+contact+"/notes", map[string]any{"body": first + " likes mornings"}).is(201)
	d.admin.post(t, "/contacts/"+contact+"/marketing/request", map[string]any{"reason": first + " asked for it"}).is(200)
	// A duplicate that is merged away, one in the trash, and files that name the person: one waits, one is done.
	other := d.admin.post(t, "/contacts", map[string]any{"first_name": first, "last_name": "Twin"}).is(201).text("id")
	d.admin.post(t, "/contacts/"+contact+"/merge", map[string]any{"other_id": other}).is(200)
	csv := "first_name,email\n" + first + "," + email + "\nSomebody," + address("else") + "\n"
	d.admin.post(t, "/imports", map[string]any{"file_name": "waits.csv", "csv": csv}).is(201)
	done := d.admin.post(t, "/imports", map[string]any{"file_name": "done.csv", "csv": csv}).is(201).text("id")
	d.admin.post(t, "/imports/"+done+"/start", map[string]any{"mapping": []string{"first_name", "email"}}).is(200)
	eventually(t, func() bool { return d.admin.get(t, "/imports/"+done).is(200).text("status") == "completed" }, "the import does not end")
	eventually(t, func() bool { return len(holding(t, email)) >= 4 }, "the person is not known everywhere")

	d.admin.post(t, "/privacy/erase", map[string]string{"email": email}).is(200)
	var left []string
	require.Eventually(t, func() bool {
		left = nil
		for _, word := range []string{email, first, last, "470123456"} {
			left = append(left, holding(t, word)...)
		}
		return len(left) == 0
	}, 15*time.Second, 200*time.Millisecond, "left behind: %v", &left)
	for _, id := range []string{contact, other} {
		require.Eventually(t, func() bool { return ends(t, "contacts.contact", id) }, 10*time.Second, 200*time.Millisecond, "the topic goes on to tell of %s", id)
	}
	require.EqualValues(t, 0, d.admin.get(t, "/contacts?include_deleted=true&search="+strings.ToLower(first)).is(200).field("total"))
}

// holding are the tables, of all services, with a row that has the word in it, as text or as bytes.
func holding(t *testing.T, word string) (tables []string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), system(t).Database)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	rows, err := db.Query(t.Context(), `select format('%I.%I', schemaname, tablename) from pg_tables
		where schemaname in ('settings', 'contacts', 'booking', 'forms', 'webhooks') order by 1`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(all), 40)
	for _, table := range all {
		var n int
		err := db.QueryRow(t.Context(), fmt.Sprintf(`select count(*) from %s x where x::text ilike '%%' || $1 || '%%' or x::text like '%%' || $2 || '%%' or x::text like '%%' || $3 || '%%'`, table),
			word, hex.EncodeToString([]byte(word)), hex.EncodeToString([]byte(strings.ToLower(word)))).Scan(&n)
		require.NoError(t, err, table)
		if n > 0 {
			tables = append(tables, fmt.Sprintf("%s (%s, %d)", table, word, n))
		}
	}
	return tables
}

// ends tells whether the last message of a key in a topic is its tombstone.
func ends(t *testing.T, topic, key string) bool {
	t.Helper()
	broker := system(t).Processes["kafka"].URL
	conn, err := kafka.Dial("tcp", broker)
	require.NoError(t, err)
	defer conn.Close()
	partitions, err := conn.ReadPartitions(topic)
	require.NoError(t, err)
	gone := false
	for _, p := range partitions {
		leader, err := kafka.DialLeader(t.Context(), "tcp", broker, topic, p.ID)
		require.NoError(t, err)
		begin, end, err := leader.ReadOffsets()
		require.NoError(t, err)
		require.NoError(t, leader.Close())
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: topic, Partition: p.ID, MaxWait: 100 * time.Millisecond})
		require.NoError(t, r.SetOffset(begin))
		for begin < end {
			m, err := r.ReadMessage(t.Context())
			require.NoError(t, err)
			if begin = m.Offset + 1; string(m.Key) == key {
				gone = len(m.Value) == 0
			}
		}
		require.NoError(t, r.Close())
	}
	return gone
}
