package booking

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
)

// noClash holds what must be true whatever happens: no two appointments of one person overlap, and the
// larger of two buffers lies between them.
func (o *office) noClash() {
	o.t.Helper()
	var clashes int
	require.NoError(o.t, o.Kit.DB.Pool.QueryRow(o.t.Context(), `select count(*) from appointment a join appointment b
		on a.user_id = b.user_id and a.starts_at <= b.starts_at and a.id <> b.id
		where a.status in `+appointments.Open+` and b.status in `+appointments.Open+`
		and b.starts_at < a.ends_at + make_interval(mins => greatest(a.buffer_after, b.buffer_before))`).Scan(&clashes))
	require.Zero(o.t, clashes)
}

// together makes n calls at once. It ends the test if one of them has no answer: what failed in it has said why.
func together(t testing.TB, n int, f func(i int) *apptest.Answer) []*apptest.Answer {
	t.Helper()
	answers := make([]*apptest.Answer, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { <-start; answers[i] = f(i) })
	}
	close(start)
	wg.Wait()
	for _, a := range answers {
		require.NotNil(t, a, "a call has failed")
	}
	return answers
}

func won(t testing.TB, answers []*apptest.Answer, code int) int {
	t.Helper()
	n := 0
	for _, a := range answers {
		if a.Status == code {
			n++
			continue
		}
		alternatives, _ := a.Fails(409, "svc_slot_taken").Field("data.alternatives").([]any)
		require.NotEmpty(t, alternatives)
	}
	return n
}

func TestRoundAfterRoundOneOf64Wins(t *testing.T) {
	t.Parallel()
	rounds := 4
	if os.Getenv("BOOKING_ROUNDS") != "" {
		_, err := fmt.Sscan(os.Getenv("BOOKING_ROUNDS"), &rounds)
		require.NoError(t, err)
	}
	o := open9to5(t, object{"duration_min": 15})
	token := o.token(o.service)
	for round := range rounds {
		start := o.at(1+round/8, fmt.Sprintf("%02d:00", 9+round%8))
		answers := together(t, 64, func(i int) *apptest.Answer {
			return o.Visitor().Post("/booking/book", o.visit(o.service, token, start, fmt.Sprintf("v%d-%d@example.com", round, i)))
		})
		require.Equal(t, 1, won(t, answers, 201))
	}
	o.noClash()
}

func TestAsManyWinAsThereArePeople(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	staff := []int64{o.staff.UserID}
	for range 2 {
		c := o.As("staff")
		c.Put(path("/staff/%d/hours", c.UserID), object{"hours": everyDay}).Is(200)
		staff = append(staff, c.UserID)
	}
	o.admin.Patch("/services/"+o.service, object{"staff": staff}).Is(200)
	token := o.token(o.service)
	busy := map[any]int{}
	for round := range 5 {
		answers := together(t, 16, func(i int) *apptest.Answer {
			return o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, path("%02d:00", 9+round)), path("v%d-%d@example.com", round, i)))
		})
		require.Equal(t, 3, won(t, answers, 201))
		for _, a := range answers {
			if a.Status == 201 {
				busy[a.Field("staff.user_id")]++
			}
		}
	}
	for _, n := range busy {
		require.Equal(t, 5, n)
	}
	// One at a time it goes to whoever has least.
	for i := range 6 {
		user := o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, path("%02d:00", 14+i/3)), path("w%d@example.com", i))).Is(201).Field("staff.user_id")
		busy[user]++
	}
	for _, n := range busy {
		require.Equal(t, 7, n)
	}
	o.noClash()
}

