package booking

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/openapi"
	"frontdesk/services/booking/internal/times"
)

// Whatever the settings are, what is listed can be booked and nothing else, by visitors and by the team.
func TestASlotIsListedExactlyWhenItCanBeBooked(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	server := serveCalendar(t)
	calendar := o.connect(o.staff.UserID, server.URL)
	o.admin.Put(path("/staff/%d/hours", o.admin.UserID), object{"hours": object{"1": [][]string{{"07:00", "11:20"}}, "2": [][]string{{"10:00", "24:00"}},
		"3": [][]string{{"00:00", "03:00"}, {"03:00", "06:00"}}, "4": everyDay["4"], "5": everyDay["5"], "6": everyDay["6"], "7": everyDay["7"]}}).Is(200)
	contact := o.contact(0)
	zone := o.Kit.Config.Zone
	random := rand.New(rand.NewPCG(7, 11))
	for round := range 6 {
		pick := func(values ...int) int { return values[random.IntN(len(values))] }
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, o.admin.UserID}[:1+round%2], "duration_min": pick(15, 45, 60, 100),
			"buffer_before": pick(0, 10), "buffer_after": pick(0, 25), "min_notice_min": pick(0, 30*60), "max_advance_days": pick(3, 30)}).Is(200)
		o.admin.Patch("/settings/booking", object{"slot_step": pick(0, 5, 20, 60)}).Is(200)
		var events []string
		for i := range pick(0, 2, 5) {
			events = append(events, vevent(path("%d-%d", round, i), o.at(1+round, "07:00").Add(time.Duration(random.IntN(600))*time.Minute), pick(5, 45, 90)))
		}
		server.has(events...)
		o.synced(o.staff.UserID, calendar)
		day := o.at(1+round, "12:00").In(zone).Format(time.DateOnly)
		query := path("slots?service=%s&from=%s&to=%[2]s", o.service, day)
		token := o.token(o.service)
		for i := range 14 {
			public := i%2 == 0
			listed := map[string]bool{}
			prefix := "/"
			if public {
				prefix = "/booking/"
			}
			var free times.Slots
			require.NoError(t, json.Unmarshal([]byte(o.admin.Get(prefix+query).Is(200).Body), &free))
			var starts []string
			for _, s := range free.Items {
				at := stamp(s.StartsAt)
				listed[at] = true
				starts = append(starts, at)
			}
			want := stamp(o.at(1+round, "00:00").Add(time.Duration(random.IntN(288)*5) * time.Minute))
			if len(starts) > 0 && random.IntN(3) > 0 {
				want = starts[random.IntN(len(starts))]
			}
			at := moment(t, want)
			var status int
			if public {
				status = o.Visitor().Post("/booking/book", o.visit(o.service, token, at, uuid.NewString()[:8]+"@example.com")).Status
			} else {
				status = o.book(contact, at, object{"status": []string{"pending", "confirmed"}[i/2%2]}).Status
			}
			if listed[want] {
				require.Equal(t, 201, status, want)
			} else {
				require.Equal(t, 409, status, want)
			}
		}
	}
	o.noClash()
}

