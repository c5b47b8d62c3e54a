package message

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

// start runs this room alone.
func start(t *testing.T, configure ...func(*app.Config)) (*webhookstest.Service, *Room) {
	t.Helper()
	var room *Room
	s := apptest.StartRooms(t, "webhooks", func(k *app.Kit, set *op.Set) []app.Room {
		room = New(k, func(*db.Tx, Stored) {}, func(context.Context, *db.Tx, []uuid.UUID) error { return nil })
		room.Events(set)
		return []app.Room{{Name: "message", Parts: room.Parts()}}
	}, configure...)
	return webhookstest.Of(t, s), room
}

// read follows GET /events from a cursor to the present end, and answers with what came and the cursor behind it.
func read(c *apptest.Client, query, cursor string) (all []map[string]any, next string) {
	for {
		page := c.Get("/events?" + query + "&cursor=" + url.QueryEscape(cursor)).Is(200)
		cursor = page.Text("next_cursor")
		if len(page.Items()) == 0 {
			return all, cursor
		}
		all = append(all, page.Items()...)
	}
}

func TestEventsAreChosenByNameAndTime(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	admin := s.As(auth.SiteAdmin)
	for i := range 6 {
		kind := []string{proto.KindContactCreated, proto.KindContactUpdated, proto.KindContactDeleted}[i%3]
		s.Contact(kind, uuid.NewString(), 1, func(e *apptest.Event) { e.At = s.Now().Add(time.Duration(i) * time.Hour) })
	}
	s.Eventually(func() bool { return len(admin.Get("/events").Is(200).Items()) == 6 })
	one := "event=" + proto.KindContactUpdated
	found, cursor := read(admin, one+"&per_page=1", "")
	require.Len(t, found, 2)
	found, _ = read(admin, one+"&event="+proto.KindContactCreated, "")
	require.Len(t, found, 4)
	found, _ = read(admin, "since="+url.QueryEscape(s.Now().Add(3*time.Hour-time.Minute).UTC().Format(time.RFC3339)), "")
	require.Len(t, found, 3)
	admin.Get("/events?cursor="+url.QueryEscape(cursor)).Fails(400, "svc_invalid_cursor")
	admin.Get("/events?event=webhook.test").Fails(400, "svc_invalid_param")
	admin.Get("/events?since=yesterday").Fails(400, "svc_invalid_param")
	admin.Get("/events?per_page=101").Fails(400, "svc_invalid_param")
	s.As("staff").Get("/events").Fails(403, "svc_forbidden")
}

