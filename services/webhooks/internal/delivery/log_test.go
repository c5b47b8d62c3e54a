package delivery

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
	"frontdesk/services/webhooks/webhookstest"
)

// start runs this room and those below it.
func start(t *testing.T) (*webhookstest.Service, *Room) {
	t.Helper()
	var room *Room
	s := apptest.StartRooms(t, "webhooks", func(k *app.Kit, set *op.Set) []app.Room {
		messages := message.New(k, Queue, Blank)
		endpoints := endpoint.New(k, func(string) bool { return false }, Drop)
		room = New(k, endpoints)
		endpoints.Webhooks(set)
		room.Deliveries(set)
		return []app.Room{{Name: "message", Parts: messages.Parts()}, {Name: "endpoint", Parts: endpoints.Parts()}, {Name: "delivery", Parts: room.Parts()}}
	})
	return webhookstest.Of(t, s), room
}

func TestDeletingAWebhookTakesItsLogHoweverLong(t *testing.T) {
	t.Parallel()
	s, room := start(t)
	admin := s.As(auth.SiteAdmin)
	id, _ := s.Subscribe(admin, "https://example.com/", proto.KindContactCreated)
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
	require.Equal(t, tidyBatch+10, s.Count(`select count(*) from delivery`), "the request does not wait for the log")
	require.NoError(t, room.Expire(t.Context(), time.Time{}))
	require.Zero(t, s.Count(`select count(*) from delivery`))
	_, err = s.DB.Pool.Exec(t.Context(), `update removed set removed_at = now() - interval '1 hour'`)
	require.NoError(t, err)
	require.NoError(t, room.Expire(t.Context(), time.Time{}))
	require.Zero(t, s.Count(`select count(*) from removed`))
	s.Job("tally")
	require.Zero(t, s.Count(`select count(*) from tally`))
}

func TestTheLogIsNotReadForWhatIsOld(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	ctx := t.Context()
	var aged db.Where
	aged.And("created_at < ?", time.Now().AddDate(0, 0, -30))
	require.NoError(t, s.DB.Do(ctx, func(tx *db.Tx) error {
		for range 8 { // from the sixth on Postgres may take the plan for any time
			if _, err := deleteSome(ctx, tx, aged); err != nil {
				return err
			}
		}
		var generic, custom int
		err := tx.QueryRow(ctx, `select sum(generic_plans), sum(custom_plans) from pg_prepared_statements where statement like $1`, "%delete from delivery%").Scan(&generic, &custom)
		require.Zero(t, generic)
		require.GreaterOrEqual(t, custom, 8)
		return err
	}))
}

func TestAWaitingBacklogIsNotRead(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	admin := s.As(auth.SiteAdmin)
	id, _ := s.Subscribe(admin, "https://example.com/", proto.KindContactCreated)
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

// with is body and one more value.
func with(body map[string]any, name string, value any) map[string]any {
	more := maps.Clone(body)
	more[name] = value
	return more
}

func TestWhatAReplayRefuses(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	admin := s.As(auth.SiteAdmin)
	id, _ := s.Subscribe(admin, "https://example.com/", proto.KindContactCreated)
	path := "/webhooks/" + id + "/replay"
	good := map[string]any{"from": s.Now().Add(-time.Hour).Format(time.RFC3339), "to": s.Now().Add(time.Hour).Format(time.RFC3339)}
	for name, body := range map[string]map[string]any{
		"nothing": {}, "no end": {"from": good["from"]}, "no time": with(good, "from", "yesterday"), "backwards": {"from": good["to"], "to": good["from"]},
		"an empty period": with(good, "to", good["from"]), "a status that waits": with(good, "status", "queued"), "an unknown event": with(good, "events", []string{"webhook.test"}),
		"an unknown field": with(good, "all", true),
	} {
		t.Run(name, func(*testing.T) { admin.Post(path, body).Fails(400, "svc_invalid_param") })
	}
	admin.Post("/webhooks/"+uuid.NewString()+"/replay", good).Fails(404, "svc_not_found")

	fill := func(n int) {
		_, err := s.DB.Pool.Exec(t.Context(), `
			with told as (
				insert into message (id, event, record, payload, created_at)
				select gen_random_uuid(), 'contact.created', gen_random_uuid(), '{}', $2 from generate_series(1, $3) returning id, record
			), counted as (insert into tally values ($1, 'delivered', $3))
			insert into delivery (id, webhook, message, record, status, created_at) select id, $1, id, record, 'delivered', $2 from told`, id, s.Now(), n)
		require.NoError(t, err)
	}
	fill(replayMax + 1)
	admin.Post(path, good).Fails(400, "svc_invalid_param")
	require.Zero(t, s.Count(`select count(*) from delivery where status = 'queued'`))

	admin.Patch("/webhooks/"+id, map[string]any{"active": false}).Is(200)
	require.Equal(t, "off", admin.Post(path, good).Fails(409, "svc_conflict").Text("data.reason"))
	admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
	for _, reason := range []string{"failures", "secret"} {
		s.Pauses(id, reason)
		require.Equal(t, "paused", admin.Post(path, good).Fails(409, "svc_conflict").Text("data.reason"))
	}
	require.Zero(t, s.Count(`select count(*) from delivery where replayed_at is not null`))
}
