package webhooks

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
)

func (r *running) count(query string, args ...any) (n int) {
	r.t.Helper()
	require.NoError(r.t, r.DB.Pool.QueryRow(r.t.Context(), query, args...).Scan(&n))
	return n
}

func TestTheLogIsPagedNewestFirstWithItsTotal(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := listen(t)
	id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
	for range 25 {
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool {
		return admin.Get("/webhooks/"+id+"/deliveries?status=delivered").Field("total") == float64(25)
	})
	r.says(500)
	for range 3 {
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool {
		return admin.Get("/webhooks/"+id+"/deliveries?status=retrying").Field("total") == float64(3)
	})
	require.NoError(t, s.addUp(t.Context()))
	require.Equal(t, 2, s.count(`select count(*) from tally`))

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

func TestTheLogIsKeptAsLongAsThePrivacySettingsSay(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := listen(t)
	id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
	s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { return s.count(`select count(*) from attempt`) == 1 })
	s.idle()
	s.Travel(29 * 24 * time.Hour)
	require.NoError(t, s.expire(t.Context()))
	require.Len(t, s.rows(id), 1)
	s.Travel(25 * time.Hour)
	require.NoError(t, s.expire(t.Context()))
	require.Empty(t, s.rows(id))
	require.Zero(t, s.count(`select count(*) from attempt`))
	require.EqualValues(t, 0, admin.Get("/webhooks/"+id+"/deliveries").Is(200).Field("total"))

	s.SetSite("privacy", map[string]any{"retention": map[string]any{"webhook_log": 2}})
	s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { return len(s.rows(id)) == 1 && s.rows(id)[0].Status == "delivered" })
	s.Travel(49 * time.Hour)
	require.NoError(t, s.expire(t.Context()))
	require.Empty(t, s.rows(id))
}

func TestDeletingAWebhookTakesItsLogHoweverLong(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	id, _ := s.subscribe(admin, "https://example.com/", proto.KindContactCreated)
	_, err := s.DB.Pool.Exec(t.Context(), `
		with told as (
			insert into message (id, event, record, payload, created_at)
			select gen_random_uuid(), 'contact.created', gen_random_uuid(), '{}', now() from generate_series(1, $2) returning id, record
		), counted as (insert into tally values ($1, 'delivered', $2))
		insert into delivery (id, webhook, message, record, status, created_at) select id, $1, id, record, 'delivered', date_trunc('second', now()) from told`,
		id, tidyBatch+10)
	require.NoError(t, err)
	require.EqualValues(t, tidyBatch+10, admin.Get("/webhooks/"+id+"/deliveries?per_page=1").Is(200).Field("total"))
	one := admin.Get("/webhooks/" + id + "/deliveries?per_page=1").Text("items.0.id")
	admin.Delete("/webhooks/"+id, nil).Is(204)
	admin.Get("/webhook-deliveries/"+one).Fails(404, "svc_not_found")
	admin.Post("/webhook-deliveries/"+one+"/resend", nil).Fails(404, "svc_not_found")
	require.NoError(t, s.expire(t.Context()))
	require.Zero(t, s.count(`select count(*) from delivery`))
	_, err = s.DB.Pool.Exec(t.Context(), `update removed set removed_at = now() - interval '1 hour'`)
	require.NoError(t, err)
	require.NoError(t, s.expire(t.Context()))
	require.Zero(t, s.count(`select count(*) from removed`))
	require.NoError(t, s.addUp(t.Context()))
	require.Zero(t, s.count(`select count(*) from tally`))
}

func TestAWaitingBacklogIsNotRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	id, _ := s.subscribe(admin, "https://example.com/", proto.KindContactCreated)
	admin.Patch("/webhooks/"+id, map[string]any{"active": false}).Is(200)
	for _, status := range []string{"queued", "retrying"} {
		_, err := s.DB.Pool.Exec(t.Context(), `
			insert into delivery (id, webhook, message, record, status, next_attempt_at, created_at)
			select gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), $2, now() + interval '1 day', now() from generate_series(1, 10000)`,
			id, status)
		require.NoError(t, err)
	}
	_, err := s.DB.Pool.Exec(t.Context(), `analyze delivery`)
	require.NoError(t, err)
	rows, err := s.DB.Pool.Query(t.Context(), fmt.Sprintf(`explain (analyze, costs off, timing off) select id from delivery
		where webhook = '%s' and status = 'queued' order by seq limit %d`, id, window))
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		require.NotContains(t, line, "Seq Scan")
		require.NotContains(t, line, "Sort")
	}
	require.NoError(t, rows.Err())
}

// It runs alone: the instruments of a process are global, and belong to the service that was started last.
func TestOperatorsSeeWhatWaits(t *testing.T) {
	s := start(t)
	r := listen(t)
	r.says(500)
	s.subscribe(s.As(auth.SiteAdmin), r.URL, proto.KindContactCreated)
	s.contact(proto.KindContactCreated, uuid.NewString(), 1)
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
