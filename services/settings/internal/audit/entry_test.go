package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

func TestTheAuditLogIsNarrowedByWhoWhenWhatAndOutcome(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, own := s.As("site_admin"), s.As("svc_admin")
	at := s.Now().UTC().Truncate(time.Second)
	for i, e := range []struct {
		user int64
		*proto.Audit
	}{
		{own.UserID, &proto.Audit{Action: "update-contact", RecordType: "contact", RecordId: "7", Outcome: "done"}},
		{c.UserID, &proto.Audit{Action: "update-contact", RecordType: "contact", RecordId: "8", Outcome: "refused"}},
		{c.UserID, &proto.Audit{Action: "bulk-contacts", RecordType: "contact", RecordIds: []string{"7", "8"}, Outcome: "done"}},
		{c.UserID, &proto.Audit{Action: "update-form", RecordType: "form", RecordId: "7", Outcome: "done"}},
	} {
		s.Send(apptest.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: fmt.Sprint(i), At: at.Add(time.Duration(i-4) * time.Hour),
			Actor: &proto.Actor{Channel: "app", UserId: e.user}, Data: e.Audit})
	}
	s.Settle()
	moment := func(hours int) string { return at.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }
	for query, want := range map[string][]any{
		"":                                 {"update-form", "bulk-contacts", "update-contact", "update-contact"},
		"user=" + fmt.Sprint(own.UserID):   {"update-contact"},
		"outcome=refused":                  {"update-contact"},
		"outcome=done&record_type=contact": {"bulk-contacts", "update-contact"},
		"record_type=contact&record_id=8":  {"bulk-contacts", "update-contact"},
		"record_id=7":                      {"update-form", "bulk-contacts", "update-contact"},
		"record_id=9":                      {},
		"created_since=" + moment(-2):      {"update-form", "bulk-contacts"},
		"created_until=" + moment(-2):      {"update-contact", "update-contact"},
		"created_since=" + moment(-3) + "&created_until=" + moment(-1) + "&user=" + fmt.Sprint(c.UserID): {"bulk-contacts", "update-contact"},
	} {
		got := []any{}
		page := c.Get("/audit-log?" + query).Is(200)
		for _, e := range page.Items() {
			got = append(got, e["action"])
		}
		require.Equal(t, want, got, query)
		require.EqualValues(t, len(want), page.Field("total"), query)
	}
	file := c.Get("/exports/audit-log.csv?outcome=refused&record_id=8").Is(200).Body
	require.Len(t, strings.Split(strings.TrimSpace(file), "\n"), 2, file)
	c.Get("/audit-log?outcome=perhaps").Fails(400, "svc_invalid_param")
}
