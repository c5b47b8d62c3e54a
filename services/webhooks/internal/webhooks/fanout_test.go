package webhooks

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
	"frontdesk/services/webhooks/webhookstest"
)

func TestAnEventReachesItsSubscribers(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("the webhookstest.Request is as the interface describes it", func(t *testing.T) {
		s := s.In(t)
		r := webhookstest.Listen(t)
		_, secret := s.Subscribe(admin, r.URL, proto.KindContactUpdated)
		id := uuid.NewString()
		event := s.Contact(proto.KindContactUpdated, id, 4, func(e *apptest.Event) { e.Changed = []string{"email", "phone"} })
		s.Eventually(func() bool { return len(r.All()) == 1 })

		got := r.All()[0]
		require.Equal(t, "application/json", got.Header.Get("Content-Type"))
		require.Equal(t, proto.KindContactUpdated, got.Header.Get("X-Svc-Event"))
		_, err := uuid.Parse(got.Header.Get("X-Svc-Delivery"))
		require.NoError(t, err)
		var at int64
		_, err = fmt.Sscanf(got.Header.Get("X-Svc-Signature"), "t=%d,", &at)
		require.NoError(t, err)
		require.Equal(t, signature.Svc(secret, time.Unix(at, 0), []byte(got.Body)), got.Header.Get("X-Svc-Signature"))
		require.Equal(t, "evt_"+event, got.Header.Get("webhook-id"))
		verifier, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)
		require.NoError(t, verifier.VerifyIgnoringTimestamp([]byte(got.Body), got.Header))
		require.InDelta(t, s.Now().Unix(), at, 60)

		var whole map[string]any
		require.NoError(t, json.Unmarshal([]byte(got.Body), &whole))
		require.ElementsMatch(t, []string{"event", "id", "occurred_at", "data"}, keysOf(whole))
		require.Equal(t, "evt_"+event, whole["id"])
		require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, whole["occurred_at"])
		data := whole["data"].(map[string]any)
		require.ElementsMatch(t, []string{"contact", "changed"}, keysOf(data))
		require.Equal(t, []any{"email", "phone"}, data["changed"])
		require.Equal(t, "ann@example.com", data["contact"].(map[string]any)["email"])
	})
	t.Run("each record stands under its own key", func(t *testing.T) {
		s := s.In(t)
		r := webhookstest.Listen(t)
		s.Subscribe(admin, r.URL, s.Every(admin)...)
		person, merged := uuid.NewString(), uuid.NewString()
		send := func(topic, kind string, data map[string]any, extra any) {
			s.Send(apptest.Event{Topic: topic, Kind: kind, Key: data["id"].(string), Version: 1, Data: data, Extra: extra})
		}
		record := func() map[string]any {
			return map[string]any{"id": uuid.NewString(), "contact": map[string]any{"id": person}}
		}
		send(proto.SubmissionTopic, proto.KindFormSubmitted, record(), nil)
		send(proto.AppointmentTopic, proto.KindAppointmentBooked, record(), nil)
		send(proto.OrganizationTopic, proto.KindOrganizationCreated, map[string]any{"id": uuid.NewString(), "name": "Acme"}, nil)
		send(proto.OrganizationTopic, proto.KindOrganizationMerged, map[string]any{"id": uuid.NewString(), "name": "Acme"}, map[string]any{"merged_id": merged})
		send(proto.ContactTopic, proto.KindMarketingSubscribed, map[string]any{"id": person, "marketing": "subscribed"}, nil)
		send(proto.ContactTopic, proto.KindContactMerged, map[string]any{"id": uuid.NewString()}, map[string]any{"merged_id": merged})
		send(proto.ContactTopic, proto.KindContactErased, map[string]any{"id": uuid.NewString(), "email": "must not be seen"}, nil)
		// Not subscribable, however often they come.
		send(proto.ContactTopic, proto.KindContactEnsured, map[string]any{"id": person}, map[string]any{"origin": "submission"})
		send(proto.AppointmentTopic, proto.KindAppointmentUpdated, record(), nil)
		send(proto.SubmissionTopic, proto.KindSubmissionUpdated, record(), nil)
		s.Eventually(func() bool { return len(r.All()) == 7 })
		s.Settle()

		shape := map[string][]string{}
		for _, got := range r.All() {
			shape[got.JSON().Event] = keysOf(got.JSON().Data)
			if got.JSON().Event == proto.KindContactErased {
				require.Equal(t, []string{"id"}, keysOf(got.JSON().Data["contact"].(map[string]any)))
			}
			if m, ok := got.JSON().Data["merged_id"]; ok {
				require.Equal(t, merged, m)
			}
		}
		for event, want := range map[string][]string{
			proto.KindFormSubmitted: {"submission"}, proto.KindAppointmentBooked: {"appointment"}, proto.KindOrganizationCreated: {"organization"},
			proto.KindOrganizationMerged: {"organization", "merged_id"}, proto.KindMarketingSubscribed: {"contact"},
			proto.KindContactMerged: {"contact", "merged_id"}, proto.KindContactErased: {"contact"},
		} {
			require.ElementsMatch(t, want, shape[event], event)
		}
		require.Equal(t, 7, len(r.All()))
	})
	t.Run("each active subscriber gets an event once however often it arrives", func(t *testing.T) {
		s := s.In(t)
		r := webhookstest.Listen(t)
		first, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		second, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated, proto.KindContactUpdated)
		other, _ := s.Subscribe(admin, r.URL, proto.KindContactUpdated)
		off, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		admin.Patch("/webhooks/"+off, map[string]any{"active": false}).Is(200)

		id := uuid.NewString()
		event := s.Contact(proto.KindContactCreated, id, 1)
		s.Contact(proto.KindContactCreated, id, 1, func(e *apptest.Event) { e.ID = event })
		s.Settle()
		s.Contact(proto.KindContactCreated, id, 1, func(e *apptest.Event) { e.ID = event })
		s.Settle()
		for _, w := range []string{first, second} {
			s.Eventually(func() bool { return slices.Equal(s.Statuses(admin, w), []string{"delivered"}) })
		}
		require.Empty(t, s.Statuses(admin, other))
		require.Empty(t, s.Statuses(admin, off))
		require.Equal(t, 2, len(r.All()))

		// What happened while it was off never comes.
		admin.Patch("/webhooks/"+off, map[string]any{"active": true}).Is(200)
		require.Empty(t, s.Statuses(admin, off))
	})
	t.Run("events of a record arrive in their order", func(t *testing.T) {
		s := s.In(t)
		r := webhookstest.Listen(t)
		// The earlier of two would be overtaken if both were on the way.
		r.Answers(func(n int, _ webhookstest.Request) (int, string) {
			time.Sleep(time.Duration(n%4) * 5 * time.Millisecond)
			return 200, ""
		})
		s.Subscribe(admin, r.URL, proto.KindContactUpdated)
		people := []string{uuid.NewString(), uuid.NewString(), uuid.NewString()}
		const rounds = 20
		for v := range rounds {
			for _, p := range people {
				s.Contact(proto.KindContactUpdated, p, int64(v))
			}
		}
		s.Eventually(func() bool { return len(r.All()) >= rounds*len(people) })
		seen := map[string][]int{}
		for _, got := range r.All() {
			c := got.JSON().Data["contact"].(map[string]any)
			seen[c["id"].(string)] = append(seen[c["id"].(string)], int(c["version_in_test"].(float64)))
		}
		for _, p := range people {
			require.Len(t, seen[p], rounds)
			require.True(t, slices.IsSorted(seen[p]), "%v", seen[p])
		}
	})
	t.Run("a delivery that waits for its retry holds nobody up", func(t *testing.T) {
		s := s.In(t)
		r := webhookstest.Listen(t)
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated, proto.KindContactUpdated)
		r.Says(500)
		key := uuid.NewString()
		s.Contact(proto.KindContactCreated, key, 1)
		s.Eventually(func() bool { return slices.Equal(s.Statuses(admin, id), []string{"retrying"}) })
		r.Says(200)
		s.Contact(proto.KindContactUpdated, key, 2)
		s.Eventually(func() bool { return slices.Equal(s.Statuses(admin, id), []string{"delivered", "retrying"}) })
	})
	t.Run("a tombstone takes the record too", func(t *testing.T) {
		s := s.In(t)
		r := webhookstest.Listen(t)
		id, _ := s.Subscribe(admin, r.URL, s.Every(admin)...)
		data := map[string]any{"id": uuid.NewString(), "values": map[string]any{"email": "gone@example.com"}}
		s.Send(apptest.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: data["id"].(string), Version: 1, Data: data})
		s.Eventually(func() bool { return slices.Equal(s.Statuses(admin, id), []string{"delivered"}) })
		require.NoError(t, s.Neighbours.Send(t.Context(), []db.Message{{Topic: proto.SubmissionTopic, Key: data["id"].(string)}}))
		s.Settle()
		d := admin.Get("/webhooks/" + id + "/deliveries").Is(200)
		require.NotContains(t, d.Body, "gone@example.com")
		require.Equal(t, map[string]any{"submission": map[string]any{"id": data["id"]}}, d.Field("items.0.payload.data"))
	})
}

