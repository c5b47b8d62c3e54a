package notices

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ical "github.com/emersion/go-ical"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/site"
)

type object = map[string]any

// desk is the room alone, in a business whose zone is Brussels, at nine in the morning of a day in March.
type desk struct {
	*apptest.Service
	t    testing.TB
	room *Room
	seen int
}

func open(t testing.TB) *desk {
	t.Helper()
	d := &desk{t: t}
	d.Service = apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		s := site.New(k, func(context.Context, *db.Tx, string) (bool, error) { return false, nil })
		d.room = New(k, s)
		d.room.Mine(set)
		require.NoError(t, k.DB.Do(t.Context(), func(tx *db.Tx) error {
			if err := roles.Add(t.Context(), tx); err != nil {
				return err
			}
			return document.Add(t.Context(), tx, s.First())
		}))
		parts := d.room.Parts()
		parts.Jobs = nil // the tests run them
		return []app.Room{{Name: "document", Parts: document.New(k).Parts()}, {Name: "site", Parts: s.Parts()}, {Name: "notices", Parts: parts}}
	})
	d.SetSite(document.General, object{"business": object{"name": "Salon", "email": "office@example.com"}, "country": "GB", "mail_from": "salon@example.com"})
	d.Eventually(func() bool { return d.Kit.Site.Business().Name == "Salon" })
	d.at("2027-03-26 09:00")
	return d
}

// in makes t the test that fails from here on.
func (d *desk) in(t testing.TB) { d.t, d.Service = t, d.For(t) }

// at moves the clock to a local time.
func (d *desk) at(local string) {
	d.t.Helper()
	t, err := time.ParseInLocation("2006-01-02 15:04", local, d.Kit.Config.Zone)
	require.NoError(d.t, err)
	d.Travel(t.Sub(d.Now()))
}

// member is somebody of the team who can sign in.
func (d *desk) member(role string) *apptest.Client {
	d.t.Helper()
	c := d.As(role)
	_, err := d.Kit.DB.Pool.Exec(d.t.Context(), `insert into person (id, login, name, email, roles, password, created_at, updated_at) overriding system value
		values ($1, $2, 'Noor', $2 || '@example.com', array[$3], 'hash', now(), now())`, c.UserID, c.Login, role)
	require.NoError(d.t, err)
	return c
}

// visit is a notice of an appointment at ten o'clock, some days from now.
func (d *desk) visit(kind, how string, to int64, client string) *proto.Notice {
	calendar := map[string]string{"team_booked": "REQUEST", "team_moved": "REQUEST", "team_cancelled": "CANCEL"}[kind]
	start := d.Now().In(d.Kit.Config.Zone).Truncate(time.Hour).AddDate(0, 0, 3)
	v := &proto.Notice_Visit{Id: uuid.NewString(), Status: "confirmed", Sequence: 2, Service: "Intake", Staff: "Noor", ContactId: uuid.NewString(), Client: client,
		Email: strings.ToLower(strings.ReplaceAll(client, " ", ".")) + "@example.org", Phone: "+32470112233", StartsAt: start.Unix(), EndsAt: start.Add(time.Hour).Unix(), LocationType: "in_person",
		Location: "Kerkstraat 1", Calendar: calendar}
	if calendar == "" {
		v.Status = "pending"
	}
	if how == "moved" {
		v.WasStartsAt = start.Add(-time.Hour).Unix()
	}
	return &proto.Notice{App: "booking", By: client, Visits: []*proto.Notice_Visit{v}, To: []*proto.Notice_Addressee{{UserId: to, Kind: kind, How: how}}}
}

func (d *desk) send(all ...*proto.Notice) {
	d.t.Helper()
	for _, n := range all {
		n.Id = uuid.NewString()
		d.Send(apptest.Event{Topic: proto.MailTopic, Kind: proto.KindTellTeam, Key: n.GetId(), Data: n})
	}
	d.Settle()
}

