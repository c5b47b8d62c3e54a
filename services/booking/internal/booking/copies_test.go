package booking

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestWhatBookingMakesOfTheNewsAboutContacts(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("appointments follow their contact", func(t *testing.T) {
		o := o.again(t, nil)
		token := o.token(o.service)
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "a@example.com")).Is(201)
		a := o.admin.Get("/appointments").Is(200)
		id, provisional := a.Text("items.0.id"), a.Text("items.0.contact.id")

		// Somebody else was first with the address: contacts says who it really is.
		real := uuid.NewString()
		as := func(id, name string, version int64, extra object) func(e *apptest.Event) {
			return func(e *apptest.Event) {
				e.Key, e.Version = id, version
				data := e.Data.(object)
				data["id"], data["first_name"], data["last_name"], data["email"] = id, name, "", "a@example.com"
				if extra != nil {
					e.Extra = extra
				}
			}
		}
		o.SendSample("contacts.contact/contact.created", as(real, "Real", 1, nil))
		o.SendSample("contacts.contact/contact.ensured", as(real, "Real", 1,
			object{"origin": "appointment", "origin_id": id, "requested_id": provisional, "contact_id": real, "result": "unchanged"}))
		o.Settle()
		require.Equal(t, real, o.admin.Get("/appointments/"+id).Is(200).Text("contact.id"))
		require.Equal(t, "Real", o.admin.Get("/appointments/"+id).Is(200).Text("contact.name"))

		winner := o.contact(0)
		o.SendSample("contacts.contact/contact.merged", as(winner, "Winner", 2, object{"merged_id": real}))
		o.Settle()
		require.Equal(t, "Winner", o.admin.Get("/appointments/"+id).Is(200).Text("contact.name"))
		require.Equal(t, []string{proto.KindAppointmentBooked, proto.KindAppointmentUpdated, proto.KindAppointmentUpdated}, o.kinds(id))

		o.SendSample("contacts.contact/contact.updated", as(winner, "Stale", 1, nil))
		o.Settle()
		require.Equal(t, "Winner", o.admin.Get("/appointments/"+id).Is(200).Text("contact.name"))

		o.SendSample("contacts.contact/contact.erased", func(e *apptest.Event) { e.Key, e.Data.(object)["id"] = winner, winner })
		o.Settle()
		o.admin.Get("/appointments/"+id).Fails(404, "svc_not_found")
		kinds := o.kinds(id)
		require.Equal(t, "tombstone", kinds[len(kinds)-1])
		o.Visitor().Post("/booking/manage", object{"token": linkIn(t, o.lastMail("a@example.com"))}).Fails(400, "svc_invalid_token")
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "b@example.com")).Is(201)
	})
	t.Run("only the appointment that asked leaves a contact that is still there", func(t *testing.T) {
		o := o.again(t, nil)
		asked, other := o.contact(0), o.contact(0)
		stays := o.book(asked, o.at(2, "10:00")).Is(201).Text("id")
		moves := o.book(asked, o.at(3, "10:00")).Is(201).Text("id")
		answer := func(e *apptest.Event) {
			e.Key, e.Version = other, 2
			e.Data.(object)["id"] = other
			e.Extra = object{"origin": "appointment", "origin_id": moves, "requested_id": asked, "contact_id": other, "result": "unchanged"}
		}
		// The address that was typed is another contact's by now.
		o.SendSample("contacts.contact/contact.ensured", answer)
		o.SendSample("contacts.contact/contact.ensured", answer)
		o.Settle()
		contactOf := func(id string) string { return o.admin.Get("/appointments/" + id).Is(200).Text("contact.id") }
		require.Equal(t, other, contactOf(moves))
		require.Equal(t, asked, contactOf(stays))
		o.book(asked, o.at(4, "10:00")).Is(201)
	})
	t.Run("contacts is not asked again about a client of whom it made no contact", func(t *testing.T) {
		o := o.again(t, nil)
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "a@example.com")).Is(201)
		m := o.asked()[0]
		require.Equal(t, 1, o.gauge("booking.unanswered"))
		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactEnsured, Key: m.GetContactId(), Data: nil,
			Extra: object{"origin": m.GetOrigin(), "origin_id": m.GetOriginId(), "requested_id": m.GetContactId(), "result": "none"}})
		o.Settle()
		require.Equal(t, 0, o.gauge("booking.unanswered"))
		o.Travel(25 * time.Hour)
		o.run("unanswered")
		require.Len(t, o.asked(), 1)
	})
	t.Run("the end of a contact says whether it was merged erased or is gone", func(t *testing.T) {
		o := o.again(t, nil)
		merged, survivor, gone, erased := o.contact(0), o.contact(0), o.contact(0), o.contact(0)
		booked := map[string]string{}
		for i, contact := range []string{merged, gone, erased} {
			booked[contact] = o.book(contact, o.at(2, []string{"09:00", "10:00", "11:00"}[i])).Is(201).Text("id")
		}
		// A consumer that was away for long sees nothing but the last message of each.
		o.SendSample("contacts.contact/contact.merged_away", func(e *apptest.Event) { e.Key, e.Extra = merged, object{"into": survivor} })
		require.NoError(t, o.Neighbours.Send(t.Context(), []db.Message{{Topic: proto.ContactTopic, Key: gone}}))
		o.SendSample("contacts.contact/contact.erased", func(e *apptest.Event) { e.Key, e.State = erased, true })
		o.Settle()
		require.Equal(t, survivor, o.admin.Get("/appointments/"+booked[merged]).Is(200).Text("contact.id"))
		require.Equal(t, gone, o.admin.Get("/appointments/"+booked[gone]).Is(200).Text("contact.id"), "the appointment is booking's own")
		o.admin.Get("/appointments/"+booked[erased]).Fails(404, "svc_not_found")
		var left []string
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select array_agg(id::text) from contact`).Scan(&left))
		require.Equal(t, []string{survivor}, left)
	})
	t.Run("state brings a copy up to date and does nothing else", func(t *testing.T) {
		o := o.again(t, nil)
		id := o.contact(0, "before@example.com")
		a := o.book(id, o.at(2, "10:00")).Is(201).Text("id")
		mails := len(o.Events(proto.MailTopic))
		// The owner went back to a backup, and counted this version for the second time.
		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: id, Version: 1, State: true,
			Data: object{"id": id, "first_name": "After", "last_name": "", "email": "after@example.com"}})
		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: id, Version: 1,
			Data: object{"id": id, "first_name": "Late", "last_name": "", "email": "late@example.com"}})
		o.Settle()
		require.Equal(t, "After", o.admin.Get("/appointments/"+a).Is(200).Text("contact.name"))
		require.Len(t, o.Events(proto.MailTopic), mails)
		require.Equal(t, []string{proto.KindAppointmentBooked}, o.kinds(a))
	})
	t.Run("a trashed contact is not booked for", func(t *testing.T) {
		o := o.again(t, nil)
		id := o.contact(0, "t@example.com")
		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactDeleted, Key: id, Version: 2, Data: object{"id": id, "first_name": "T",
			"email": "t@example.com", "deleted_at": stamp(o.Now())}})
		o.Settle()
		o.book(id, o.at(2, "10:00")).Fails(404, "svc_not_found")
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "t@example.com")).Is(201)
		require.NotEqual(t, id, o.admin.Get("/appointments").Is(200).Text("items.0.contact.id"))
	})
	t.Run("an erased contact leaves nothing in the outbox", func(t *testing.T) {
		o := o.again(t, nil)
		id := o.contact(0)
		o.book(id, o.at(2, "10:00")).Is(201)
		o.SendSample("contacts.contact/contact.erased", func(e *apptest.Event) { e.Key, e.Data.(object)["id"] = id, id })
		o.Settle()
		require.Empty(t, o.admin.Get("/appointments").Is(200).Items())
		var left int
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select (select count(*) from contact) + (select count(*) from manage_token)`).Scan(&left))
		require.Zero(t, left)
	})
}

