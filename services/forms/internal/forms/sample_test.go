package forms

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestTheEventsAreThoseOfTheSamples(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.admin.Patch("/forms/"+d.form, m{"name": "Contact us"}).Is(200)
	d.admin.Post("/forms", m{"name": "Quote", "template": "quote_request"}).Is(201)
	form := d.publishWith(m{"elements": []any{
		field("first", "contact.first_name"), field("email", "contact.email", "required", true), field("company", "organization.name"), field("city", "organization.city"),
		m{"id": "news", "type": "consent", "text": "Send me the newsletter.", "marketing": true}},
		"new_contacts": m{"tags": []string{"web"}, "source": "Website"}})
	d.send(form, m{"first": "Ann", "email": "ann@example.com", "company": "Acme", "city": "Ghent", "news": true}).Is(200)
	loser := ""
	d.contacts(func(c *proto.EnsureContact, data, _ m) {
		loser, data["organization"] = c.GetContactId(), m{"id": db.NewID().String(), "name": "Acme", "role": ""}
	})
	winner := person(db.NewID().String(), "Ann", "ann@example.com", 0)
	winner["organization"] = m{"id": db.NewID().String(), "name": "Acme", "role": ""}
	d.contact(proto.KindContactMerged, winner, m{"merged_id": loser})
	d.Settle()
	require.Equal(t, 1, d.PublishesStateAgain(proto.SubmissionTopic))
	d.admin.Delete("/submissions/"+d.only()["id"].(string), nil).Is(204)
	d.admin.Delete("/forms/"+form, nil).Is(204)
	for _, topic := range []string{proto.FormTopic, proto.SubmissionTopic, proto.ContactsCommandTopic} {
		d.Sample(topic)
	}
	require.NotZero(t, d.PublishesStateAgain(proto.FormTopic))
}

// Samples that the neighbours wrote of what this service follows.
const samples = "../../../../proto/samples/"

func TestWhatTheNeighboursSendIsUnderstood(t *testing.T) {
	t.Parallel()
	d := open(t)
	for _, topic := range []string{proto.ContactTopic, proto.OrganizationTopic, proto.FieldTopic, proto.PageTopic} {
		files, err := filepath.Glob(samples + topic + "/*.json")
		require.NoError(t, err)
		require.NotEmpty(t, files, "nobody has written samples of %s", topic)
		for _, f := range files {
			d.SendSample(topic+"/"+strings.TrimSuffix(filepath.Base(f), ".json"), nil)
		}
	}
	d.Settle()
	var parked int
	require.NoError(t, d.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from parked`).Scan(&parked))
	require.Zero(t, parked)
	require.NotEmpty(t, d.copied(`select count(*) from contact`))
	require.NotEmpty(t, d.copied(`select count(*) from organization`))
}

func (d *desk) copied(query string) (n int) {
	d.t.Helper()
	require.NoError(d.t, d.Kit.DB.Pool.QueryRow(d.t.Context(), query).Scan(&n))
	return n
}
