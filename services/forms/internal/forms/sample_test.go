package forms

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestTheEventsAreThoseOfTheSamples(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("site_admin")
	type m = map[string]any
	add := func(body string) string { return fmt.Sprint("/forms/", admin.Post("/forms", body).Is(201).Field("id")) }
	admin.Patch(add(`{"name":"Contact form","status":"publish","definition":{"elements":[{"id":"first","type":"field","target":"contact.first_name"},
		{"id":"email","type":"field","target":"contact.email","required":true},{"id":"message","type":"field","target":"submission.fields.message"}]}}`), m{"name": "Contact us"}).Is(200)
	add(`{"name":"Quote","template":"quote_request"}`)
	form := add(`{"name":"Contact form","status":"publish","definition":{"elements":[{"id":"first","type":"field","target":"contact.first_name"},
		{"id":"email","type":"field","target":"contact.email","required":true},{"id":"company","type":"field","target":"organization.name"},
		{"id":"city","type":"field","target":"organization.city"},{"id":"news","type":"consent","text":"Send me the newsletter.","marketing":true}],
		"new_contacts":{"tags":["web"],"source":"Website"}}}`)
	token := s.Visitor().Get(form + "/token").Is(200).Text("token")
	s.Travel(5 * time.Second)
	s.Visitor().Post(form+"/submit", m{"token": token, "hp_url": "", "page": "https://example.com/contact",
		"values": m{"first": "Ann", "email": "ann@example.com", "company": "Acme", "city": "Ghent", "news": true}}).Is(200)

	submission, ann, winner := admin.Get("/submissions").Is(200).Text("items.0.id"), db.NewID().String(), db.NewID().String()
	contact := func(kind, id string, extra m) {
		s.Send(apptest.Event{Topic: proto.ContactTopic, Kind: kind, Key: id, Version: 1, Extra: extra, Data: m{"id": id, "first_name": "Ann", "last_name": "",
			"email": "ann@example.com", "phone": "", "owner_user_id": nil, "organization": m{"id": db.NewID().String(), "name": "Acme", "role": ""}}})
		s.Settle()
	}
	contact(proto.KindContactEnsured, ann, m{"origin": "submission", "origin_id": submission, "requested_id": ann, "contact_id": ann, "result": "created"})
	contact(proto.KindContactMerged, winner, m{"merged_id": ann})
	require.Equal(t, 1, s.PublishesStateAgain(proto.SubmissionTopic))
	admin.Delete("/submissions/"+submission, nil).Is(204)
	admin.Delete(form, nil).Is(204)
	admin.Post(form+"/restore", nil).Is(200)
	admin.Delete(form, nil).Is(204)
	for _, topic := range []string{proto.FormTopic, proto.SubmissionTopic, proto.ContactsCommandTopic} {
		s.Sample(topic)
	}
	require.NotZero(t, s.PublishesStateAgain(proto.FormTopic))
}

// Samples that the neighbours wrote of what this service follows.
const samples = "../../../../proto/samples/"

func TestWhatTheNeighboursSendIsUnderstood(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	for _, topic := range []string{proto.ContactTopic, proto.OrganizationTopic, proto.FieldTopic, proto.PageTopic} {
		files, err := filepath.Glob(samples + topic + "/*.json")
		require.NoError(t, err)
		require.NotEmpty(t, files, "nobody has written samples of %s", topic)
		for _, f := range files {
			s.SendSample(topic+"/"+strings.TrimSuffix(filepath.Base(f), ".json"), nil)
		}
	}
	s.Settle()
	count := func(table string) (n int) {
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from `+table).Scan(&n))
		return n
	}
	require.Zero(t, count("parked"))
	require.NotZero(t, count("contact"))
	require.NotZero(t, count("organization"))
}