// asked are the commands to contacts so far.
func (o *office) asked() (all []*proto.EnsureContact) {
	o.t.Helper()
	for _, e := range o.Events(proto.ContactsCommandTopic) {
		m := &proto.EnsureContact{}
		require.NoError(o.t, protobuf.Unmarshal(e.GetData(), m))
		all = append(all, m)
	}
	return all
}

func TestContactsIsAskedAgainAboutAClientWhoIsUnansweredForADay(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	token := o.token(o.service)
	for _, clock := range []string{"10:00", "12:00"} { // the second one is booked for the same client
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, clock), "a@example.com")).Is(201)
		o.Travel(time.Second)
	}
	o.book(o.contact(0), o.at(3, "10:00")).Is(201)
	first := o.asked()
	require.Len(t, first, 2)
	o.run("unanswered")
	require.Len(t, o.asked(), 2, "contacts has a day to answer")

	o.Travel(25 * time.Hour)
	o.run("unanswered")
	o.run("unanswered")
	again := o.asked()
	require.Len(t, again, 3, "once a day, and once for a client")
	require.Equal(t, first[0].String(), again[2].String())
	require.Equal(t, "Bea Maes", o.Events(proto.ContactsCommandTopic)[2].GetActor().GetLabel())

	// The client was another contact.
	real := o.contact(0, "a@example.com")
	o.SendSample("contacts.contact/contact.ensured", func(e *apptest.Event) {
		e.Key, e.Version, e.Data.(object)["id"] = real, 1, real
		e.Extra = object{"origin": again[2].GetOrigin(), "origin_id": again[2].GetOriginId(), "requested_id": again[2].GetContactId(), "contact_id": real, "result": "unchanged"}
	})
	o.Settle()
	require.EqualValues(t, 2, o.admin.Get("/appointments?contact="+real).Is(200).Field("total"))
	var provisional int
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from contact where version = 0`).Scan(&provisional))
	require.Zero(t, provisional)
	o.Travel(25 * time.Hour)
	o.run("unanswered")
	require.Len(t, o.asked(), 3)
}

func TestManyCallsWaitForACopyWithoutAConnection(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, apptest.Connections(2))
	const calls = 7
	arrived := false
	for try := 0; try < 5 && !arrived; try++ { // a busy machine may take longer than a call waits
		id := uuid.NewString()
		pool := o.Kit.DB.Pool
		looked := pool.Stat().AcquireCount() + calls
		var asked []func() *apptest.Answer
		for i := range calls {
			asked = append(asked, apptest.Aside(t, func() *apptest.Answer { return o.book(id, o.at(2+calls*try+i, "10:00")) }))
		}
		o.Eventually(func() bool { s := pool.Stat(); return s.AcquireCount() >= looked && s.AcquiredConns() == 0 })
		o.admin.Get("/services").Is(200)
		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactCreated, Key: id, Version: 1, Data: object{
			"id": id, "first_name": "An", "last_name": "Peeters", "email": "an@example.com", "phone": "", "owner_user_id": nil, "deleted_at": nil}})
		var answers []*apptest.Answer
		for _, answer := range asked {
			answers = append(answers, answer())
		}
		arrived = len(answers) == calls
		for _, a := range answers {
			arrived = arrived && a.Status == 201
		}
	}
	require.True(t, arrived, "who waits with a connection keeps the contact away")
	o.book(uuid.NewString(), o.at(1, "10:00")).Fails(404, "svc_not_found")
}

func TestAfterALongAbsenceACopyHasNothingThatItsTopicHasNot(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	gone, stays := o.contact(0), o.contact(0)
	a := o.book(gone, o.at(2, "10:00")).Is(201).Text("id")
	organization := uuid.NewString()
	o.Send(apptest.Event{Topic: proto.OrganizationTopic, Kind: proto.KindOrganizationCreated, Key: organization, Version: 1, Data: object{"id": organization}})
	task := uuid.NewString()
	o.Send(apptest.Event{Topic: proto.TaskTopic, Kind: proto.KindTaskCreated, Key: task, Version: 1, Data: object{"id": task}})
	o.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormCreated, Key: "8", Version: 1, Data: object{"id": 8, "status": "publish"}})
	o.Send(apptest.Event{Topic: proto.PageTopic, Kind: proto.KindPageCreated, Key: "9", Version: 1, Data: object{"id": 9}})
	o.Settle()
	// What the topics had before they were compacted, and a client whom contacts has not made yet.
	o.exec(`update contact set id = gen_random_uuid() where id = $1`, gone)
	o.exec(`insert into contact (id, version) values (gen_random_uuid(), 0)`)
	o.exec(`insert into organization (id, version) values (gen_random_uuid(), 4)`)
	o.exec(`insert into task (id, version) values (gen_random_uuid(), 4)`)
	o.exec(`insert into form (id, version, status, trashed, elements) values (7, 1, 'publish', false, '[]')`)
	o.exec(`insert into page (id, version, title, slug, status, content, url) values (7, 1, '', '', '', '', '')`)
	require.Equal(t, map[string][]string{proto.ContactTopic: {stays}, proto.OrganizationTopic: {organization}, proto.TaskTopic: {task}, proto.FormTopic: {"8"}, proto.PageTopic: {"9"}}, o.Absent())
	o.admin.Get("/appointments/" + a).Is(200)
	var provisional int
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from contact where version = 0`).Scan(&provisional))
	require.Equal(t, 1, provisional)
}