// mailed runs the job, and gives the mails since the last call.
func (d *desk) mailed() []*proto.Mail {
	d.t.Helper()
	require.NoError(d.t, d.room.mailDue(d.t.Context()))
	d.Settle()
	var all []*proto.Mail
	for _, e := range d.Events(proto.MailTopic) {
		if e.GetKind() == proto.KindMail {
			m := &proto.Mail{}
			require.NoError(d.t, protobuf.Unmarshal(e.GetData(), m))
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *proto.Mail) int { return strings.Compare(a.GetId(), b.GetId()) })
	fresh := all[d.seen:]
	d.seen = len(all)
	return fresh
}

// soon is mailed when nothing has been added for long enough.
func (d *desk) soon() []*proto.Mail {
	d.t.Helper()
	d.Travel(quiet + time.Second)
	return d.mailed()
}

func calendarOf(t testing.TB, m *proto.Mail) *ical.Calendar {
	t.Helper()
	c, err := ical.NewDecoder(strings.NewReader(string(m.GetCalendar()))).Decode()
	require.NoError(t, err)
	return c
}

func TestWhatOthersDidIsMailed(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("one thing is a mail of its own, with the facts and a calendar file", func(t *testing.T) {
		d.in(t)
		me := d.member("staff")
		n := d.visit("team_booked", "booked", me.UserID, "Bea Maes")
		d.send(n)
		require.Empty(t, d.mailed(), "more may come")
		all := d.soon()
		require.Len(t, all, 1)
		m := all[0]
		require.Equal(t, []string{me.Login + "@example.com", "team_booked", "New appointment: Bea Maes, Intake", "bea.maes@example.org", "booking", "REQUEST"},
			[]string{m.GetTo(), m.GetKind(), m.GetSubject(), m.GetReplyTo(), m.GetApp(), m.GetCalendarMethod()})
		id := n.GetVisits()[0].GetId()
		for _, text := range []string{"Hello Noor,", "Bea Maes has booked an appointment.", "Monday 29 March 2027, 09:00 – 10:00", "+32470112233", "Kerkstraat 1", "/team/appointments/" + id, "/team/settings/notifications"} {
			require.Contains(t, m.GetText(), text)
		}
		e := calendarOf(t, m).Events()[0]
		uid, _ := e.Props.Text(ical.PropUID)
		require.Equal(t, []string{id + "@frontdesk", "2", "mailto:office@example.com", "mailto:" + me.Login + "@example.com"},
			[]string{uid, e.Props.Get(ical.PropSequence).Value, e.Props.Get(ical.PropOrganizer).Value, e.Props.Get(ical.PropAttendee).Value})
		require.Empty(t, d.soon())
	})
	t.Run("a burst is one mail, in turn, with one file of all", func(t *testing.T) {
		d.in(t)
		me, other := d.member("staff"), d.member("staff")
		var first *proto.Notice
		for i := range 60 {
			n := d.visit("team_booked", "taken_over", me.UserID, fmt.Sprintf("Client %02d", i))
			if n.By = "An Admin"; first == nil {
				first = n
			}
			d.send(n)
		}
		gone := d.visit("team_cancelled", "cancelled", me.UserID, "Client 00")
		gone.Visits[0].Id, gone.Visits[0].Sequence = first.GetVisits()[0].GetId(), 3
		d.send(gone, d.visit("team_booked", "booked", other.UserID, "Cid"))
		all := d.soon()
		require.Len(t, all, 2)
		i := slices.IndexFunc(all, func(m *proto.Mail) bool { return m.GetTo() == me.Login+"@example.com" })
		m := all[i]
		require.Equal(t, []string{"team_news", "61 pieces of news", "PUBLISH"}, []string{m.GetKind(), m.GetSubject(), m.GetCalendarMethod()})
		require.Contains(t, m.GetText(), "And 11 more.")
		require.Less(t, strings.Index(m.GetText(), "Client 00"), strings.Index(m.GetText(), "Client 01"))
		events := calendarOf(t, m).Events()
		require.Len(t, events, 60)
		require.Equal(t, "CANCELLED", events[0].Props.Get(ical.PropStatus).Value, "what became of it last")
	})
	t.Run("a rehearsal writes the mails that then go out, as if nothing else waited", func(t *testing.T) {
		d.in(t)
		me, other, off := d.member("staff"), d.member("staff"), d.member("staff")
		off.Patch("/me/notifications", object{"kinds": object{"team_booked": "off"}}).Is(200)
		d.send(d.visit("team_booked", "booked", other.UserID, "Earlier"))
		all := []*proto.Notice{d.visit("team_booked", "booked", me.UserID, "Bea"), d.visit("team_moved", "moved", me.UserID, "Cid"), d.visit("team_booked", "booked", off.UserID, "Dea")}
		var rehearsed []*proto.Mail
		require.NoError(t, d.Kit.DB.Rehearse(t.Context(), func(tx *db.Tx) error {
			var events []bus.Event
			for _, n := range append(slices.Clone(all), d.visit("team_booked", "booked", other.UserID, "Later")) {
				n.Id = db.NewID().String()
				data, err := protobuf.Marshal(n)
				require.NoError(t, err)
				events = append(events, bus.Event{Kind: proto.KindTellTeam, Data: data, At: d.Now()})
				require.NoError(t, d.room.onNotice(t.Context(), tx, events[len(events)-1], n))
			}
			rehearsed = nil
			require.NoError(t, d.room.mailNow(t.Context(), tx, events))
			for _, said := range tx.Emitted() {
				env, m := &proto.Envelope{}, &proto.Mail{}
				require.NoError(t, protobuf.Unmarshal(said.Value, env))
				require.NoError(t, protobuf.Unmarshal(env.GetData(), m))
				rehearsed = append(rehearsed, m)
			}
			return nil
		}))
		require.Len(t, rehearsed, 2)
		require.Equal(t, []string{me.Login + "@example.com", other.Login + "@example.com"}, []string{rehearsed[0].GetTo(), rehearsed[1].GetTo()})
		require.Contains(t, rehearsed[1].GetText(), "Later")
		require.NotContains(t, rehearsed[1].GetText(), "Earlier")
		d.send(all...)
		sent := d.soon()
		i := slices.IndexFunc(sent, func(m *proto.Mail) bool { return m.GetTo() == me.Login+"@example.com" })
		require.Equal(t, []string{sent[i].GetSubject(), sent[i].GetText()}, []string{rehearsed[0].GetSubject(), rehearsed[0].GetText()})
	})
	t.Run("a stream that does not end is mailed after five minutes", func(t *testing.T) {
		d.in(t)
		me := d.member("staff")
		sent, mails := 0, 0
		for range 50 {
			d.send(d.visit("team_booked", "booked", me.UserID, "Cid"))
			sent++
			d.Travel(9 * time.Second)
			mails += len(d.mailed())
		}
		require.Equal(t, 1, mails)
		mails += len(d.soon())
		require.Equal(t, 2, mails)
	})
	t.Run("replicas together mail it once", func(t *testing.T) {
		d.in(t)
		me := d.member("staff")
		d.send(d.visit("team_booked", "booked", me.UserID, "Cid"))
		d.Travel(quiet + time.Second)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { _ = d.room.mailDue(t.Context()) })
		}
		wg.Wait()
		require.Len(t, d.mailed(), 1)
	})
	t.Run("who may see no clients any more, or never accepted, is told nothing", func(t *testing.T) {
		d.in(t)
		gone, invited, deleted := d.member("subscriber"), d.member("staff"), d.member("staff")
		exec(d, `update person set password = null where id = $1`, invited.UserID)
		d.send(d.visit("team_booked", "booked", gone.UserID, "Cid"), d.visit("team_booked", "booked", invited.UserID, "Cid"), d.visit("team_booked", "booked", deleted.UserID, "Cid"))
		exec(d, `delete from person where id = $1`, deleted.UserID)
		d.send(d.visit("team_booked", "booked", deleted.UserID, "Cid"))
		require.Empty(t, d.soon())
		require.Zero(t, count(d))
	})
	t.Run("an address is told in the language of the country", func(t *testing.T) {
		d.in(t)
		n := d.visit("team_request", "requested", 0, "Bea Maes")
		n.To[0].Address = "desk@example.com"
		d.send(n)
		m := d.soon()[0]
		require.Equal(t, []string{"desk@example.com", "New request: Bea Maes, Intake", ""}, []string{m.GetTo(), m.GetSubject(), m.GetCalendarMethod()})
		require.NotContains(t, m.GetText(), "/settings/notifications")
	})
	t.Run("nothing goes out while the app is off", func(t *testing.T) {
		d.in(t)
		me := d.member("staff")
		d.SetApp("booking", false)
		d.Eventually(func() bool { return !d.Kit.Apps.On("booking") })
		d.send(d.visit("team_booked", "booked", me.UserID, "Cid"))
		require.Empty(t, d.soon())
		d.SetApp("booking", true)
		d.Eventually(func() bool { return d.Kit.Apps.On("booking") })
		require.Len(t, d.mailed(), 1)
	})
	t.Run("what visitors typed makes no link", func(t *testing.T) {
		d.in(t)
		me := d.member("staff")
		n := d.visit("team_booked", "booked", me.UserID, "Win at evil.example")
		n.Visits[0].Email = ""
		d.send(n)
		require.NotContains(t, d.soon()[0].GetText(), "evil.example")
	})
}

