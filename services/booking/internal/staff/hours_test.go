package staff

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
)

type object = map[string]any

func TestHoursAreKeptWholeOrRefused(t *testing.T) {
	t.Parallel()
	s := apptest.StartRooms(t, "booking", func(k *app.Kit, set *op.Set) []app.Room {
		r := New(k)
		r.WeeklyHours(set)
		return []app.Room{{Name: "staff", Parts: r.Parts()}}
	})
	admin, staff := s.As("site_admin"), s.As("staff")
	hours := fmt.Sprintf("/staff/%d/hours", staff.UserID)
	set := staff.Put(hours, object{"hours": object{"1": [][]string{{"13:00", "17:00"}, {"09:00", "12:00"}}, "7": [][]string{{"20:00", "24:00"}}}}).Is(200)
	require.JSONEq(t, `{"1":[["09:00","12:00"],["13:00","17:00"]],"2":[],"3":[],"4":[],"5":[],"6":[],"7":[["20:00","24:00"]]}`, set.Body)
	for _, bad := range []any{
		object{"8": [][]string{}}, object{"1": [][]string{{"09:00"}}}, object{"1": [][]string{{"12:00", "09:00"}}}, object{"1": [][]string{{"09:00", "25:00"}}},
		object{"1": [][]string{{"09:00", "12:00"}, {"11:00", "13:00"}}}, object{"1": [][]string{{"9:00", "12:00"}}}, "x", []string{}, nil,
	} {
		staff.Put(hours, object{"hours": bad}).Fails(400, "svc_invalid_param")
	}
	staff.Put(hours, object{}).Fails(400, "svc_invalid_param")
	require.JSONEq(t, set.Body, admin.Get(hours).Is(200).Body)
}