func TestAnAppointmentThatWasReadOtherwiseIsPublishedUnderTheAddressOfItsClient(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "d'hondt@example.com")).Is(201)
	o.run("people")
	require.Len(t, o.Events(proto.AppointmentTopic), 1, "it was read just now")
	o.exec(`update appointment set read_as = 0`)
	o.run("people")
	o.run("people")
	sent := o.Events(proto.AppointmentTopic)
	require.Len(t, sent, 2)
	require.EqualValues(t, 2, sent[1].GetVersion())
	var named proto.PeopleNamed
	require.NoError(t, bus.Event{Extra: sent[1].GetExtra()}.DecodeExtra(&named))
	require.Equal(t, [][]byte{o.Kit.Keys.Person("d'hondt@example.com")}, named.GetCalled())
}

func TestEverythingSentLooksAsItsSampleSays(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	contact := o.contact(0)
	done := func(start string, triggers ...string) {
		id := o.book(contact, o.at(2, start), object{"status": "pending"}).Is(201).Text("id")
		for _, trigger := range triggers {
			if trigger == "complete" || trigger == "no-show" {
				o.exec(`update appointment set starts_at = starts_at - interval '7 days', ends_at = ends_at - interval '7 days' where id = $1`, id)
			}
			body := object{}
			switch trigger {
			case "reschedule":
				body["starts_at"] = stamp(o.at(3, start))
			case "place":
				body["location"] = "Elsewhere 4"
			}
			o.admin.Post("/appointments/"+id+"/"+trigger, body).Is(200)
		}
		o.admin.Patch("/appointments/"+id, object{"notes": "seen"}).Is(200)
	}
	done("09:00", "confirm", "reschedule", "place", "cancel")
	done("10:00", "decline")
	done("11:00", "confirm", "complete")
	done("12:00", "confirm", "no-show")
	o.book(contact, o.at(4, "16:00")).Is(201)
	o.Travel(o.at(3, "16:30").Sub(o.Now()))
	o.run("reminders")
	o.Sample(proto.AppointmentTopic)
	require.Equal(t, 5, o.PublishesStateAgain(proto.AppointmentTopic))

	o.admin.Patch("/services/"+o.service, object{"name": "Renamed"}).Is(200)
	o.admin.Delete("/services/"+o.service, nil).Is(200)
	o.admin.Patch("/settings/booking", object{"slot_step": 30}).Is(200)
	o.Sample(proto.ServiceTopic)
	require.Equal(t, 2, o.PublishesStateAgain(proto.ServiceTopic))

	o.admin.Patch(path("/staff/%d", o.staff.UserID), object{"name": "Dr. Wouters", "meeting_url": "https://meet.example.com/w"}).Is(200)
	require.NotZero(t, o.PublishesStateAgain(proto.StaffTopic))
	o.admin.Delete(path("/staff/%d", o.staff.UserID), object{"successor": o.admin.UserID}).Is(200)
	o.Sample(proto.StaffTopic)
}