func exec(d *desk, sql string, args ...any) {
	d.t.Helper()
	_, err := d.Kit.DB.Pool.Exec(d.t.Context(), sql, args...)
	require.NoError(d.t, err)
}

func count(d *desk) (n int) {
	d.t.Helper()
	require.NoError(d.t, d.Kit.DB.Pool.QueryRow(d.t.Context(), `select count(*) from notice`).Scan(&n))
	return n
}

func TestPeopleChooseWhatTheyAreMailed(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("the standard, a change and its version", func(t *testing.T) {
		d.in(t)
		me := d.member("staff")
		a := me.Get("/me/notifications").Is(200)
		require.Equal(t, object{"team_booked": "mail", "team_request": "mail", "team_cancelled": "mail", "team_moved": "mail", "request_waiting": "mail", "agenda": "off",
			"team_submission": "mail", "team_assigned": "mail", "approval_waiting": "mail"}, a.Field("kinds"))
		require.Equal(t, []any{"07:30", nil}, []any{a.Field("digest_at"), a.Field("language")})
		first := a.Header.Get("ETag")
		now := me.With("If-Match", first).Patch("/me/notifications", object{"kinds": object{"team_moved": "off", "team_booked": "digest"}, "digest_at": "18:05", "language": "nl"}).Is(200)
		require.Equal(t, []any{"off", "digest", "mail", "18:05", "nl"}, []any{now.Field("kinds.team_moved"), now.Field("kinds.team_booked"), now.Field("kinds.team_request"), now.Field("digest_at"), now.Field("language")})
		d.Eventually(func() bool { u, _ := d.Kit.Identity.User(me.UserID); return u.GetLanguage() == "nl" }) // other services mail the person too
		me.With("If-Match", first).Patch("/me/notifications", object{"digest_at": "08:00"}).Is(412)
		require.Nil(t, me.Patch("/me/notifications", object{"language": nil}).Is(200).Field("language"))
		for _, wrong := range []object{{"digest_at": "24:00"}, {"digest_at": "7:30"}, {"kinds": object{"team_booked": "sms"}}, {"kinds": object{"unknown": "off"}}, {"language": "es"}, {"digest_at": nil}} {
			me.Patch("/me/notifications", wrong).Fails(400, "svc_invalid_param")
		}
		require.Equal(t, "mail", d.member("staff").Get("/me/notifications").Is(200).Text("kinds.team_moved"), "of others nothing changes")
	})
	t.Run("off is off, also for what waits", func(t *testing.T) {
		d.in(t)
		me := d.member("staff")
		d.send(d.visit("team_booked", "booked", me.UserID, "Cid"))
		me.Patch("/me/notifications", object{"kinds": object{"team_booked": "off"}}).Is(200)
		d.send(d.visit("team_booked", "booked", me.UserID, "Cid"))
		require.Empty(t, d.soon())
	})
	t.Run("a digest goes out once a day at its time, also when the clocks change, and never empty", func(t *testing.T) {
		d.in(t)
		me := d.member("staff")
		me.Patch("/me/notifications", object{"kinds": object{"team_booked": "digest"}, "digest_at": "02:30", "language": "nl"}).Is(200)
		d.at("2027-03-27 12:00")
		d.send(d.visit("team_booked", "booked", me.UserID, "Bea"))
		d.send(d.visit("team_moved", "moved", me.UserID, "Cid"))
		all := d.soon()
		require.Len(t, all, 1, "what is no digest is mailed at once")
		require.Equal(t, "team_moved", all[0].GetKind())
		d.at("2027-03-28 01:59")
		require.Empty(t, d.mailed())
		d.at("2027-03-28 03:30") // half past two does not exist on this day
		all = d.mailed()
		require.Len(t, all, 1)
		require.Equal(t, []string{"team_booked", "1 nieuwe afspraak"}, []string{all[0].GetKind(), all[0].GetSubject()})
		d.at("2027-03-29 02:31")
		require.Empty(t, d.mailed(), "nothing has happened")
		d.at("2027-10-30 12:00")
		d.send(d.visit("team_booked", "booked", me.UserID, "Bea"))
		d.at("2027-10-31 01:59")
		require.Empty(t, d.mailed())
		d.Travel(2 * time.Hour) // half past two comes twice
		require.Len(t, d.mailed(), 1)
		require.Empty(t, d.soon())
	})
}

