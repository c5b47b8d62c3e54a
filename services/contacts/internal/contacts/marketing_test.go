package contacts

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func jsonText(v any) string { b, _ := json.Marshal(v); return string(b) }

// mails are the mails of a kind sent to an address so far, in their order.
func mails(t *testing.T, s *apptest.Service, to, kind string) (all []*proto.Mail) {
	for _, e := range s.Events(proto.MailTopic) {
		if e.GetKind() != proto.KindMail {
			continue
		}
		var m proto.Mail
		require.NoError(t, protobuf.Unmarshal(e.GetData(), &m))
		if m.GetTo() == to && m.GetKind() == kind {
			all = append(all, &m)
		}
	}
	// Ids of later mails sort after those of earlier ones; the topic has several partitions.
	slices.SortFunc(all, func(a, b *proto.Mail) int { return strings.Compare(a.GetId(), b.GetId()) })
	return all
}

func tokenIn(t *testing.T, m *proto.Mail, page string) string {
	found := regexp.MustCompile(page + `#token=([A-Za-z0-9_-]+)`).FindStringSubmatch(m.GetText())
	require.NotNil(t, found, m.GetText())
	return found[1]
}

func TestTheTokenOfALinkIsNotKept(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	id := admin.Post("/contacts", object{"first_name": "Ann", "email": "ann@example.com"}).Is(201).Text("id")
	admin.Post("/contacts/"+id+"/marketing/request", nil).Is(200)
	link := tokenIn(t, mails(t, s, "ann@example.com", "marketing.confirm")[0], "/marketing/confirm")
	require.Equal(t, []string{"outbox", proto.MailTopic}, s.Holding(link), "on its way by mail")
	s.Visitor().Post("/marketing/confirm", object{"token": link}).Is(200)
	require.Equal(t, []string{"outbox", proto.MailTopic}, s.Holding(link))
}