func keysOf(m map[string]any) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

func TestWhetherAnAppIsOnIsDecidedWhenTheEventHappens(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	for _, c := range []struct {
		name              string
		happened, arrives bool // whether the app was on
	}{
		{"on, and still on when the event arrives", true, true},
		{"on, and off when the event arrives", true, false},
		{"off, and on again when the event arrives", false, true},
		{"off, and still off when the event arrives", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.In(t)
			r := webhookstest.Listen(t)
			s.SetApp("booking", true)
			id, _ := s.Subscribe(admin, r.URL, s.Every(admin)...)
			s.SetApp("booking", c.arrives)
			appointment := map[string]any{"id": uuid.NewString()}
			s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: proto.KindAppointmentBooked, Key: appointment["id"].(string), Version: 1,
				AppOff: !c.happened, Data: appointment})
			s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
			s.Settle()
			want := []string{proto.KindContactCreated}
			if c.happened {
				want = append(want, proto.KindAppointmentBooked)
			}
			s.Eventually(func() bool { return len(r.All()) >= len(want) })
			var got []string
			for _, x := range r.All() {
				got = append(got, x.JSON().Event)
			}
			require.ElementsMatch(t, want, got)
			require.Len(t, s.Rows(id), len(want))
		})
	}
}

func TestErasingAContactTakesItOutOfEveryStoredBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	r.Answers(func(_ int, got webhookstest.Request) (int, string) { return 500, "echo " + got.Body })
	id, _ := s.Subscribe(admin, r.URL, s.Every(admin)...)
	person, loser, other := uuid.NewString(), uuid.NewString(), uuid.NewString()
	named := func(id string) map[string]any {
		return map[string]any{"id": uuid.NewString(), "values": map[string]any{"email": "gone@example.com"}, "contact": map[string]any{"id": id, "name": "gone@example.com"}}
	}
	gone := func(e *apptest.Event) { e.Data.(map[string]any)["email"] = "gone@example.com" }
	s.Contact(proto.KindContactCreated, person, 1, gone)
	s.Contact(proto.KindContactCreated, loser, 1, gone)
	s.Contact(proto.KindContactCreated, other, 1)
	submission := named(person)
	s.Send(apptest.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: submission["id"].(string), Version: 1, Data: submission})
	s.Eventually(func() bool { return len(r.All()) == 4 && !slices.Contains(s.Statuses(admin, id), "queued") })
	s.Contact(proto.KindContactMerged, person, 2, gone, func(e *apptest.Event) { e.Extra = map[string]any{"merged_id": loser} })
	s.Contact(proto.KindContactErased, person, 3, func(e *apptest.Event) { e.Data = map[string]any{"id": person} })
	s.Settle()
	// One that was on its way.
	late := named(person)
	s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: proto.KindAppointmentCancelled, Key: late["id"].(string), Version: 2, Data: late})
	s.Eventually(func() bool { return len(r.All()) == 7 && !slices.Contains(s.Statuses(admin, id), "queued") })

	list := admin.Get("/webhooks/" + id + "/deliveries?per_page=100").Is(200)
	require.NotContains(t, list.Body, "gone@example.com")
	require.Contains(t, list.Body, "ann@example.com")
	require.Len(t, list.Items(), 7)
	for _, d := range list.Items() {
		full := admin.Get("/webhook-deliveries/" + d["id"].(string)).Is(200)
		require.NotContains(t, full.Body, "gone@example.com")
		require.Equal(t, d["event"], full.Text("payload.event"))
		require.Equal(t, d["event_id"], full.Text("payload.id"))
		require.Regexp(t, `Z$`, full.Text("payload.occurred_at"))
	}
	// A retry sends what is left, in its old place.
	before := len(r.All())
	s.Travel(61 * time.Second)
	admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200) // wakes its lane
	s.Eventually(func() bool { return len(r.All()) == before+7 })
	for _, got := range r.All()[before:] {
		require.NotContains(t, got.Body, "gone@example.com")
	}
}