func TestAgendasAreAskedForAndMailedInTheMorning(t *testing.T) {
	t.Parallel()
	d := open(t)
	me, later := d.member("staff"), d.member("staff")
	d.member("staff")
	asked := func() (all []string) {
		require.NoError(t, d.room.askAgendas(t.Context()))
		d.Settle()
		for _, e := range d.Events(proto.BookingCommandTopic) {
			m := &proto.SendAgenda{}
			require.NoError(t, protobuf.Unmarshal(e.GetData(), m))
			all = append(all, m.GetDay()+" "+time.Unix(m.GetAt(), 0).In(d.Kit.Config.Zone).Format("15:04")+" "+fmt.Sprint(m.GetUserIds()))
		}
		slices.Sort(all)
		return all
	}
	me.Patch("/me/notifications", object{"kinds": object{"agenda": "mail"}}).Is(200)
	later.Patch("/me/notifications", object{"kinds": object{"agenda": "digest", "team_booked": "digest"}, "digest_at": "08:15"}).Is(200)
	require.Empty(t, asked(), "at nine the time of today is over")
	d.at("2027-03-28 07:24")
	require.Empty(t, asked())
	d.at("2027-03-28 07:26")
	one := fmt.Sprintf("2027-03-28 07:30 [%d]", me.UserID)
	require.Equal(t, []string{one}, asked())
	require.Equal(t, []string{one}, asked(), "once")
	agenda := func(to int64, local string) *proto.Notice {
		n := d.visit("agenda", "day", to, "Bea Maes")
		at, err := time.ParseInLocation("2006-01-02 15:04", local, d.Kit.Config.Zone)
		require.NoError(t, err)
		n.By, n.NotBefore, n.NotAfter = "", at.Unix(), at.Add(12*time.Hour).Unix()
		return n
	}
	d.send(agenda(me.UserID, "2027-03-28 07:30"))
	require.Empty(t, d.soon())
	d.at("2027-03-28 07:31")
	all := d.mailed()
	require.Len(t, all, 1)
	require.Equal(t, []string{"agenda", "Your day: Sunday 28 March 2027"}, []string{all[0].GetKind(), all[0].GetSubject()})
	d.at("2027-03-28 08:10")
	require.Len(t, asked(), 2)
	d.send(agenda(later.UserID, "2027-03-28 08:15"), d.visit("team_booked", "booked", later.UserID, "Cid"))
	require.Empty(t, d.soon())
	d.at("2027-03-28 08:15")
	all = d.mailed()
	require.Len(t, all, 1, "the digest has the agenda in it")
	require.Contains(t, all[0].GetText(), "Your day")
	require.Contains(t, all[0].GetText(), "New appointment")
	d.send(agenda(me.UserID, "2027-03-27 07:30"))
	require.Empty(t, d.soon(), "yesterday's is dropped")
	d.SetApp("booking", false)
	d.Eventually(func() bool { return !d.Kit.Apps.On("booking") })
	d.at("2027-03-29 07:31")
	require.Len(t, asked(), 2, "nobody is asked while the app is off")
}

