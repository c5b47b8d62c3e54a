package booking

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
	"frontdesk/services/booking/internal/mails"
)

// reminders runs the job and counts the reminders that an address has got.
func (o *office) reminders(email string) (n int) {
	o.t.Helper()
	o.run("reminders")
	for _, m := range o.mails(email) {
		if m.GetKind() == mails.Reminder {
			n++
		}
	}
	return n
}

func TestReminders(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("each goes out once", func(t *testing.T) {
		o := o.again(t, object{"mail_text": "Bring your shoes.\n\nPark behind the house."})
		o.admin.Patch("/settings/booking", object{"reminders": []object{{"hours": 2}, {"hours": 48}, {"hours": 24}}}).Is(200)
		id := o.book(o.contact(0, "c@example.com"), o.at(5, "10:00")).Is(201).Text("id")
		require.Contains(t, o.lastMail("c@example.com").GetText(), "Bring your shoes.\n\nPark behind the house.")
		o.book(o.contact(0, ""), o.at(5, "12:00")).Is(201) // whom no mail reaches
		o.admin.Patch("/services/"+o.service, object{"mail_text": "Bring a towel."}).Is(200)
		told := func() (hours []any) {
			o.run("reminders")
			for _, e := range o.Events(proto.AppointmentTopic) {
				if e.GetKind() == proto.KindAppointmentReminderDue && e.GetRecordId() == id {
					var extra object
					require.NoError(t, json.Unmarshal(e.GetExtra(), &extra))
					hours = append(hours, extra["hours"])
				}
			}
			require.Len(t, hours, o.reminders("c@example.com"))
			return hours
		}
		due := o.at(5, "10:00")
		for _, c := range []struct {
			before time.Duration
			want   []any
		}{{49 * time.Hour, nil}, {47 * time.Hour, []any{48.0}}, {25 * time.Hour, []any{48.0}}, {23 * time.Hour, []any{48.0, 24.0}}, {3 * time.Hour, []any{48.0, 24.0}}, {time.Hour, []any{48.0, 24.0, 2.0}}} {
			o.Travel(due.Add(-c.before).Sub(o.Now()))
			require.Equal(t, c.want, told(), c.before)
			require.Equal(t, c.want, told(), "once")
		}
		require.Contains(t, o.lastMail("c@example.com").GetText(), "Bring a towel.")
		n := 0
		for _, e := range o.Events(proto.AppointmentTopic) {
			if e.GetKind() == proto.KindAppointmentReminderDue {
				n++
			}
		}
		require.Equal(t, 5, n, "of a client without an address too")
	})
	t.Run("one that was sent does not come again with a short move, and later ones do", func(t *testing.T) {
		o := o.again(t, nil)
		o.admin.Patch("/settings/booking", object{"reminders": []object{{"hours": 24}, {"hours": 2}}}).Is(200)
		id := o.book(o.contact(0, "c@example.com"), o.at(5, "10:00")).Is(201).Text("id")
		o.Travel(o.at(4, "10:30").Sub(o.Now()))
		require.Equal(t, 1, o.reminders("c@example.com"))
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(1, "14:00"))}).Is(200)
		o.Travel(4 * time.Hour)
		require.Equal(t, 1, o.reminders("c@example.com"), "the first has gone out")
		o.Travel(o.at(1, "12:30").Sub(o.Now()))
		require.Equal(t, 2, o.reminders("c@example.com"))
		o.Travel(time.Hour)
		require.Equal(t, 2, o.reminders("c@example.com"))
	})
	t.Run("after an outage the last one goes out alone", func(t *testing.T) {
		o := o.again(t, nil)
		o.admin.Patch("/settings/booking", object{"reminders": []object{{"hours": 48}, {"hours": 24}}}).Is(200)
		o.book(o.contact(0, "c@example.com"), o.at(5, "10:00")).Is(201)
		o.SetApp(appID, false)
		o.Travel(o.at(4, "12:00").Sub(o.Now()))
		o.SetApp(appID, true)
		require.Equal(t, 1, o.reminders("c@example.com"))
		o.Travel(time.Hour)
		require.Equal(t, 1, o.reminders("c@example.com"))
	})
	t.Run("none goes out while the app is off", func(t *testing.T) {
		o := o.again(t, nil)
		o.book(o.contact(0, "past@example.com"), o.at(2, "09:00")).Is(201)
		o.book(o.contact(0, "coming@example.com"), o.at(2, "16:00")).Is(201)
		o.SetApp(appID, false)
		o.Travel(o.at(1, "16:30").Sub(o.Now()))
		require.Zero(t, o.reminders("coming@example.com"))
		o.Travel(20 * time.Hour)
		require.Zero(t, o.reminders("coming@example.com"))
		o.SetApp(appID, true)
		require.Equal(t, 1, o.reminders("coming@example.com"), "late, and in time nevertheless")
		require.Zero(t, o.reminders("past@example.com"), "its time has passed")
		m := o.lastMail("coming@example.com")
		require.Equal(t, appID, m.GetApp())
		require.Equal(t, o.at(0, "16:00").Unix(), m.GetNotAfter())
		require.Empty(t, o.lastMail("past@example.com").GetApp(), "other mails go out in any case")
	})
	t.Run("a clock that is set repeats no reminder and no refusal", func(t *testing.T) {
		o := o.again(t, nil)
		o.admin.Patch("/settings/booking", object{"request_expires_hours": 1}).Is(200)
		due := o.at(1, "10:00")
		o.book(o.contact(0, "c@example.com"), o.at(2, "10:00")).Is(201)
		o.book(o.contact(0, "r@example.com"), o.at(2, "12:00"), object{"status": "pending"}).Is(201)
		o.Travel(61 * time.Minute)
		for _, step := range []time.Duration{0, -10 * time.Minute, 20 * time.Minute, -10 * time.Minute} {
			o.Travel(step)
			o.run("requests")
			require.Len(t, o.mails("r@example.com"), 2, "the request and its refusal")
		}
		o.Travel(due.Add(time.Minute).Sub(o.Now()))
		for _, step := range []time.Duration{0, -10 * time.Minute, 20 * time.Minute, -10 * time.Minute} {
			o.Travel(step)
			require.Equal(t, 1, o.reminders("c@example.com"))
		}
	})
	t.Run("an appointment that cannot be reminded does not keep the others from it", func(t *testing.T) {
		o := o.again(t, nil)
		bad := o.book(o.contact(0, "bad@example.com"), o.at(2, "09:00")).Is(201).Text("id")
		o.book(o.contact(0, "next@example.com"), o.at(2, "10:00")).Is(201)
		o.exec(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the database refuses this row'; end $$`)
		o.exec(`create trigger refuse before update of reminded_at on appointment for each row when (new.id = '` + bad + `') execute function refuse()`)
		o.Travel(o.at(1, "12:00").Sub(o.Now()))
		require.Equal(t, 1, o.reminders("next@example.com"))
		require.Zero(t, o.reminders("bad@example.com"))
		o.exec(`drop trigger refuse on appointment`)
		o.Eventually(func() bool { return o.reminders("bad@example.com") == 1 })
		require.Equal(t, 1, o.reminders("next@example.com"))
	})
}

func TestNoReminderIsOverdueAndNobodyIsToldOfAHandOverWhileTheAppIsOff(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.book(o.contact(0, "c@example.com"), o.at(2, "10:00")).Is(201)
	heir := o.As("staff")
	o.SetApp(appID, false)
	o.Travel(o.at(1, "12:00").Sub(o.Now()))
	for _, g := range o.Parts.Gauges {
		if g.Name == "booking.reminders_overdue" {
			require.False(t, g.On())
			o.SetApp(appID, true)
			require.True(t, g.On())
			o.SetApp(appID, false)
		}
	}
	o.admin.Delete(path("/staff/%d?successor=%d", o.staff.UserID, heir.UserID), nil).Is(200)
	m := o.lastMail("c@example.com")
	require.Equal(t, mails.HandedOver, m.GetKind())
	require.Equal(t, appID, m.GetApp(), "it waits: its link leads nowhere")
}