// Sixteen consumers store events, some in transactions that stay open while later ones commit, and a reader follows all the
// time: it gets each event once, and those of one record in their order.
func TestAReaderMissesNothingAndGetsNothingTwiceWhileManyWrite(t *testing.T) {
	t.Parallel()
	s, room := start(t)
	admin := s.As(auth.SiteAdmin)
	const writers, each = 16, 40
	ctx := t.Context()
	var writing sync.WaitGroup
	failed := make(chan error, writers)
	for w := range writers {
		record := uuid.New()
		writing.Go(func() {
			for n := 0; n < each; {
				err := s.DB.Do(ctx, func(tx *db.Tx) error {
					for k := range 1 + w%3 {
						if n+k < each {
							if err := store(ctx, room, tx, record, n+k); err != nil {
								return err
							}
						}
					}
					if w%4 == 0 {
						// Others commit meanwhile.
						_, err := tx.Exec(ctx, `select pg_sleep(0.02)`)
						return err
					}
					return nil
				})
				if err != nil {
					failed <- err
					return
				}
				n += 1 + w%3
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	var got []map[string]any
	for cursor, over := "", false; ; {
		select {
		case <-done:
			over = true
		default:
		}
		var more []map[string]any
		more, cursor = read(admin, "per_page=7", cursor)
		got = append(got, more...)
		if over && len(more) == 0 && len(got) >= writers*each {
			break
		}
		require.False(t, over && len(more) == 0 && len(failed) > 0)
		require.LessOrEqual(t, len(got), writers*each)
	}
	require.Empty(t, failed)
	seen, versions := map[any]bool{}, map[any][]float64{}
	for _, e := range got {
		require.False(t, seen[e["id"]], "%v came twice", e["id"])
		seen[e["id"]] = true
		contact := e["data"].(map[string]any)["contact"].(map[string]any)
		versions[contact["id"]] = append(versions[contact["id"]], contact["n"].(float64))
	}
	require.Len(t, versions, writers)
	for _, of := range versions {
		require.Len(t, of, each)
		require.True(t, slices.IsSorted(of), "%v", of)
	}
}

// store consumes an event in a transaction of the caller.
func store(ctx context.Context, room *Room, tx *db.Tx, record uuid.UUID, n int) error {
	return room.onContact(ctx, tx, bus.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, ID: db.NewID(), Key: record.String(), Version: int64(n + 1), At: tx.Now,
		Data: fmt.Appendf(nil, `{"id":%q,"n":%d}`, record, n)})
}

func TestEventsAreKeptForThirtyDaysAndACursorFromBeforeSaysSo(t *testing.T) {
	t.Parallel()
	s, room := start(t)
	admin := s.As(auth.SiteAdmin)
	start := admin.Get("/events").Is(200).Text("next_cursor")
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { return len(admin.Get("/events").Is(200).Items()) == 1 })
	_, end := read(admin, "", start)
	s.Travel(29 * 24 * time.Hour)
	require.NoError(t, room.Expire(t.Context(), room.KeptSince()))
	require.Len(t, admin.Get("/events").Is(200).Items(), 1)
	s.Travel(25 * time.Hour)
	require.NoError(t, room.Expire(t.Context(), room.KeptSince()))
	require.Empty(t, admin.Get("/events").Is(200).Items())
	require.Equal(t, "expired", admin.Get("/events?cursor="+url.QueryEscape(start)).Fails(400, "svc_invalid_cursor").Text("data.reason"))
	found, _ := read(admin, "", end)
	require.Empty(t, found, "who has read everything goes on")
	require.NoError(t, room.Expire(t.Context(), room.KeptSince()))
}

// Two processes store events in the order of their transactions, which is not that of their clocks.
func TestRetentionLeavesNoEventInFrontOfOneThatItDeleted(t *testing.T) {
	t.Parallel()
	s, room := start(t)
	admin := s.As(auth.SiteAdmin)
	for n := range 4 {
		require.NoError(t, s.DB.Do(t.Context(), func(tx *db.Tx) error { return store(t.Context(), room, tx, uuid.New(), n) }))
	}
	s.Eventually(func() bool { return len(admin.Get("/events").Is(200).Items()) == 4 })
	s.Exec(`update message set created_at = created_at - interval '40 days' where seq = (select seq from message order by seq offset 1 limit 1)`)
	require.NoError(t, room.Expire(t.Context(), room.KeptSince()))
	require.Equal(t, 3, s.Count(`select count(*) from message`))
	s.Eventually(func() bool { return len(admin.Get("/events").Is(200).Items()) == 2 })
	page := admin.Get("/events?per_page=1").Is(200)
	require.Len(t, page.Items(), 1)
	s.Eventually(func() bool {
		found, _ := read(admin, "per_page=1", page.Text("next_cursor")) // it was just given, so it is good
		return len(found) == 1
	})
}

func TestManyEventsAreDeletedInSlices(t *testing.T) {
	t.Parallel()
	s, room := start(t)
	s.Exec(`insert into message (id, event, record, payload, created_at) select gen_random_uuid(), 'contact.created', gen_random_uuid(), '{}', now() - interval '40 days'
		from generate_series(1, $1)`, expireBatch+1)
	require.NoError(t, room.Expire(t.Context(), room.KeptSince()))
	require.Zero(t, s.Count(`select count(*) from message`))
}

func TestAnErasedPersonIsGoneFromEventsAndACursorOutlivesABackup(t *testing.T) {
	t.Parallel()
	s, room := start(t)
	admin := s.As(auth.SiteAdmin)
	person, other := uuid.NewString(), uuid.NewString()
	s.Contact(proto.KindContactCreated, person, 1)
	s.Contact(proto.KindContactCreated, other, 1, func(e *apptest.Event) {
		e.Data = map[string]any{"id": other, "first_name": "Bo", "fields": map[string]any{"advisor": "ann@example.com"}}
	})
	s.Eventually(func() bool { return len(admin.Get("/events").Is(200).Items()) == 2 })
	require.NoError(t, s.DB.Do(t.Context(), func(tx *db.Tx) error {
		_, err := room.forget(t.Context(), tx, erasure.New(s.Keys.Person, s.Now().Add(time.Minute), []string{person}, [][]byte{s.Keys.Person("ann@example.com")}))
		return err
	}))
	page := admin.Get("/events").Is(200)
	require.Len(t, page.Items(), 2)
	require.NotContains(t, page.Body, "Ann")
	require.NotContains(t, page.Body, "ann@example.com")
	require.Contains(t, page.Body, "Bo")

	// After a backup came back, on a server that counts from the beginning: what comes is behind every cursor.
	_, err := s.DB.Pool.Exec(t.Context(), `update feed set offset_by = 1000000`)
	require.NoError(t, err)
	s.Contact(proto.KindContactDeleted, other, 2)
	cursor := page.Text("next_cursor")
	s.Eventually(func() bool {
		var found []map[string]any
		found, cursor = read(admin, "", cursor)
		return len(found) == 1
	})
	_, err = s.DB.Pool.Exec(t.Context(), `update feed set offset_by = 0`)
	require.NoError(t, err)
	_, err = s.Parts.Restored(t.Context())
	require.NoError(t, err)
	s.Contact(proto.KindContactRestored, other, 3)
	s.Eventually(func() bool {
		var found []map[string]any
		found, cursor = read(admin, "", cursor)
		return len(found) == 1
	})
}
