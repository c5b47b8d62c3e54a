package submission

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/address"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// forget erases a person as contacts would ask for it, by ids and addresses.
func (d *desk) forget(ids []string, addresses ...string) {
	d.t.Helper()
	command := &proto.ForgetPerson{Ids: ids}
	for _, a := range addresses {
		command.Called = append(command.Called, d.Kit.Keys.Person(address.Key(a)))
	}
	d.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: db.NewID().String(), Data: command})
	d.Settle()
}

func (d *desk) total() any { return d.admin.Get("/submissions").Is(200).Field("total") }

func TestWhoIsErasedLeavesNoSubmission(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("a submission without a contact goes with its address", func(t *testing.T) {
		d := d.again(t)
		free := d.publishWith(m{"elements": []any{field("email", "contact.email"), field("message", "submission.fields.message")}, "new_contacts": m{"create": false}})
		id := ""
		for name, erase := range map[string]func(){
			"an address that found no contact": func() {
				d.send(free, m{"email": "Ann@Bücher.example", "message": "hello"}).Is(200)
				d.contacts(func(_ *proto.EnsureContact, _, extra m) { extra["contact_id"], extra["result"] = "", "none" })
				id = d.only()["id"].(string)
				d.forget(nil, "ann@xn--bcher-kva.example")
			},
			"an address that stands in another answer": func() {
				d.send(free, m{"message": "write to ann@example.com"}).Is(200)
				id = d.only()["id"].(string)
				d.forget(nil, "ann@example.com")
			},
			"whose contact was erased before forms heard of it": func() {
				d.send(d.form, m{"first": "Ann", "email": "other@example.com"}).Is(200)
				id = d.only()["id"].(string)
				for _, c := range d.commands() {
					if c.GetEmail() == "other@example.com" {
						d.forget([]string{c.GetContactId()})
					}
				}
			},
			"details of a booking with a problem": func() {
				id = db.NewID().String()
				var form int64
				_, err := fmt.Sscan(d.form, &form)
				require.NoError(t, err)
				d.Send(apptest.Event{Topic: proto.FormsCommandTopic, Kind: proto.KindRecordSubmission, Key: id,
					Data: &proto.RecordSubmission{SubmissionId: id, FormId: form, Values: []byte(`{"email":"dora@example.com","unknown":"x"}`)}})
				d.Settle()
				require.NotEmpty(t, d.only()["error"])
				d.forget(nil, "Dora@example.com") // nobody whom another case has forgotten in this second
			},
		} {
			t.Run(name, func(t *testing.T) {
				d.t = t
				erase()
				require.EqualValues(t, 0, d.total())
				kinds := d.Kinds(proto.SubmissionTopic, id)
				require.Equal(t, "tombstone", kinds[len(kinds)-1])
			})
		}
	})
	t.Run("what others sent loses an erased address and nothing else", func(t *testing.T) {
		d := d.again(t)
		visitor := d.Visitor().With("Idempotency-Key", "bob")
		body := m{"values": m{"first": "Bob", "email": "jann@example.com", "message": "ask ann@example.com, not jann@example.com"},
			"token": d.token(d.form), "hp_url": "", "page": "https://example.com/?from=ann@example.com"}
		visitor.Post("/forms/"+d.form+"/submit", body).Is(200)
		d.contacts(nil)
		id := d.only()["id"].(string)
		d.forget(nil, "ann@example.com")
		left := d.only()
		require.Equal(t, m{"first": "Bob", "email": "jann@example.com", "message": "ask , not jann@example.com"}, left["values"])
		require.Equal(t, "https://example.com/?from=", left["page"])
		require.Equal(t, []string{proto.KindFormSubmitted, proto.KindSubmissionUpdated}, d.Kinds(proto.SubmissionTopic, id))
		require.NotContains(t, d.admin.Get("/exports/submissions.csv").Is(200).Body, " ann@example.com")
		d.forget(nil, "ann@example.com")
		require.Equal(t, []string{proto.KindFormSubmitted, proto.KindSubmissionUpdated}, d.Kinds(proto.SubmissionTopic, id), "twice is once")
	})
	t.Run("submissions from before are found by their addresses", func(t *testing.T) {
		d := d.again(t)
		free := d.publishWith(m{"elements": []any{field("message", "submission.fields.message")}, "new_contacts": m{"create": false}})
		d.send(free, m{"message": "from ann@example.com"}).Is(200)
		d.send(free, m{"message": "from bob@example.com"}).Is(200)
		// One has no hashes, and the other those of a reading that found less.
		_, err := d.Kit.DB.Pool.Exec(t.Context(), `update submission set read_as = 0, people = case when values::text like '%bob%' then '{}'::bytea[] end`)
		require.NoError(t, err)
		d.forget(nil, "ann@example.com")
		id := d.only()["id"].(string)
		for _, j := range d.Parts.Jobs {
			if j.Name == "people" {
				require.NoError(t, j.Run(t.Context()))
			}
		}
		var people [][]byte
		require.NoError(t, d.Kit.DB.Pool.QueryRow(t.Context(), `select people from submission`).Scan(&people))
		require.Equal(t, [][]byte{d.Kit.Keys.Person("bob@example.com")}, people)
		require.Equal(t, []string{proto.KindFormSubmitted, proto.KindSubmissionUpdated}, d.Kinds(proto.SubmissionTopic, id))
	})
}

func TestDetailsThatArriveAfterTheErasureOfTheirClientAreNotKept(t *testing.T) {
	t.Parallel()
	d := open(t)
	var form int64
	_, err := fmt.Sscan(d.form, &form)
	require.NoError(t, err)
	d.forget(nil, "ann@example.com")
	d.Travel(-1 << 34)
	for _, email := range []string{"ann@example.com", "jann@example.com"} {
		id := db.NewID().String()
		d.Send(apptest.Event{Topic: proto.FormsCommandTopic, Kind: proto.KindRecordSubmission, Key: id,
			Data: &proto.RecordSubmission{SubmissionId: id, FormId: form, Values: []byte(`{"email":"` + email + `"}`)}})
	}
	d.Settle()
	require.Equal(t, "jann@example.com", d.only()["values"].(m)["email"])
}

func TestWhatASenderWhoIsErasedSendsAtThatMomentGoesToo(t *testing.T) {
	t.Parallel()
	d := open(t, apptest.Connections(4))
	free := d.publishWith(m{"elements": []any{field("email", "contact.email"), field("message", "submission.fields.message")}, "new_contacts": m{"create": false}})
	// The submission waits to be stored until the person is forgotten.
	held := d.Begin()
	_, err := held.Exec(t.Context(), `lock table submission in share mode`)
	require.NoError(t, err)
	sent := make(chan *apptest.Answer)
	go func() { sent <- d.send(free, m{"email": "dora@erased.example", "message": "hello"}) }()
	d.Waiting(1)
	d.forget(nil, "dora@erased.example")
	require.NoError(t, held.Rollback(t.Context()))
	(<-sent).Is(200)
	d.Eventually(func() bool {
		var left bool
		require.NoError(t, d.Kit.DB.Pool.QueryRow(t.Context(), `select exists (select from submission) or exists (select from outbox where position('dora@erased.example'::bytea in value) > 0)`).Scan(&left))
		return !left
	})
}