func TestWhoAsksOnWithTheNewestTimeSeesWhatWasCommittedLate(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	contact := o.contact(0)
	late := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
	booked := o.book(contact, o.at(2, "11:00")).Is(201)
	soon := booked.Text("id")
	require.Equal(t, o.appointment(soon).Text("updated_at"), booked.Text("updated_at"), "the row's, not that of the process's clock")
	o.Travel(o.at(1, "12:00").Sub(o.Now())) // the process's clock is not the database's
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "12:00"), "visitor@example.com")).Is(201)
	visitors := o.admin.Get(path("/appointments?from=%s", o.at(2, "12:00").Format(time.DateOnly))).Is(200)
	require.Equal(t, "booking", visitors.Text("items.0.source"))
	for _, e := range o.Events(proto.AppointmentTopic) {
		if e.GetRecordId() == visitors.Text("items.0.id") {
			require.Contains(t, string(e.GetData()), `"updated_at":"`+visitors.Text("items.0.updated_at")+`"`, "the event of a visitor's booking has the row's, too")
		}
	}
	seen := func(since string) (ids []any, newest string) {
		for _, a := range o.admin.Get("/appointments?updated_since=" + since).Is(200).Items() {
			ids, newest = append(ids, a["id"]), a["updated_at"].(string)
		}
		return ids, newest
	}
	tx := o.Begin()
	_, err := tx.Exec(t.Context(), `update appointment set notes = 'late', updated_at = null where id = $1`, late)
	require.NoError(t, err)
	o.nextSecond()
	o.admin.Patch("/appointments/"+soon, object{"notes": "soon"}).Is(200)
	_, newest := seen("2020-01-01T00:00:00Z")
	require.NoError(t, tx.Commit(t.Context()))
	ids, _ := seen(newest)
	require.Subset(t, ids, []any{late, soon})
}

func TestWhoHasOpenTasksIsNotRemovedWithoutASuccessor(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	leaver := o.As("staff")
	tell := func(version int64, kind string, done any) func(id string) {
		return func(id string) {
			o.Send(apptest.Event{Topic: proto.TaskTopic, Kind: kind, Key: id, Version: version, Data: object{"id": id, "title": "Call", "owner_user_id": leaver.UserID, "done_at": done}})
			o.Settle()
		}
	}
	ticked, dropped := uuid.NewString(), uuid.NewString()
	tell(1, proto.KindTaskCreated, nil)(ticked)
	tell(1, proto.KindTaskCreated, nil)(dropped)
	remove := path("/staff/%d", leaver.UserID)
	o.admin.Delete(remove, nil).Fails(400, "svc_invalid_param")
	tell(2, proto.KindTaskDone, o.Now().UTC())(ticked)
	o.admin.Delete(remove, nil).Fails(400, "svc_invalid_param")
	tell(2, proto.KindTaskDeleted, nil)(dropped)
	o.admin.Delete(remove, nil).Is(200)
}