func TestHowAnAddressSubscribes(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("only a confirmation subscribes", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, visitor := s.As("svc_admin"), s.Visitor()
		id := admin.Post("/contacts", object{"first_name": "Ann", "email": "ann@example.com"}).Is(201).Text("id")
		a := admin.Post("/contacts/"+id+"/marketing/request", nil).Is(200)
		require.Equal(t, "pending", a.Text("marketing"))
		again := admin.Post("/contacts/"+id+"/marketing/request", nil).Fails(429, "svc_rate_limited")
		require.NotEmpty(t, again.Header.Get("Retry-After"))
		sent := mails(t, s, "ann@example.com", "marketing.confirm")
		require.Len(t, sent, 1)
		token := tokenIn(t, sent[0], "/marketing/confirm")
		visitor.Post("/marketing/confirm", object{"token": "x" + token}).Fails(400, "svc_invalid_token")
		visitor.Post("/marketing/unsubscribe", object{"token": token}).Fails(400, "svc_invalid_token")
		visitor.Post("/marketing/confirm", object{"token": token}).Is(200)
		visitor.Post("/marketing/confirm", object{"token": token}).Fails(410, "svc_token_expired")
		require.Equal(t, "subscribed", admin.Get("/contacts/"+id).Is(200).Text("marketing"))
		admin.Post("/contacts/"+id+"/marketing/request", nil).Fails(409, "svc_invalid_status")
		consent := admin.Get("/contacts/" + id + "/consents").Is(200).Items()[0]
		require.Equal(t, true, consent["verified"])
		entry := admin.Get("/contacts/" + id + "/activities").Is(200).Items()[0]
		require.Equal(t, "email", entry["channel"])
		require.Equal(t, "Ann", entry["actor_label"])

		sent = mails(t, s, "ann@example.com", "marketing.confirmed")
		require.Len(t, sent, 1)
		leave := tokenIn(t, sent[0], "/marketing/unsubscribe")
		for range 2 {
			visitor.Post("/marketing/unsubscribe", object{"token": leave}).Is(200)
		}
		require.Equal(t, "unsubscribed", admin.Get("/contacts/"+id).Is(200).Text("marketing"))
		require.Equal(t, []string{proto.KindContactCreated, proto.KindContactUpdated, proto.KindContactUpdated, proto.KindMarketingSubscribed, proto.KindContactUpdated, proto.KindMarketingUnsubscribed},
			s.Kinds(proto.ContactTopic, id))

		s.Travel(25 * time.Hour)
		admin.Post("/contacts/"+id+"/marketing/request", nil).Fails(400, "svc_invalid_param")
		admin.Post("/contacts/"+id+"/marketing/request", object{"reason": "asked on the phone"}).Is(200)
		old := tokenIn(t, mails(t, s, "ann@example.com", "marketing.confirm")[1], "/marketing/confirm")
		admin.Post("/contacts/"+id+"/marketing/unsubscribe", nil).Is(200)
		visitor.Post("/marketing/confirm", object{"token": old}).Fails(410, "svc_token_expired")
		admin.Post("/contacts/"+id+"/marketing/unsubscribe", nil).Is(200)
	})
	t.Run("an address that left stays away", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		id := admin.Post("/contacts", object{"email": "Ann@example.com"}).Is(201).Text("id")
		none := admin.Post("/contacts", object{"first_name": "None"}).Is(201).Text("id")
		admin.Post("/contacts/"+none+"/marketing/request", nil).Fails(400, "svc_invalid_param")
		require.Equal(t, "unsubscribed", admin.Post("/contacts/"+id+"/marketing/unsubscribe", nil).Is(200).Text("marketing"))
		require.Equal(t, "none", admin.Patch("/contacts/"+id, object{"mode": "overwrite", "email": "new@example.com"}).Is(200).Text("marketing"))
		require.Equal(t, "unsubscribed", admin.Patch("/contacts/"+none, object{"email": "ANN@example.com"}).Is(200).Text("marketing"))
		require.Equal(t, object{"erased": 1.0}, admin.Post("/privacy/erase", object{"email": "ann@example.com"}).Is(200).Map())
		require.Equal(t, "unsubscribed", admin.Post("/contacts", object{"email": "ann@example.com"}).Is(201).Text("marketing"))
	})
	t.Run("a visitor is asked in their language, and what was mailed is what they agreed to", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, visitor := s.As("svc_admin"), s.Visitor()
		s.SetSite("general", object{"country": "FR", "business": object{"name": "Bakkerij Peeters"}})
		defer s.SetSite("general", object{})
		yes := []*proto.Consent{{Purpose: "newsletter", Text: "Stuur mij nieuws.", Marketing: true}}
		m := &proto.EnsureContact{Email: "piet@example.com", Create: true, Consents: yes, Language: "nl"}
		ensure(s, m)
		asked := mails(t, s, "piet@example.com", "marketing.confirm")[0]
		require.Equal(t, "Graag bevestigen: nieuws van Bakkerij Peeters", asked.GetSubject())
		require.Contains(t, asked.GetText(), "/marketing/unsubscribe?lang=nl#token=")
		token := tokenIn(t, asked, `/marketing/confirm\?lang=nl`)

		s.SetSite("general", object{"country": "FR", "business": object{"name": "Renamed"}})
		visitor.Post("/marketing/confirm", object{"token": token}).Is(200)
		consents := admin.Get("/contacts/" + m.ContactId + "/consents").Is(200).Items()
		require.Equal(t, "Ja, Bakkerij Peeters mag me nieuws en aanbiedingen mailen. Ik kan me op elk moment uitschrijven.", consents[1]["text"])
		require.Contains(t, asked.GetText(), consents[1]["text"])
		welcome := mails(t, s, "piet@example.com", "marketing.confirmed")[0]
		require.Contains(t, welcome.GetText(), consents[1]["text"])
		require.Contains(t, welcome.GetText(), "U ging hiermee akkoord:")

		id := admin.Post("/contacts", object{"email": "amelie@example.com"}).Is(201).Text("id")
		admin.Post("/contacts/"+id+"/marketing/request", nil).Is(200)
		require.Equal(t, "Veuillez confirmer : les nouvelles de Renamed", mails(t, s, "amelie@example.com", "marketing.confirm")[0].GetSubject(), "the team asks in the language of the country")
	})
	t.Run("a form asks once a day", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		yes := []*proto.Consent{{Purpose: "newsletter", Text: "Send me news.", Marketing: true}}
		m := &proto.EnsureContact{Email: "bob@example.com", Create: true, Consents: yes}
		ensure(s, m)
		ensure(s, &proto.EnsureContact{Email: "bob@example.com", Create: true, Consents: yes})
		require.Equal(t, "pending", admin.Get("/contacts/"+m.ContactId).Is(200).Text("marketing"))
		require.Len(t, mails(t, s, "bob@example.com", "marketing.confirm"), 1)
		consents := admin.Get("/contacts/" + m.ContactId + "/consents").Is(200).Items()
		require.Len(t, consents, 2)
		require.Equal(t, false, consents[0]["verified"])
	})
}
