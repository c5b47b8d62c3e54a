package webhooks

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

func TestAnErasedAddressIsStruckFromBodiesAboutOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Travel(2 * time.Minute) // what happened before the service began is history
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	r.Answers(func(_ int, got webhookstest.Request) (int, string) { return 200, "echo " + got.Body })
	id, _ := s.Subscribe(admin, r.URL, s.Every(admin)...)
	submission := func(text string) string {
		sent := uuid.NewString()
		s.Send(apptest.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: sent, Version: 1,
			Data: map[string]any{"id": sent, "values": map[string]any{"text": text}, "contact": map[string]any{"id": uuid.NewString(), "name": "Bob"}}})
		return sent
	}
	before, lookAlike := submission("ask Gone@Bücher.example and jann@example.com"), submission("ask begone@bücher.example")
	s.Eventually(func() bool { return len(r.All()) == 2 && !slices.Contains(s.Statuses(admin, id), "queued") })
	delivery := admin.Get("/webhooks/" + id + "/deliveries?per_page=100").Is(200).Items()[0]["id"].(string)
	admin.With("Idempotency-Key", "again").Post("/webhook-deliveries/"+delivery+"/resend", nil).Is(200)

	s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: uuid.NewString(),
		Data: &proto.ForgetPerson{Called: [][]byte{s.Keys.Person("gone@xn--bcher-kva.example")}}})
	s.Settle()
	s.Travel(-time.Minute)
	late := submission("ask gone@bücher.example")
	s.Eventually(func() bool { return len(r.All()) == 4 && !slices.Contains(s.Statuses(admin, id), "queued") })
	values := map[string]any{}
	for _, d := range admin.Get("/webhooks/" + id + "/deliveries?per_page=100").Is(200).Items() {
		full := admin.Get("/webhook-deliveries/" + d["id"].(string)).Is(200)
		require.NotRegexp(t, `(?i)[^e]gone@`, full.Body)
		values[full.Text("payload.data.submission.id")] = full.Field("payload.data.submission.values.text")
	}
	require.Equal(t, map[string]any{before: "ask  and jann@example.com", lookAlike: "ask begone@bücher.example", late: nil}, values)
	var people int
	require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select cardinality(people) from message where record = $1`, before).Scan(&people))
	require.Equal(t, 1, people, "the other address is still known")
}

func TestMergingOrganizationsErasesNobody(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	id, _ := s.Subscribe(admin, r.URL, s.Every(admin)...)
	winner, loser := uuid.NewString(), uuid.NewString()
	organization := func(kind, id, name string, extra any) {
		s.Send(apptest.Event{Topic: proto.OrganizationTopic, Kind: kind, Key: id, Version: 1, Data: map[string]any{"id": id, "name": name}, Extra: extra})
	}
	organization(proto.KindOrganizationCreated, loser, "Small Ltd", nil)
	organization(proto.KindOrganizationMerged, winner, "Big Ltd", map[string]any{"merged_id": loser})
	s.Eventually(func() bool { return len(r.All()) == 2 && !slices.Contains(s.Statuses(admin, id), "queued") })
	require.NoError(t, s.Neighbours.Send(t.Context(), []db.Message{{Topic: proto.OrganizationTopic, Key: loser}}))
	s.Settle()
	list := admin.Get("/webhooks/" + id + "/deliveries").Is(200)
	require.Contains(t, list.Body, "Small Ltd")
	require.Contains(t, list.Body, "Big Ltd")
	for _, d := range list.Items() {
		require.Equal(t, "thanks", admin.Get("/webhook-deliveries/"+d["id"].(string)).Is(200).Text("log.0.response_body"))
	}
}
