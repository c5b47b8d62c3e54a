package audit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// start starts the room alone.
func start(t *testing.T) *apptest.Service {
	t.Helper()
	return apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		r := New(k)
		r.Operations(set)
		return []app.Room{{Name: "audit", Parts: r.Parts()}}
	})
}

func TestTheAuditLogIsReadPageByPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.As("site_admin")
	for i := range 25 {
		s.Send(apptest.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: fmt.Sprint(i), Actor: &proto.Actor{Channel: "import"},
			Data: &proto.Audit{Action: "start-import", RecordId: fmt.Sprint(i), Outcome: "done"}})
	}
	s.Settle()
	seen := map[any]bool{}
	cursor := ""
	for pages := 1; ; pages++ {
		a := c.Get("/audit-log?channel=import&per_page=10&cursor=" + cursor).Is(200)
		require.EqualValues(t, 25, a.Field("total"))
		for _, e := range a.Items() {
			seen[e["record_id"]] = true
		}
		if cursor = a.Text("next_cursor"); cursor == "" {
			require.Equal(t, 3, pages)
			break
		}
		require.LessOrEqual(t, len(cursor), 64)
		c.Get("/audit-log?channel=form&cursor="+cursor).Fails(400, "svc_invalid_cursor")
	}
	require.Len(t, seen, 25)
}
