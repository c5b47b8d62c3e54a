package history_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func TestAContactIsWrittenToByHand(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	c, own := s.As("svc_admin"), s.As("staff")
	ann := c.Post("/contacts", object{"first_name": "Ann", "email": "Ann@Example.com"}).Is(201).Text("id")
	bob := c.Post("/contacts", object{"first_name": "Bob"}).Is(201).Text("id")
	mailed := func() (all []*proto.Mail) {
		s.Settle()
		for _, e := range s.Events(proto.MailTopic) {
			if e.GetKind() == proto.KindMail {
				m := &proto.Mail{}
				require.NoError(t, protobuf.Unmarshal(e.GetData(), m))
				all = append(all, m)
			}
		}
		return all
	}
	t.Run("the mail goes out once, and stands in the timeline", func(t *testing.T) {
		write := c.With("Idempotency-Key", "once")
		sent := write.Post("/contacts/"+ann+"/mails", object{"subject": " Your\r\nBcc: eve@example.com question ", "body": "Dear Ann,\n\nyes.\n<b>An</b>"}).Is(201)
		require.Equal(t, "Your Bcc: eve@example.com question", sent.Text("subject"))
		require.Equal(t, "queued", sent.Text("status"))
		require.Equal(t, sent.Text("id"), write.Post("/contacts/"+ann+"/mails", object{"subject": " Your\r\nBcc: eve@example.com question ", "body": "Dear Ann,\n\nyes.\n<b>An</b>"}).Is(201).Text("id"))
		all := mailed()
		require.Len(t, all, 1)
		m := all[0]
		require.Equal(t, []string{"contact.mail", "ann@example.com", sent.Text("id")}, []string{m.GetKind(), m.GetTo(), m.GetId()})
		require.Contains(t, m.GetText(), "Dear Ann,\n\nyes.\n<b>An</b>\n")
		require.Contains(t, m.GetHtml(), "&lt;b&gt;An&lt;/b&gt;")
		require.Contains(t, m.GetReplyTo(), "@", "answers go to who wrote")
		require.NotEqual(t, "eve@example.com", m.GetReplyTo())

		entry := c.Get("/contacts/" + ann + "/activities?type=mail").Is(200).Items()
		require.Len(t, entry, 1)
		require.Equal(t, "Dear Ann,\n\nyes.\n<b>An</b>", entry[0]["body"])
		require.Equal(t, sent.Text("id"), entry[0]["data"].(object)["mail"].(object)["id"])
		require.Len(t, s.Audited("write-mail"), 1)
		for _, e := range s.Events(proto.AuditTopic) {
			require.NotContains(t, string(e.GetData()), "Dear Ann")
		}
	})
	t.Run("nobody is written to without an address, about another's appointment, or past one's own records", func(t *testing.T) {
		text := object{"subject": "Hello", "body": "There"}
		require.Equal(t, "no_address", c.Post("/contacts/"+bob+"/mails", text).Fails(409, "svc_conflict").Text("data.reason"))
		c.Post("/contacts/"+ann+"/mails", object{"subject": "Hello", "body": "There", "appointment": uuid.NewString()}).Is(404)
		own.Post("/contacts/"+ann+"/mails", text).Is(404)
		for name, wrong := range map[string]object{"no subject": {"subject": "\n", "body": "There"}, "no body": {"subject": "Hello", "body": " "},
			"too long": {"subject": strings.Repeat("a", 191), "body": "There"}, "too much": {"subject": "Hello", "body": strings.Repeat("a", 5001)}} {
			t.Run(name, func(t *testing.T) { c.For(t).Post("/contacts/"+ann+"/mails", wrong).Is(400) })
		}
		c.Delete("/contacts/"+ann, nil).Is(204)
		c.Post("/contacts/"+ann+"/mails", text).Fails(409, "svc_invalid_status")
		require.Len(t, mailed(), 1)
	})
}
