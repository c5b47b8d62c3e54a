package bookings

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/calendar"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
	"frontdesk/services/booking/internal/times"
)

// monday9 is the start of a working day in the tests of decide, which work in UTC.
var monday9 = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)

func nineToFive(t require.TestingT) slots.Week {
	var week slots.Week
	for day := range week {
		block, err := slots.ParseBlock("09:00", "17:00")
		require.NoError(t, err)
		week[day] = []slots.Block{block}
	}
	return week
}

// asked is a visit for an hour with any of users, and the facts that let all of them take it.
func asked(t require.TestingT, start time.Time, users ...int64) (visit, facts) {
	rows := map[int64]staff.Row{}
	for _, id := range users {
		rows[id] = staff.Row{UserID: id, Hours: nineToFive(t)}
	}
	v := visit{Wish: times.Wish{Want: times.Want{Terms: services.Terms{DurationMin: 60}, Users: users, Offered: times.ToVisitors}, Start: start}}
	return v, facts{agenda: times.NewAgenda(time.UTC, services.Settings{}, users, rows, calendar.Exceptions{}, nil)}
}

func TestWhoTakesAVisitorsTimeIsDecidedFromTheFacts(t *testing.T) {
	t.Parallel()
	now := monday9.AddDate(0, 0, -7)
	busy := func(from time.Time, hours int) slots.Busy {
		return slots.Busy{Start: from, End: from.Add(time.Duration(hours) * time.Hour)}
	}
	for name, c := range map[string]struct {
		given func(*visit, *facts)
		want  []int64
		fails string
	}{
		"everybody is free":             {func(*visit, *facts) {}, []int64{1, 2}, ""},
		"the time was taken meanwhile":  {func(_ *visit, f *facts) { f.taken = true }, nil, ""},
		"taken counts before the limit": {func(_ *visit, f *facts) { f.taken, f.agenda.Settings.MaxOpenBookings, f.ahead = true, 1, 1 }, nil, ""},
		"not offered counts before the limit": {func(v *visit, f *facts) {
			v.Start, f.agenda.Settings.MaxOpenBookings, f.ahead = monday9.Add(-6*time.Hour), 1, 1
		}, []int64{}, ""},
		"the client has too many ahead": {func(_ *visit, f *facts) { f.agenda.Settings.MaxOpenBookings, f.ahead = 2, 2 }, nil, "svc_conflict"},
		"the client has one less":       {func(_ *visit, f *facts) { f.agenda.Settings.MaxOpenBookings, f.ahead = 2, 1 }, []int64{1, 2}, ""},
		"no limit, many ahead":          {func(_ *visit, f *facts) { f.ahead = 50 }, []int64{1, 2}, ""},
		"one is busy then":              {func(_ *visit, f *facts) { f.agenda.People[0].Busy = []slots.Busy{busy(monday9, 1)} }, []int64{2}, ""},
		"one has more that day":         {func(_ *visit, f *facts) { f.agenda.People[0].Busy = []slots.Busy{busy(monday9.Add(3*time.Hour), 2)} }, []int64{2, 1}, ""},
		"one has left":                  {func(_ *visit, f *facts) { f.agenda.Staff[2] = staff.Row{UserID: 2, Removed: true} }, []int64{1}, ""},
		"the business is closed": {func(_ *visit, f *facts) {
			f.agenda.Business.Closures = []slots.Exception{{From: slots.DayOf(monday9, time.UTC), To: slots.DayOf(monday9, time.UTC), Block: slots.AllDay}}
		}, []int64{}, ""},
		"off the grid":                   {func(v *visit, _ *facts) { v.Start = v.Start.Add(time.Minute) }, []int64{}, ""},
		"sooner than the notice":         {func(_ *visit, f *facts) { f.agenda.Settings.MinNoticeMin = 8 * 24 * 60 }, []int64{}, ""},
		"further than visitors may book": {func(_ *visit, f *facts) { f.agenda.Settings.MaxAdvanceDays = 6 }, []int64{}, ""},
		"the team has no notice to keep": {func(v *visit, f *facts) { v.Offered, f.agenda.Settings.MinNoticeMin = times.ToTeam, 8*24*60 }, []int64{1, 2}, ""},
		"outside hours only others count": {func(v *visit, f *facts) {
			v.Offered, v.Start, f.agenda.People[1].Busy = times.OutsideHours, monday9.Add(-30*time.Minute), []slots.Busy{busy(monday9, 1)}
		}, []int64{1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, f := asked(t, monday9, 1, 2)
			c.given(&v, &f)
			order, err := v.decide(f, now)
			if c.fails != "" {
				require.Equal(t, c.fails, fault.From(err).Code)
				return
			}
			require.NoError(t, err)
			slices.Sort(order[:min(len(order), sameLoad(f))])
			require.Equal(t, c.want, order)
		})
	}
}

