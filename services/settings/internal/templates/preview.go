package templates

import (
	"context"
	"strings"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/letter"
	"frontdesk/libs/mail"
	"frontdesk/libs/opt"
	"frontdesk/libs/web"
)

// mailPreview is how a mail looks.
type mailPreview struct {
	Subject string `json:"subject" doc:"The line over it."`
	Text    string `json:"text" doc:"The mail as plain text."`
	HTML    string `json:"html" doc:"The mail as a page. It loads nothing but the logo."`
}

// preview renders a template with data of nobody. Its links lead to the front page.
func (r *Room) preview(ctx context.Context, tx *db.Tx, in struct {
	Kind     string            `json:"kind" maxLength:"60" doc:"The kind of mail, such as appointment.booked."`
	Language string            `json:"language" enum:"en,nl,fr,de" doc:"The language of the mail."`
	Subject  opt.Value[string] `json:"subject,omitzero" maxLength:"190" doc:"Words that are not saved; those of the template when left out."`
	Body     opt.Value[string] `json:"body,omitzero" maxLength:"5000" doc:"Words that are not saved; those of the template when left out."`
}) (mailPreview, error) {
	saved, err := r.get(ctx, tx, which{in.Kind, in.Language})
	if err != nil {
		return mailPreview{}, err
	}
	k, err := find(in.Kind)
	if err != nil {
		return mailPreview{}, err
	}
	words := letter.Template{Subject: saved.Subject, Body: saved.Body}
	in.Subject.Apply(&words.Subject)
	in.Body.Apply(&words.Body)
	if words, err = checked(k, words); err != nil {
		return mailPreview{}, err
	}
	t, err := r.reader(ctx, tx, in.Language)
	if err != nil {
		return mailPreview{}, err
	}
	business, err := r.site.Letterhead(ctx, tx)
	if err != nil {
		return mailPreview{}, err
	}
	c := words.Fill(r.sample(t, business.Name, tx.Now))
	c.Kind, c.Language, c.Business, c.To = k.Name, t.Language, business, mail.Person{Name: t.T("sample_client"), Address: "ada@example.com"}
	if strings.HasPrefix(k.Name, "appointment.") {
		c.Footer = []string{t.T("why", "business", business.Name)}
	}
	m, err := mail.Render(c)
	if err != nil {
		return mailPreview{}, err
	}
	return mailPreview{m.GetSubject(), m.GetText(), m.GetHtml()}, nil
}

// sample are values for every placeholder: an appointment at ten in the morning, a week from now.
func (r *Room) sample(t *web.Reader, business string, now time.Time) letter.Values {
	y, m, d := now.In(r.Config.Zone).AddDate(0, 0, 7).Date()
	start := time.Date(y, m, d, 10, 0, 0, 0, r.Config.Zone)
	when := t.Date(start) + ", " + t.Clock(start) + " – " + t.Clock(start.Add(30*time.Minute))
	return letter.Values{
		letter.Greeting: letter.Hello(t, t.T("sample_client")), letter.Client: t.T("sample_client"), letter.Business: business,
		letter.Service: t.T("sample_service"), letter.Staff: t.T("sample_staff"), letter.When: when, letter.Place: t.T("sample_place"),
		letter.Stays: t.T("stays"), letter.ServiceText: []string{t.T("sample_service_text")}, letter.Statement: t.T("statement", "business", business),
		letter.Details: []mail.Row{{Label: t.T("what"), Value: t.T("sample_service")}, {Label: t.T("when"), Value: when},
			{Label: t.T("with"), Value: t.T("sample_staff")}, {Label: t.T("where"), Value: t.T("sample_place")}},
		letter.Manage:      mail.Link{Text: t.T("change"), URL: r.Config.PublicURL},
		letter.Confirm:     mail.Link{Text: t.T("confirm"), URL: r.Config.PublicURL},
		letter.Unsubscribe: letter.Foot{Text: t.T("unsubscribe"), URL: r.Config.PublicURL},
	}
}