func TestTheEndOfAContactSaysWhetherItWasMergedErasedOrIsGone(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	id, _ := s.Subscribe(admin, r.URL, s.Every(admin)...)
	merged, survivor, gone := uuid.NewString(), uuid.NewString(), uuid.NewString()
	for _, contact := range []string{merged, gone} {
		s.Contact(proto.KindContactCreated, contact, 1)
	}
	s.Eventually(func() bool { return len(r.All()) == 2 })
	s.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactMergedAway, Key: merged, Data: map[string]any{"id": merged}, Extra: map[string]any{"into": survivor}})
	require.NoError(t, s.Neighbours.Send(t.Context(), []db.Message{{Topic: proto.ContactTopic, Key: gone}}))
	s.Settle()
	require.Contains(t, admin.Get("/webhooks/"+id+"/deliveries").Is(200).Body, "ann@example.com")
	var filed, whole int
	count := `select count(*) filter (where contact = $1), count(*) filter (where not scrubbed) from message`
	require.NoError(t, s.DB.Pool.QueryRow(t.Context(), count, survivor).Scan(&filed, &whole))
	require.Equal(t, []int{1, 2}, []int{filed, whole}, "merging erases nobody, and being gone neither")

	// Erasing the survivor reaches what is filed under it; the second sending is state, and no news.
	for _, state := range []bool{false, true} {
		s.Contact(proto.KindContactErased, survivor, 0, func(e *apptest.Event) { e.Data, e.State = map[string]any{"id": survivor}, state })
	}
	s.Settle()
	require.NoError(t, s.DB.Pool.QueryRow(t.Context(), count, survivor).Scan(&filed, &whole))
	require.Equal(t, []int{2, 1}, []int{filed, whole})
	s.Eventually(func() bool { return len(r.All()) == 3 })
}

