package booking

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/address"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// forget erases a person as contacts would ask for it, by ids and addresses.
func (o *office) forget(ids []string, addresses ...string) {
	o.t.Helper()
	command := &proto.ForgetPerson{Ids: ids}
	for _, a := range addresses {
		command.Called = append(command.Called, o.Kit.Keys.Person(a))
	}
	o.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: uuid.NewString(), Data: command})
	o.Settle()
}

func TestAPersonWhoIsErasedTakesAppointmentsAndStoredAnswersAlong(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	token := o.token(o.service)
	ann, jann := o.visit(o.service, token, o.at(2, "10:00"), "ann@example.com"), o.visit(o.service, token, o.at(2, "11:00"), "jann@example.com")
	visitor := func(v object) *apptest.Answer {
		return o.Visitor().With("Idempotency-Key", v["starts_at"].(string)).Post("/booking/book", v)
	}
	visitor(ann).Is(201)
	kept := visitor(jann).Is(201)
	known := o.contact(0, "known@example.com")
	body := object{"contact": known, "service": o.service, "starts_at": stamp(o.at(2, "12:00"))}
	o.admin.With("Idempotency-Key", "by the team").Post("/appointments", body).Is(201)
	items := o.admin.Get("/appointments").Is(200).Items()
	require.Len(t, items, 3)

	// Contacts has no contact for Ann yet, so only her address identifies her.
	o.forget(nil, "ann@example.com")
	o.forget([]string{known})
	left := o.admin.Get("/appointments").Is(200).Items()
	require.Len(t, left, 1)
	require.Equal(t, items[1]["id"], left[0]["id"])
	kinds := o.kinds(items[0]["id"].(string))
	require.Equal(t, "tombstone", kinds[len(kinds)-1])
	require.Equal(t, kept.Body, visitor(jann).Is(201).Body)
	// The same POST is executed again, and its answer does not name the erased person.
	o.admin.With("Idempotency-Key", "by the team").Post("/appointments", body).Fails(404, "svc_not_found")
	require.Empty(t, visitor(ann).Is(201).Header.Get("Idempotent-Replayed"))
}

func TestAClientWhoBooksAgainAfterTheErasureIsKept(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "ann@example.com")).Is(201)
	o.Travel(-1 << 36)
	o.forget(nil, "ann@example.com")
	require.Len(t, o.admin.Get("/appointments").Is(200).Items(), 1)
}

func TestWhatIsSaidOfOthersLosesAnErasedAddressAndNothingElse(t *testing.T) {
	t.Parallel()
	o := open9to5(t, object{"location_type": "client"})
	bob := o.contact(0, "bob@example.com")
	book := func(clock string, more object) string {
		body := object{"contact": bob, "service": o.service, "starts_at": stamp(o.at(2, clock)), "location": "Kerkstraat 1"}
		for k, v := range more {
			body[k] = v
		}
		return o.admin.Post("/appointments", body).Is(201).Text("id")
	}
	cancelled := func(clock, reason string) string {
		id := book(clock, object{})
		o.admin.Post("/appointments/"+id+"/cancel", object{"reason": reason}).Is(200)
		return id
	}
	others := book("15:00", object{"notes": "ask jann@example.com or o'ann@example.com, at 100 %"})
	before := o.admin.Get("/appointments/" + others).Is(200).Body
	told := []struct{ id, field, left string }{
		{book("09:00", object{"notes": "also invite Ann@Example.com, not jann@example.com"}), "notes", "also invite , not jann@example.com"},
		{book("10:00", object{"location": "at 'ann@example.com'"}), "location", "at ''"},
		{cancelled("11:00", "see https://example.com/?to=ann%40example.com&from=jann%40example.com"), "cancel_reason", "see https://example.com/?to=&from=jann%40example.com"},
		{book("12:00", object{"location_type": "online", "meeting_url": "https://meet.example.com/?who=ann%2540example.com"}), "meeting_url", "https://meet.example.com/?who="},
		{book("13:00", object{"notes": `{"who":"ann\u0040example.com"}`}), "notes", `{"who":""}`},
	}
	o.Travel(2 * time.Second)
	for range 2 { // the second time changes nothing
		o.forget(nil, "ann@example.com")
		for _, c := range told {
			require.Equal(t, c.left, o.admin.Get("/appointments/"+c.id).Is(200).Text(c.field))
			kinds := o.kinds(c.id)
			require.Equal(t, 1, len(slices.DeleteFunc(kinds, func(k string) bool { return k != proto.KindAppointmentUpdated })))
		}
	}
	require.Equal(t, before, o.admin.Get("/appointments/"+others).Is(200).Body)
	require.Len(t, o.kinds(others), 1)
	var indexed string
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select pg_get_expr(indpred, indrelid) from pg_index where indexrelid = 'appointment_names_read'::regclass`).Scan(&indexed))
	require.Contains(t, indexed, address.MayHaveSQL)
}