// sameLoad is how many people have the same time booked: they take turns, so no order of them is wrong.
func sameLoad(f facts) int {
	for _, p := range f.agenda.People {
		if len(p.Busy) > 0 {
			return 0
		}
	}
	return len(f.agenda.People)
}

func TestExactlyThoseWhoAreFreeTakeATimeTheLeastBusyFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		users := make([]int64, rapid.IntRange(0, 6).Draw(t, "people"))
		for i := range users {
			users[i] = int64(i + 1)
		}
		start := monday9.Add(time.Duration(rapid.IntRange(-2, 10).Draw(t, "hour")) * time.Hour)
		v, f := asked(t, start, users...)
		v.Offered = rapid.SampledFrom([]times.Audience{times.ToVisitors, times.ToTeam, times.OutsideHours}).Draw(t, "offered")
		for i := range f.agenda.People {
			for range rapid.IntRange(0, 3).Draw(t, "appointments") {
				from := monday9.Add(time.Duration(rapid.IntRange(-4, 20).Draw(t, "half hour")) * 30 * time.Minute)
				f.agenda.People[i].Busy = append(f.agenda.People[i].Busy, slots.Busy{Start: from, End: from.Add(time.Hour), After: rapid.SampledFrom([]int{0, 15}).Draw(t, "buffer")})
			}
			if rapid.IntRange(0, 4).Draw(t, "left") == 0 {
				f.agenda.Staff[users[i]] = staff.Row{UserID: users[i], Hours: nineToFive(t), Removed: true}
			}
		}
		now := monday9.AddDate(0, 0, -1)
		order, err := v.decide(f, now)
		require.NoError(t, err)
		var free []slots.Person
		for _, p := range f.agenda.People {
			rule := times.RuleOf(v.Terms, f.agenda.Settings, v.Offered)
			can := slots.Free(f.agenda.Business, rule, p, start, now)
			if v.Offered == times.OutsideHours {
				can = slots.Clear(rule, p, start)
			}
			if can = can && !f.agenda.Staff[p.ID].Removed; can {
				free = append(free, p)
			}
			require.Equal(t, can, slices.Contains(order, p.ID), "person %d", p.ID)
		}
		require.Len(t, order, len(free))
		if len(free) > 0 {
			require.Equal(t, free[slots.LeastBusy(f.agenda.Business, free, start)].ID, order[0])
		}
		f.taken = true
		order, err = v.decide(f, now)
		require.NoError(t, err)
		require.Empty(t, order)
	})
}

func TestABookingIsForTheContactThatHasTheAddressElseForANewOne(t *testing.T) {
	t.Parallel()
	v := visit{given: services.Details{Client: clients.Client{FirstName: "Bea", Email: "bea@example.com"}, Answers: form.Answers{Message: "Hello"}}, status: appointments.StatusPending}
	made, _ := v.booking(facts{}, "booking")
	require.NotEqual(t, uuid.Nil, made.ContactID)
	require.Equal(t, v.given.Client, made.Client)
	known := facts{contact: uuid.New(), client: clients.Client{FirstName: "Beatrice", Email: "Bea@example.com"}}
	booked, _ := v.booking(known, "booking")
	require.Equal(t, appointments.Record{ID: booked.ID, ContactID: known.contact, Client: known.client, BookedFor: "Bea", Notes: "Hello", Source: "booking", Status: appointments.StatusPending}, booked)
	for typed, other := range map[string]bool{"Béa  MAES": false, "bea maes": false, "Bea": true, "Jan Maes": true, "": false} {
		v.given.Client = clients.Client{FirstName: typed}
		known.client = clients.Client{FirstName: "Bea", LastName: "Maes"}
		booked, _ = v.booking(known, "booking")
		require.Equal(t, other, booked.BookedFor != "", typed)
	}
	known.client = clients.Client{Email: "bea@example.com"}
	v.given.Client = clients.Client{FirstName: "Bea"}
	booked, _ = v.booking(known, "booking")
	require.Empty(t, booked.BookedFor, "a contact without a name gets this one")
}