func TestMovingAndBookingMeetOnOneTime(t *testing.T) {
	t.Parallel()
	o := open9to5(t, object{"buffer_before": 10, "buffer_after": 20})
	o.admin.Patch("/settings/booking", object{"slot_step": 15}).Is(200)
	heir := o.As("staff")
	o.admin.Put(path("/staff/%d/hours", heir.UserID), object{"hours": everyDay}).Is(200)
	o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, heir.UserID}}).Is(200)
	contact := o.contact(0)
	for round := range 5 {
		day := 2 + 2*round
		var moving []string
		for i := range 4 {
			moving = append(moving, o.book(contact, o.at(day, path("%02d:00", 9+2*i)), object{"staff": o.staff.UserID}).Is(201).Text("id"))
		}
		target := o.at(day+1, "12:00")
		answers := together(t, 16, func(i int) *apptest.Answer {
			near := target.Add(time.Duration(rand.IntN(3)*15) * time.Minute)
			switch i % 4 {
			case 0:
				return o.admin.Post("/appointments/"+moving[i/4]+"/reschedule", object{"starts_at": stamp(near)})
			case 1:
				return o.book(contact, near, object{"staff": o.staff.UserID, "status": "pending"})
			case 2:
				return o.book(contact, near.Add(7*time.Minute), object{"staff": o.staff.UserID, "outside_hours": true})
			}
			return o.admin.Post("/appointments/"+moving[i/4]+"/reschedule", object{"starts_at": stamp(near), "staff": heir.UserID})
		})
		for _, a := range answers {
			if a.Status != 200 && a.Status != 201 {
				a.Fails(409, "svc_slot_taken")
			}
		}
		o.noClash()
	}
}

func TestAHandOverMeetsBookings(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	for range 3 {
		o := o.again(t, nil)
		heir := o.As("staff")
		o.admin.Put(path("/staff/%d/hours", heir.UserID), object{"hours": everyDay}).Is(200)
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, heir.UserID}}).Is(200)
		contact := o.contact(0)
		o.book(contact, o.at(2, "10:00"), object{"staff": o.staff.UserID}).Is(201)
		answers := together(t, 9, func(i int) *apptest.Answer {
			if i == 4 {
				return o.admin.Delete(path("/staff/%d", o.staff.UserID), object{"successor": heir.UserID})
			}
			return o.book(contact, o.at(2, path("%02d:00", 9+i/2)), object{"staff": []int64{o.staff.UserID, heir.UserID}[i%2]})
		})
		o.noClash()
		var left int
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from appointment where user_id = $1`, o.staff.UserID).Scan(&left))
		if answers[4].Status == 200 {
			require.Zero(t, left, "nothing stays behind with somebody who is gone")
		} else {
			answers[4].Fails(409, "svc_conflict")
		}
	}
}

// Connections break in the middle; clients repeat with their key until they have an answer.
func TestACrashInTheMiddleLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	o := open9to5(t, object{"duration_min": 15})
	token := o.token(o.service)
	stop := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(40 * time.Millisecond):
				// An error is the connection that this runs on, gone as well.
				_, _ = o.Kit.DB.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
					where datname = current_database() and pid <> pg_backend_pid() and random() < 0.5`)
			}
		}
	})
	const clients = 24
	answers := together(t, clients, func(i int) *apptest.Answer {
		visit := o.visit(o.service, token, o.at(2+i/8, path("%02d:00", 9+i%8)), path("c%d@example.com", i))
		for {
			a := o.Visitor().With("Idempotency-Key", path("crash-%d", i)).Raw("POST /booking/book", visit)
			if a.Status < 500 {
				return a
			}
			if a.Status != 503 {
				return a
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	close(stop)
	killer.Wait()
	o.Kit.DB.Pool.Reset()
	for _, a := range answers {
		require.Equal(t, 201, a.Status, a.Body)
	}
	list := o.admin.Get("/appointments?per_page=100").Is(200)
	require.EqualValues(t, clients, list.Field("total"))
	events := map[string]int{}
	for _, e := range o.Events(proto.AppointmentTopic) {
		events[e.GetRecordId()]++
	}
	for _, a := range list.Items() {
		id, _ := a["id"].(string)
		require.GreaterOrEqual(t, events[id], 1, "what was acknowledged is told")
	}
	require.Len(t, events, clients)
	o.noClash()
}