// Whatever became of the service since it was booked, an appointment moves to the times that are listed for it and to no others.
func TestATimeIsListedForAnAppointmentExactlyWhenItMovesThere(t *testing.T) {
	t.Parallel()
	o := open9to5(t, object{"staff": []int64{}}, localCalendars, unlimited)
	var events []string
	for day := range 7 {
		events = append(events, vevent(path("%d", day), o.at(1+day, "09:40").Add(time.Duration(day)*50*time.Minute), 35))
	}
	o.synced(o.staff.UserID, o.connect(o.staff.UserID, serveCalendar(t, events...).URL))
	o.admin.Put(path("/staff/%d/hours", o.admin.UserID), object{"hours": object{"1": [][]string{{"07:00", "11:20"}}, "2": [][]string{{"10:00", "24:00"}},
		"3": everyDay["3"], "4": everyDay["4"], "5": [][]string{{"08:10", "19:00"}}, "6": everyDay["6"], "7": everyDay["7"]}}).Is(200)
	random := rand.New(rand.NewPCG(5, 13))
	pick := func(values ...int) int { return values[random.IntN(len(values))] }
	edited := func(staff ...int64) object {
		return object{"staff": staff, "duration_min": pick(15, 30, 45, 60, 100), "buffer_before": pick(0, 10), "buffer_after": pick(0, 25),
			"min_notice_min": pick(0, 30*60), "max_advance_days": pick(3, 30), "location_type": []string{"in_person", "online"}[random.IntN(2)]}
	}
	both := []int64{o.staff.UserID, o.admin.UserID}
	zone, moves := o.Kit.Config.Zone, map[string]int{}
	for round := range 6 {
		o.admin.Patch("/services/"+o.service, edited(both...)).Is(200)
		o.admin.Patch("/settings/booking", object{"slot_step": pick(0, 20, 20, 60)}).Is(200)
		email := uuid.NewString()[:8] + "@example.com"
		contact := o.contact(0, email)
		for _, user := range both {
			o.book(o.contact(0), o.at(1+round, []string{"10:00", "13:20"}[random.IntN(2)]), object{"staff": user, "outside_hours": true, "meeting_url": "https://meet.example/a"})
		}
		id := o.book(contact, o.at(1+round, "17:30"), object{"staff": o.staff.UserID, "outside_hours": true, "meeting_url": []string{"", "https://meet.example/b"}[round%2], "location_type": "in_person"}).Is(201).Text("id")
		if round == 3 {
			o.admin.Post("/appointments/"+id+"/place", object{"location_type": "online", "meeting_url": "https://meet.example/c"}).Is(200)
		}
		o.admin.Patch("/services/"+o.service, edited(both[:1+round%2]...)).Is(200)
		o.admin.Patch("/services/"+o.service, object{"archived": round == 5, "bookable_online": round != 4}).Is(200)
		day := o.at(1+round, "12:00").In(zone).Format(time.DateOnly)
		for i := range 12 {
			public, named := i%2 == 0, []int64{0, o.staff.UserID, o.admin.UserID}[random.IntN(3)]
			now := o.appointment(id)
			ask, move := object{"from": day, "to": day}, object{}
			if named != 0 {
				ask["staff"], move["staff"] = named, named
			}
			var answer *apptest.Answer
			if public {
				ask["token"], move["token"] = linkIn(t, o.lastMail(email)), linkIn(t, o.lastMail(email))
				answer = o.Visitor().Post("/booking/manage/slots", ask)
			} else {
				query := path("/slots?appointment=%s&from=%s&to=%[2]s", id, day)
				if named != 0 {
					query += path("&staff=%d", named)
				}
				answer = o.admin.Get(query)
			}
			listed, starts := map[string]int64{}, []string{}
			if answer.Status != 400 { // the person who was named does not do the service any more
				var free times.Slots
				require.NoError(t, json.Unmarshal([]byte(answer.Is(200).Body), &free))
				for _, s := range free.Items {
					require.Equal(t, moment(t, now.Text("ends_at")).Sub(moment(t, now.Text("starts_at"))), s.EndsAt.Sub(s.StartsAt), "it keeps its length")
					starts = append(starts, stamp(s.StartsAt))
					listed[stamp(s.StartsAt)] = s.Staff[0]
				}
			}
			want := stamp(o.at(1+round, "00:00").Add(time.Duration(random.IntN(288)*5) * time.Minute))
			switch random.IntN(3) {
			case 0: // by less than it lasts, so that only it has the time
				want = stamp(moment(t, now.Text("starts_at")).Add(time.Duration(pick(-40, -20, 20, 40)) * time.Minute))
			case 1:
				if len(starts) > 0 {
					want = starts[random.IntN(len(starts))]
				}
			}
			if want == now.Text("starts_at") {
				continue // it stays, whatever is listed
			}
			move["starts_at"] = want
			moved := o.Visitor()
			var after *apptest.Answer
			if public {
				after = moved.Post("/booking/manage/reschedule", move)
			} else {
				after = o.admin.Post("/appointments/"+id+"/reschedule", move)
			}
			moves[path("%t %d", public, after.Status)]++
			if first, ok := listed[want]; ok {
				require.EqualValues(t, first, after.Is(200).Field("staff.user_id"), "%v %s", move, listed)
			} else {
				require.GreaterOrEqual(t, after.Status, 400, "%v was not listed", move)
			}
		}
	}
	require.Greater(t, moves["true 200"], 5)
	require.Greater(t, moves["false 200"], 5)
	require.Greater(t, moves["true 409"]+moves["false 409"], 5)
	o.noClash()
}