func TestStateAndHistoryAreNotDelivered(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	s.Subscribe(admin, r.URL, s.Every(admin)...)
	s.Contact(proto.KindContactUpdated, uuid.NewString(), 3, func(e *apptest.Event) { e.State = true })
	s.Contact(proto.KindContactUpdated, uuid.NewString(), 3, func(e *apptest.Event) { e.At = s.Now().Add(-8 * 24 * time.Hour) })
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Settle()
	s.Eventually(func() bool { return len(r.All()) == 1 })
	require.Equal(t, proto.KindContactCreated, r.All()[0].JSON().Event)
	var stored int
	require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select count(*) from message`).Scan(&stored))
	require.Equal(t, 1, stored)
}

func TestAnEventOfMoreWebhooksThanANotificationNamesReachesAll(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := webhookstest.Listen(t)
	_, err := s.DB.Pool.Exec(t.Context(), `insert into webhook (id, name, url, events, active, secret, secret_hint, created_at, updated_at)
		select new_id(), 'x', $1, '{contact.created}', true, '', 'xxxx', now(), now() from generate_series(1, 250)`, r.URL)
	require.NoError(t, err)
	rows, err := s.DB.Pool.Query(t.Context(), `select id from webhook`)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	require.NoError(t, err)
	for _, id := range ids {
		require.Equal(t, uuid.Version(7), id.Version())
		s.Exec(`update webhook set secret = $2 where id = $1`, id, s.Keys.Seal(s.Parts.Sealed[0].Purpose(id.String()), []byte(signature.NewSecret())))
	}
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { return len(r.All()) == 250 })
}