func TestWhoIsErasedIsInNoNotice(t *testing.T) {
	t.Parallel()
	d := open(t)
	me := d.member("staff")
	ann, bob := d.visit("team_booked", "booked", me.UserID, "Ann Leaves"), d.visit("team_booked", "booked", me.UserID, "Bob Stays")
	nameless := d.visit("team_booked", "booked", me.UserID, "Ann Leaves")
	nameless.Visits[0].Email = ""
	contact := uuid.NewString()
	given := &proto.Notice{By: "An", To: []*proto.Notice_Addressee{{UserId: me.UserID, Kind: "team_assigned", How: "assigned"}},
		Given: &proto.Notice_Given{Total: 2, Contacts: []*proto.Notice_Contact{{Id: contact, Name: "Ann Leaves"}, {Id: uuid.NewString(), Name: "Cid Stays"}}}}
	call := &proto.Notice{By: "An", To: []*proto.Notice_Addressee{{UserId: me.UserID, Kind: "team_assigned", How: "task"}},
		Task: &proto.Notice_Task{Id: uuid.NewString(), Title: "Call Ann", Contact: &proto.Notice_Contact{Id: contact, Name: "Ann Leaves"}}}
	sent := &proto.Notice{App: "forms", To: []*proto.Notice_Addressee{{UserId: me.UserID, Kind: "team_submission", How: "submitted"}},
		Submission: &proto.Notice_Sent{Id: uuid.NewString(), Form: "Ask", Lines: []*proto.Notice_Line{{Label: "Friend", Text: "ann.leaves@example.org"}}}}
	d.send(ann, bob, nameless, given, sent, call)
	forget := &proto.ForgetPerson{Ids: []string{contact}, Called: [][]byte{d.Kit.Keys.Person("Ann Leaves"), d.Kit.Keys.Person("ann.leaves@example.org")}}
	d.Travel(time.Second)
	d.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "ann", Data: forget})
	d.Settle()
	require.Equal(t, 2, count(d))
	d.Travel(-10 * time.Second)
	d.send(d.visit("team_booked", "booked", me.UserID, "Ann Leaves")) // it comes late
	d.Travel(10 * time.Second)
	all := d.soon()
	require.Len(t, all, 1)
	require.NotContains(t, all[0].GetText()+all[0].GetSubject(), "Ann")
	require.Contains(t, all[0].GetText(), "Bob Stays")

	// A mail that is on its way goes too, though it has nothing of the person but the name.
	first, second := d.visit("team_booked", "booked", me.UserID, "Dan Leaves"), d.visit("team_cancelled", "cancelled", me.UserID, "Dan Leaves")
	second.Visits[0].ContactId = first.Visits[0].GetContactId()
	d.send(first, second)
	written := d.soon()
	require.Len(t, written, 1)
	require.Contains(t, written[0].GetText(), "Dan Leaves")
	require.NotContains(t, written[0].GetText(), "dan.leaves@")
	waits := func() (n int) {
		require.NoError(t, d.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from outbox where position('Dan Leaves'::bytea in value) > 0`).Scan(&n))
		return n
	}
	require.Equal(t, 1, waits())
	d.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "dan", Data: &proto.ForgetPerson{Ids: []string{first.Visits[0].GetContactId()}}})
	d.Settle()
	require.Zero(t, waits())
}

func TestEachMailSaysWhatHappenedInEachLanguage(t *testing.T) {
	t.Parallel()
	d := open(t)
	now := d.Now()
	one := func(kind, how string) *proto.Notice {
		n := d.visit(kind, how, 1, "Bea Maes")
		switch how {
		case "confirmed", "declined", "taken_over", "request_taken_over", "given_away", "handed", "place":
			n.By = "An Peeters"
		case "expired":
			n.By = ""
		case "waiting":
			n.EndsAt = now.Add(24 * time.Hour).Unix()
		case "day":
			n.NotBefore = now.Unix()
		}
		return n
	}
	all := []*proto.Notice{
		one("team_booked", "booked"), one("team_booked", "confirmed"), one("team_booked", "taken_over"), one("team_request", "requested"), one("team_request", "request_taken_over"),
		one("team_cancelled", "cancelled"), one("team_cancelled", "declined"), one("team_cancelled", "expired"), one("team_cancelled", "given_away"),
		one("team_moved", "moved"), one("team_moved", "place"), one("team_moved", "handed"), one("request_waiting", "waiting"), one("agenda", "day"),
		{By: "An Peeters", To: []*proto.Notice_Addressee{{UserId: 1, Kind: "team_assigned", How: "assigned"}},
			Given: &proto.Notice_Given{Total: 1, Contacts: []*proto.Notice_Contact{{Id: uuid.NewString(), Name: "Bea Maes"}}}},
		{By: "An Peeters", To: []*proto.Notice_Addressee{{UserId: 1, Kind: "team_assigned", How: "assigned"}},
			Given: &proto.Notice_Given{Total: 250, Contacts: []*proto.Notice_Contact{{Id: uuid.NewString(), Name: "Bea Maes"}, {Id: uuid.NewString(), Name: "Cid Claes"}}}},
		{By: "An Peeters", To: []*proto.Notice_Addressee{{UserId: 1, Kind: "team_assigned", How: "task"}},
			Task: &proto.Notice_Task{Id: uuid.NewString(), Title: "Call back", DueOn: "2027-04-01", Contact: &proto.Notice_Contact{Id: uuid.NewString(), Name: "Bea Maes"}}},
		{To: []*proto.Notice_Addressee{{UserId: 1, Kind: "team_submission", How: "submitted"}}, Submission: &proto.Notice_Sent{Id: uuid.NewString(), Form: "Ask us", ReplyTo: "bea@example.org",
			Lines: []*proto.Notice_Line{{Label: "Email", Text: "bea@example.org"}, {Label: "Message", Text: "Good morning", Long: true}}}},
	}
	for _, language := range []string{"en", "nl", "fr", "de"} {
		t.Run(language, func(t *testing.T) {
			w := who{member: true, text: readers(language, "BE", d.Kit.Config.Zone), portal: "https://desk.example.com/team"}
			w.Name, w.Address, w.site.Business.Name, w.site.Business.Email = "Noor", "noor@example.com", "Salon", "office@example.com"
			subjects := map[string]bool{}
			says := func(notices ...*proto.Notice) {
				t.Helper()
				m, err := mail.Render(d.room.letter(now, w, notices, false))
				require.NoError(t, err)
				require.NotRegexp(t, `[{}]|_(text|subject|many)\b`, m.GetSubject()+m.GetText(), "a text or a value is missing")
				subjects[m.GetSubject()] = true
				t.Logf("%s %s\nSubject: %s\n\n%s\n----", language, m.GetKind(), m.GetSubject(), m.GetText())
			}
			for _, n := range all {
				says(n)
			}
			says(all...)
			for i, n := range all {
				if i > 0 && kindOf(n) == kindOf(all[i-1]) {
					says(all[i-1], n)
				}
			}
			require.GreaterOrEqual(t, len(subjects), 13)
		})
	}
}