func moment(t testing.TB, stamp string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, stamp)
	require.NoError(t, err)
	return at
}

func TestWhoMovesAnAppointmentIsToldWhyNoTimesAreListed(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	email := "bea@example.com"
	id := o.book(o.contact(0, email), o.at(2, "10:00")).Is(201).Text("id")
	params := func(a *apptest.Answer) object {
		p, _ := a.Fails(400, "svc_invalid_param").Field("data.params").(object)
		return p
	}
	require.Contains(t, params(o.admin.Get("/slots")), "service")
	require.Contains(t, params(o.admin.Get(path("/slots?service=%s&appointment=%s", o.service, id))), "service")
	o.admin.Get("/slots?appointment="+uuid.NewString()).Fails(404, "svc_not_found")
	o.As("staff").Get("/slots?appointment="+id).Fails(404, "svc_not_found")
	o.admin.Get(path("/slots?appointment=%s&staff=%d", id, o.admin.UserID)).Fails(400, "svc_invalid_param")
	o.admin.Get(path("/slots?appointment=%s&staff=987654", id)).Fails(404, "svc_not_found")
	o.Visitor().Post("/booking/manage/slots", object{"token": "nonsense"}).Fails(400, "svc_invalid_token")

	slots := func() *apptest.Answer {
		return o.Visitor().Post("/booking/manage/slots", object{"token": linkIn(t, o.lastMail(email))})
	}
	require.NotEmpty(t, slots().Is(200).Items())
	o.admin.Patch("/settings/booking", object{"client_changes": false}).Is(200)
	require.Equal(t, "changes_off", slots().Fails(409, "svc_conflict").Text("data.reason"))
	o.admin.Patch("/settings/booking", object{"client_changes": true, "cancel_notice_hours": 720}).Is(200)
	require.Equal(t, "too_late", slots().Fails(409, "svc_conflict").Text("data.reason"))
	o.admin.Post("/appointments/"+id+"/cancel", object{}).Is(200)
	require.Equal(t, "cancelled", o.admin.Get("/slots?appointment="+id).Fails(409, "svc_invalid_status").Text("data.current"))
}

func TestNothingAnOperationIsSentMakesItFail(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	id := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
	values := []any{nil, "", "x", "\u0000", -1, 1.5, 1e300, true, []any{}, []any{nil}, object{}, object{"a": object{"b": nil}},
		"9999-12-31T23:59:59Z", "0000-01-01", "2026-02-30", id, "https://example.com", 9007199254740993}
	random := rand.New(rand.NewPCG(3, 5))
	operations := o.Parts.Ops.Operations()
	for _, route := range slices.Sorted(maps.Keys(operations)) {
		declared := operations[route]
		names := o.inputs(route)
		for range 12 {
			body := object{}
			for _, name := range names {
				if random.IntN(3) > 0 {
					body[name] = values[random.IntN(len(values))]
				}
			}
			at := o.filled(route, id)
			if strings.HasPrefix(at, "GET ") {
				query := url.Values{}
				for name, value := range body {
					query.Set(name, fmt.Sprint(value))
				}
				at, body = at+"?"+query.Encode(), nil
			}
			answer := o.admin.Call(at, body)
			if declared.ID == "embed-booking-in-page" && answer.Status == 503 {
				continue // no settings service changes the page here
			}
			require.Less(t, answer.Status, 500, "%s %v: %s", declared.ID, body, answer.Body)
		}
	}
}

// inputs are the names of an operation's parameters, by its description.
func (o *office) inputs(route string) []string {
	o.t.Helper()
	described := openapi.Describe(o.Parts.Ops).Paths
	raw := routeOf(described, route)
	var names []string
	if params, ok := raw["parameters"].([]any); ok {
		for _, p := range params {
			if m, ok := p.(object); ok && m["in"] == "query" {
				names = append(names, m["name"].(string))
			}
		}
	}
	return append(names, bodyNames(raw)...)
}
