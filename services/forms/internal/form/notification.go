package form

import (
	files "embed"

	"frontdesk/libs/address"
	"frontdesk/libs/form"
	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
	"frontdesk/proto"
)

//go:embed text/*.json
var texts files.FS

// readers gives the texts of mails in a language.
var readers = web.Readers(texts)

// Language is that of mails to an address, and the country whose habits they follow: the language that the member of the team has chosen whose
// address it is, else that of the business's country.
func (r *Room) Language(to string) (language, country string) {
	var member *proto.User
	for _, u := range r.Identity.Users() {
		if address.Key(u.GetEmail()) == address.Key(to) {
			member = u
		}
	}
	return r.Site.Language(member)
}

// Notification is the mail about a submission to an address that the form notifies. All of it is text for libs/mail, which lets nothing in it
// become a header or markup.
func (r *Room) Notification(to, name string, lines []form.Line) mail.Content {
	language, country := r.Language(to)
	t := readers(language, country, r.Config.Zone)
	c := mail.Content{
		Kind: proto.KindFormSubmitted, To: mail.Person{Address: to}, Language: t.Language, Business: r.Site.Business(), Subject: t.T("submitted_subject") + lang.Colon(language) + " " + name,
		ReplyTo: form.ReplyTo(lines), Paragraphs: []string{t.T("submitted_text", "form", name)}, Footer: []string{t.T("submitted_why")},
	}
	for _, l := range lines {
		switch {
		case l.Text == "":
		case l.Kind == form.KindLongText:
			c.Closing = append(c.Closing, l.Label+lang.Colon(language)+"\n"+l.Text)
		default:
			c.Rows = append(c.Rows, mail.Row{Label: l.Label, Value: l.Text})
		}
	}
	return c
}
