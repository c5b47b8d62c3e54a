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

	"frontdesk/libs/openapi"
	"frontdesk/services/booking/internal/times"
)

// Whatever the settings are, what is listed can be booked and nothing else, by visitors and by the team.
func TestASlotIsListedExactlyWhenItCanBeBooked(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
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
			at, err := time.Parse(time.RFC3339, want)
			require.NoError(t, err)
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
