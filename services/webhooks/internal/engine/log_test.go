package engine

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

func TestTheLogIsPagedNewestFirstWithItsTotal(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
	for range 25 {
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool {
		return admin.Get("/webhooks/"+id+"/deliveries?status=delivered").Field("total") == float64(25)
	})
	r.Says(500)
	for range 3 {
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool {
		return admin.Get("/webhooks/"+id+"/deliveries?status=retrying").Field("total") == float64(3)
	})
	s.Job("tally")
	require.Equal(t, 2, s.Count(`select count(*) from tally`))

	seen, cursor := map[string]bool{}, ""
	var before string
	for page := 0; ; page++ {
		a := admin.Get("/webhooks/" + id + "/deliveries?per_page=10&cursor=" + url.QueryEscape(cursor)).Is(200)
		require.EqualValues(t, 28, a.Field("total"))
		for _, d := range a.Items() {
			if before != "" {
				require.LessOrEqual(t, d["created_at"], before)
			}
			before = d["created_at"].(string)
			require.False(t, seen[d["id"].(string)])
			seen[d["id"].(string)] = true
		}
		if cursor = a.Text("next_cursor"); cursor == "" {
			require.Equal(t, 2, page)
			break
		}
		admin.Get("/webhooks/"+id+"/deliveries?status=failed&cursor="+url.QueryEscape(cursor)).Fails(400, "svc_invalid_cursor")
	}
	require.Len(t, seen, 28)
	require.Len(t, admin.Get("/webhooks/"+id+"/deliveries?status=retrying").Is(200).Items(), 3)
	require.Empty(t, admin.Get("/webhooks/"+id+"/deliveries?status=failed").Is(200).Items())
}

// It runs alone: the instruments of a process are global, and belong to the service that was started last.
func TestOperatorsSeeWhatWaits(t *testing.T) {
	s := start(t)
	r := webhookstest.Listen(t)
	r.Says(500)
	s.Subscribe(s.As(auth.SiteAdmin), r.URL, proto.KindContactCreated)
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool {
		res, err := http.Get(s.Admin + "/metrics")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return err == nil && regexp.MustCompile(`frontdesk_webhook_waiting\{[^}]*status="retrying"[^}]*\} 1\n`).Match(text) &&
			regexp.MustCompile(`frontdesk_webhook_attempt_seconds_count\{[^}]*outcome="failed"[^}]*\} 1\n`).Match(text)
	})
}
