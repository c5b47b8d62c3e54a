package submission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/auth"
	"frontdesk/proto"
)

func (d *desk) mails() (list []*proto.Mail) {
	d.t.Helper()
	for _, e := range d.Events(proto.MailTopic) {
		if e.GetKind() == proto.KindMail {
			mail := &proto.Mail{}
			require.NoError(d.t, protobuf.Unmarshal(e.GetData(), mail))
			list = append(list, mail)
		}
	}
	return list
}

// notices are what owners were told.
func (d *desk) notices() (list []*proto.Notice) {
	d.t.Helper()
	for _, e := range d.Events(proto.MailTopic) {
		if e.GetKind() == proto.KindTellTeam {
			n := &proto.Notice{}
			require.NoError(d.t, protobuf.Unmarshal(e.GetData(), n))
			list = append(list, n)
		}
	}
	return list
}

func TestWhoIsToldOfASubmission(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("a notification shows the answers and runs nothing", func(t *testing.T) {
		d := d.again(t)
		d.SetSite("general", m{"business": m{"name": "Salon"}})
		hostile := "Hello\r\nBcc: everybody@example.com\r\n<script>alert(1)</script>"
		form := d.publish(field("email", "contact.email"), field("first", "contact.first_name", "label", "First <b>name</b>"), field("message", "submission.fields.message"))
		d.AsSession("site_admin").Patch("/forms/"+form, m{"name": "Ask\u2028Bcc: x@example.com", "definition": m{
			"elements": []any{field("email", "contact.email"), field("first", "contact.first_name", "label", "First <b>name</b>"), field("message", "submission.fields.message")},
			"notify":   m{"emails": []string{"team@example.com"}}}}).Is(200)
		d.send(form, m{"email": "ann@example.com", "first": "Ann <i>", "message": hostile}).Is(200)

		mails := d.mails()
		require.Len(t, mails, 1)
		mail := mails[0]
		require.Equal(t, []string{"team@example.com", "ann@example.com", proto.KindFormSubmitted}, []string{mail.GetTo(), mail.GetReplyTo(), mail.GetKind()})
		require.False(t, strings.ContainsAny(mail.GetSubject()+mail.GetTo()+mail.GetReplyTo()+mail.GetToName(), "\r\n\u2028"))
		require.Contains(t, mail.GetText(), "Hello\nBcc: everybody@example.com")
		require.Contains(t, mail.GetText(), "First <b>name</b>: Ann <i>")
		for _, tag := range []string{"<script", "<i>", "<b>name"} {
			require.NotContains(t, mail.GetHtml(), tag)
		}
		require.Contains(t, mail.GetHtml(), "&lt;script&gt;")
	})
	for country, words := range map[string][]string{
		"GB": {"en", "New submission: ", "Somebody has sent in the form", "because the form notifies this address"},
		"BE": {"nl", "Nieuwe inzending: ", "Iemand heeft het formulier", "omdat het formulier dit adres op de hoogte houdt"},
		"FR": {"fr", "Nouvel envoi : ", "Quelqu’un a envoyé le formulaire", "parce que le formulaire prévient cette adresse"},
		"DE": {"de", "Neue Einsendung: ", "Jemand hat das Formular", "weil das Formular diese Adresse benachrichtigt"},
	} {
		for _, chosen := range []string{"fr", ""} {
			t.Run("an address is mailed in the language of the business, a member in their own: "+country+chosen, func(t *testing.T) {
				d := d.again(t)
				d.SetSite("general", m{"country": country})
				form := d.publish(field("email", "contact.email"))
				d.AsSession("site_admin").Patch("/forms/"+form, m{"definition": m{"elements": []any{field("email", "contact.email")},
					"notify": m{"emails": []string{"team@example.com", "Member@example.com"}}}}).Is(200)
				d.Kit.Identity.Table.Put(auth.UserKey("77"), &proto.Identity{Record: &proto.Identity_User{User: &proto.User{Id: 77, Email: "member@example.com", Language: chosen}}})
				d.send(form, m{"email": "ann@example.com"}).Is(200)
				mails := d.mails()
				require.Len(t, mails, 2)
				for _, mail := range mails {
					if mail.GetTo() == "member@example.com" && chosen != "" {
						require.Contains(t, mail.GetSubject(), "Nouvel envoi : ")
						continue
					}
					require.Contains(t, mail.GetHtml(), `lang="`+words[0]+`"`)
					require.Contains(t, mail.GetSubject(), words[1])
					require.Contains(t, mail.GetText(), words[2])
					require.Contains(t, mail.GetText(), words[3])
				}
			})
		}
	}
	t.Run("the owner of the contact is told once", func(t *testing.T) {
		d := d.again(t)
		owner := d.As("svc_admin")
		form := d.publishWith(m{"elements": []any{field("email", "contact.email")}, "notify": m{"owner": true}})
		d.send(form, m{"email": "ann@example.com"}).Is(200)
		require.Empty(t, d.notices())
		d.contacts(func(_ *proto.EnsureContact, data, _ m) { data["owner_user_id"] = owner.UserID })
		require.Len(t, d.notices(), 1)
		n := d.notices()[0]
		require.Equal(t, owner.UserID, n.GetTo()[0].GetUserId())
		require.Equal(t, []string{"team_submission", "forms", "ann@example.com", "ann@example.com"},
			[]string{n.GetTo()[0].GetKind(), n.GetApp(), n.GetSubmission().GetReplyTo(), n.GetSubmission().GetLines()[0].GetText()})

		// An address that has the mail already gets no second one; a contact of nobody has no owner to tell.
		d.AsSession("site_admin").Patch("/forms/"+form, m{"definition": m{"elements": []any{field("email", "contact.email")},
			"notify": m{"owner": true, "emails": []string{strings.ToUpper(owner.Login) + "@Example.com"}}}}).Is(200)
		d.send(form, m{"email": "bob@example.com"}).Is(200)
		d.contacts(func(_ *proto.EnsureContact, data, _ m) { data["owner_user_id"] = owner.UserID })
		require.Len(t, d.mails(), 1)
		require.Len(t, d.notices(), 1)
		d.send(form, m{"email": "cid@example.com"}).Is(200)
		d.contacts(nil)
		require.Len(t, d.mails(), 2)
		require.Len(t, d.notices(), 1)
	})
}
