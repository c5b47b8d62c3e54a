package submission

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestWhatBecomesOfASubmission(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("a submission is completed by what contacts made of it", func(t *testing.T) {
		d := d.again(t)
		sent := d.send(d.form, m{"first": "Grace", "contact.email": "Grace@Example.com", "message": "Good morning"}).Is(200)
		require.Equal(t, "message", sent.Text("after_submit.type"))

		s := d.only()
		require.Equal(t, m{"contact": "pending"}, s["result"])
		require.Nil(t, s["contact"])
		require.Equal(t, m{"first": "Grace", "contact.email": "Grace@Example.com", "message": "Good morning"}, s["values"])
		require.Equal(t, "https://example.com/contact", s["page"])

		commands := d.commands()
		require.Len(t, commands, 1)
		c := commands[0]
		require.Equal(t, []any{"Grace", "Grace@example.com", "lead", "Contact form", "submission", s["id"], true},
			[]any{c.GetFirstName(), c.GetEmail(), c.GetStatus(), c.GetSource(), c.GetOrigin(), c.GetOriginId(), c.GetCreate()})
		e := d.Events(proto.ContactsCommandTopic)[0]
		require.Equal(t, "grace@example.com", e.GetRecordId())
		require.Equal(t, []string{"Grace", "form"}, []string{e.GetActor().GetLabel(), e.GetActor().GetChannel()})
		require.Empty(t, d.Kinds(proto.SubmissionTopic, s["id"].(string)))

		d.contacts(nil)
		s = d.only()
		require.Equal(t, m{"contact": "created"}, s["result"])
		require.Equal(t, m{"id": c.GetContactId(), "name": "Grace"}, s["contact"])
		require.Equal(t, []string{proto.KindFormSubmitted}, d.Kinds(proto.SubmissionTopic, s["id"].(string)))
		require.Equal(t, "Grace", d.admin.Get("/submissions/"+s["id"].(string)).Is(200).Text("contact.name"))
		require.EqualValues(t, 1, d.admin.Get("/forms/"+d.form).Is(200).Field("submissions_30d"))
		d.admin.Get("/submissions/"+uuid.NewString()).Fails(404, "svc_not_found")
	})
	t.Run("a submission goes to the contact that had the address first", func(t *testing.T) {
		d := d.again(t)
		d.send(d.form, m{"email": "grace@example.com"}).Is(200)
		real := db.NewID().String()
		d.contacts(func(_ *proto.EnsureContact, data, extra m) {
			data["id"], data["first_name"] = real, "Grace Hopper"
			extra["contact_id"], extra["result"] = real, "updated"
		})
		s := d.only()
		require.Equal(t, m{"contact": "updated"}, s["result"])
		require.Equal(t, m{"id": real, "name": "Grace Hopper"}, s["contact"])
	})
	t.Run("a contact that cannot be made leaves the submission complete", func(t *testing.T) {
		d := d.again(t)
		plain := d.publish(field("message", "submission.fields.message"))
		d.send(plain, m{"message": "Nobody"}).Is(200)
		s := d.only()
		require.Equal(t, m{"contact": "none"}, s["result"])
		require.Equal(t, []string{proto.KindFormSubmitted}, d.Kinds(proto.SubmissionTopic, s["id"].(string)))

		existing := d.publishWith(m{"elements": []any{field("email", "contact.email"), field("first", "contact.first_name")}, "new_contacts": m{"create": false}})
		d.send(existing, m{"first": "Ann"}).Is(200)
		require.Empty(t, d.commands())
		d.send(existing, m{"email": "a@example.com"}).Is(200)
		require.False(t, d.commands()[0].GetCreate())
		c := d.commands()[0]
		d.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactEnsured, Key: c.GetContactId(),
			Extra: m{"origin": "submission", "origin_id": c.GetOriginId(), "requested_id": c.GetContactId(), "contact_id": "", "result": "none"}})
		d.Settle()
		s = d.admin.Get("/submissions/" + c.GetOriginId()).Is(200).Map()
		require.Equal(t, []any{m{"contact": "none"}, nil}, []any{s["result"], s["contact"]})
	})
	t.Run("the command carries what the form says of new contacts", func(t *testing.T) {
		d := d.again(t)
		owner := d.As("svc_admin")
		form := d.publishWith(m{"elements": []any{
			field("first", "contact.first_name"), field("email", "contact.email"), field("company", "organization.name"), field("city", "organization.city"),
			m{"id": "news", "type": "consent", "text": "Send me the newsletter.", "marketing": true},
			m{"id": "terms", "type": "consent", "text": "I agree.", "purpose": "privacy"},
		}, "new_contacts": m{"status": "customer", "source": "Website", "tags": []string{"web", "new"}, "owner_user_id": owner.UserID}})
		d.send(form, m{"first": "Ann", "email": "ann@example.com", "company": "Acme", "city": "Ghent", "news": true, "terms": false}).Is(200)
		c := d.commands()[0]
		require.Equal(t, []any{"customer", "Website", []string{"web", "new"}, owner.UserID, "Acme", true},
			[]any{c.GetStatus(), c.GetSource(), c.GetTags(), c.GetOwnerUserId(), c.GetOrganizationName(), c.GetCreate()})
		require.JSONEq(t, `{"city":"Ghent"}`, string(c.GetOrganization()))
		require.Len(t, c.GetConsents(), 1)
		require.Equal(t, []any{"newsletter", "Send me the newsletter.", true}, []any{c.GetConsents()[0].GetPurpose(), c.GetConsents()[0].GetText(), c.GetConsents()[0].GetMarketing()})
	})
	t.Run("a repeated submission is stored once", func(t *testing.T) {
		d := d.again(t)
		body := m{"values": m{"email": "a@example.com"}, "token": d.token(d.form)}
		v := d.Visitor().With("Idempotency-Key", "the key of this visit")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { v.Post("/forms/"+d.form+"/submit", body).Is(200) })
		}
		wg.Wait()
		d.only()
		require.Len(t, d.commands(), 1)
	})
	t.Run("a deleted submission is gone everywhere", func(t *testing.T) {
		d := d.again(t)
		d.send(d.form, m{"email": "ann@example.com"}).Is(200)
		d.contacts(nil)
		id := d.only()["id"].(string)
		d.admin.Delete("/submissions/"+id, nil).Is(204)
		d.admin.Get("/submissions/"+id).Fails(404, "svc_not_found")
		d.admin.Delete("/submissions/"+id, nil).Fails(404, "svc_not_found")
		require.Equal(t, []string{proto.KindFormSubmitted, proto.KindSubmissionDeleted, "tombstone"}, d.Kinds(proto.SubmissionTopic, id))
	})
	t.Run("the details of a booking are a submission", func(t *testing.T) {
		d := d.again(t)
		contact, id := db.NewID().String(), db.NewID().String()
		record := func(id, values string) {
			var form int64
			_, err := fmt.Sscan(d.form, &form)
			require.NoError(t, err)
			for range 2 {
				d.Send(apptest.Event{Topic: proto.FormsCommandTopic, Kind: proto.KindRecordSubmission, Key: id, Actor: &proto.Actor{Label: "Ann", Channel: "booking"},
					Data: &proto.RecordSubmission{SubmissionId: id, FormId: form, ContactId: contact, AppointmentId: db.NewID().String(), Values: []byte(values), Page: "/book",
						Client: &proto.EnsureContact{ContactId: contact, Email: "ann@example.com", FirstName: "Ann", Origin: "appointment", OriginId: id, Create: true}}})
			}
			d.Settle()
		}
		record(id, `{"first":"Ann","email":"ann@example.com"}`)
		require.Len(t, d.commands(), 1)
		require.Equal(t, contact, d.commands()[0].GetContactId())
		d.contacts(func(_ *proto.EnsureContact, _, extra m) { extra["result"] = "unchanged" })
		s := d.only()
		require.Equal(t, []any{id, m{"contact": "unchanged"}, contact}, []any{s["id"], s["result"], s["contact"].(m)["id"]})
		require.Equal(t, "booking", d.Events(proto.SubmissionTopic)[0].GetActor().GetChannel())

		broken := db.NewID().String()
		record(broken, `{"first":"Ann","email":"nonsense"}`)
		b := d.admin.Get("/submissions/" + broken).Is(200)
		require.Contains(t, b.Text("error"), "email")
		require.Equal(t, "none", b.Text("result.contact"))
		require.Len(t, d.commands(), 2, "the client is a contact at once, as booking read the answers")
		require.Equal(t, []any{"ann@example.com", "appointment"}, []any{d.commands()[1].GetEmail(), d.commands()[1].GetOrigin()})
		require.Contains(t, d.admin.Get("/exports/submissions.csv").Is(200).Body, "nonsense")
	})
}

func TestContactsIsAskedAgainAboutASubmissionThatIsUnansweredForADay(t *testing.T) {
	t.Parallel()
	d := open(t)
	ask := func() int {
		d.t.Helper()
		require.NoError(t, (&Room{Kit: d.Kit}).askAgain(t.Context()))
		return len(d.commands())
	}
	d.send(d.form, m{"email": "grace@example.com", "first": "Grace"}).Is(200)
	require.Equal(t, 1, ask())
	d.Travel(25 * time.Hour)
	require.Equal(t, 2, ask())
	require.Equal(t, 2, ask(), "once a day")
	commands := d.commands()
	require.Equal(t, commands[0].String(), commands[1].String())
	require.Equal(t, "Grace", d.Events(proto.ContactsCommandTopic)[1].GetActor().GetLabel())
	d.contacts(nil)
	require.Equal(t, m{"contact": "created"}, d.only()["result"])
	require.Equal(t, []string{proto.KindFormSubmitted}, d.Kinds(proto.SubmissionTopic, d.only()["id"].(string)))
	d.Travel(25 * time.Hour)
	require.Equal(t, 2, ask())

	var sent []string
	for i := range 6 {
		d.send(d.form, m{"email": fmt.Sprintf("grace%d@example.com", i)}).Is(200)
		sent = append(sent, fmt.Sprintf("grace%d@example.com", i))
	}
	d.Travel(25 * time.Hour)
	require.Equal(t, 2+2*6, ask())
	repeated := d.Events(proto.ContactsCommandTopic)
	slices.SortFunc(repeated, func(a, b *proto.Envelope) int { return strings.Compare(a.GetId(), b.GetId()) })
	var asked []string
	for _, e := range repeated[2+6:] {
		asked = append(asked, e.GetActor().GetLabel())
	}
	require.Equal(t, sent, asked, "in the order of what was sent")
}

func TestWhatASubmissionMaySay(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("what a visitor may not send is refused", func(t *testing.T) {
		d := d.again(t)
		token := d.token(d.form)
		v := d.Visitor()
		body := func(change func(b m)) m {
			b := m{"values": m{"email": "a@example.com"}, "token": token, "hp_url": "", "page": "https://example.com/"}
			change(b)
			return b
		}
		path := "/forms/" + d.form + "/submit"
		v.Post(path, body(func(b m) { b["token"] = "forged" })).Fails(400, "svc_invalid_token")
		v.Post(path, body(func(b m) { delete(b, "token") })).Fails(400, "svc_invalid_token")
		v.Post(path, body(func(b m) { b["hp_url"] = "https://example.com" })).Fails(400, "svc_invalid_token")
		v.Post(path, body(func(b m) { b["token"] = d.token(d.publish(field("email", "contact.email"))) })).Fails(400, "svc_invalid_token")
		v.Post(path, body(func(b m) { b["token"] = v.Get("/forms/" + d.form + "/token").Text("token") })).Fails(400, "svc_invalid_token")
		v.Post("/forms/999/submit", body(func(m) {})).Fails(404, "svc_not_found")
		for param, values := range map[string]any{
			"values": 7, "values.contact.email": m{}, "values.email": m{"email": "nonsense"}, "values.other": m{"email": "a@example.com", "other": 1},
		} {
			params, _ := v.Post(path, body(func(b m) { b["values"] = values })).Fails(400, "svc_invalid_param").Field("data.params").(m)
			require.Contains(t, params, param)
		}
		for _, page := range []string{"javascript:alert(1)", "/contact", "file:///home/ann/form.html"} {
			refused := v.Post(path, body(func(b m) { b["page"] = page })).Fails(400, "svc_invalid_param")
			require.Equal(t, m{"page": m{"code": "url", "example": "https://example.com"}}, refused.Field("data.details"), page)
		}
		v.Post(path, body(func(b m) { b["values"] = nil })).Fails(400, "svc_invalid_param")
		v.Post(path, body(func(b m) { b["values"] = m{"email": "a@example.com", "message": strings.Repeat("x", 200<<10)} })).Fails(413, "svc_too_large")
		v.Post(path, body(func(m) {})).Is(200)
		d.Travel(13 * time.Hour)
		v.Post(path, body(func(m) {})).Fails(400, "svc_invalid_token")
		require.EqualValues(t, 1, d.admin.Get("/submissions").Field("total"))
	})
	t.Run("consent is given to the words that the visitor saw", func(t *testing.T) {
		d := d.again(t)
		agree := func(text, label string) []any {
			return []any{field("email", "contact.email", "label", label), m{"id": "ok", "type": "consent", "text": text}}
		}
		form := d.publish(agree("You may call me.", "Email")...)
		submit := func(token string) *apptest.Answer {
			return d.Visitor().Post("/forms/"+form+"/submit", m{"values": m{"email": "a@example.com", "ok": true}, "token": token, "hp_url": "", "page": ""})
		}
		change := func(text, label string) {
			d.admin.Patch("/forms/"+form, m{"definition": m{"elements": agree(text, label)}}).Is(200)
		}
		token := d.token(form)
		submit(token).Is(200)
		change("You may call me.", "Your address")
		submit(token).Is(200) // other words may change

		change("You may call me day and night.", "Your address")
		submit(token).Fails(400, "svc_invalid_token")
		require.Len(t, d.commands(), 2)
		fresh := d.token(form)
		words := func(token string) string { before, _, _ := strings.Cut(token, "."); return before }
		require.NotEqual(t, words(token), words(fresh), "who shows other words can tell")
		submit(fresh).Is(200)
		require.Equal(t, "You may call me day and night.", d.commands()[2].GetConsents()[0].GetText())

		_, rest, _ := strings.Cut(token, ".")
		submit(words(fresh)+"."+rest).Fails(400, "svc_invalid_token")
	})
	t.Run("a submission that says nothing is refused", func(t *testing.T) {
		d := d.again(t)
		form := d.publish(field("first", "contact.first_name"), m{"id": "ok", "type": "consent", "text": "I agree."})
		for name, values := range map[string]m{"nothing": {}, "blanks": {"first": " "}, "null": {"first": nil}, "a consent alone": {"ok": true}} {
			t.Run(name, func(t *testing.T) {
				refused := d.send(form, values).Fails(400, "svc_invalid_param")
				require.Equal(t, m{"values": m{"code": "empty"}}, refused.Field("data.details"))
			})
		}
		require.Empty(t, d.admin.Get("/submissions").Items())
	})
	t.Run("characters and numbers that the database cannot keep lose no submission", func(t *testing.T) {
		d := d.again(t)
		send := func(values string) *apptest.Answer {
			return d.Visitor().Post("/forms/"+d.form+"/submit", m{"values": json.RawMessage(values), "token": d.token(d.form), "hp_url": "", "page": ""})
		}
		send(`{"email":"a@example.com","message":"a lone \ud800 surrogate"}`).Is(200)
		require.Equal(t, "a lone \ufffd surrogate", d.only()["values"].(m)["message"])

		d.addField("contact", "age", "Age", "number")
		d.form = d.publish(field("email", "contact.email"), field("age", "contact.fields.age"))
		for _, number := range []string{"1e999999", "1e-99999", "-1E+400"} {
			send(`{"email":"a@example.com","age":`+number+`}`).Fails(400, "svc_invalid_param")
		}
	})
	t.Run("the language of the visitor goes with the command for their contact", func(t *testing.T) {
		d := d.again(t)
		for language, status := range map[string]int{"nl": 200, "es": 400} {
			body := m{"values": m{"email": language + "@example.com"}, "token": d.token(d.form), "hp_url": "", "page": "", "language": language}
			require.Equal(t, status, d.Visitor().Post("/forms/"+d.form+"/submit", body).Status)
		}
		sent := d.commands()
		require.Equal(t, []string{"nl@example.com", "nl"}, []string{sent[len(sent)-1].GetEmail(), sent[len(sent)-1].GetLanguage()})
	})
	t.Run("an answer to an archived field is looked at for spam", func(t *testing.T) {
		d := d.again(t)
		d.addField("contact", "size", "Size", "text")
		d.form = d.publish(field("email", "contact.email"), field("size", "contact.fields.size"))
		d.archiveField("contact", "size", "Size", "text")
		d.send(d.form, m{"email": "a@example.com", "size": "M"}).Is(200)
		d.send(d.form, m{"email": "b@example.com", "size": "//pills.example //casino.example //win.example"}).Is(200)
		require.Equal(t, []any{"links: //pills.example, //casino.example, //win.example", nil}, []any{d.admin.Get("/submissions").Field("items.0.spam_reason"), d.admin.Get("/submissions").Field("items.1.spam_reason")})
	})
	t.Run("the largest form and submission fit into their messages", func(t *testing.T) {
		d := d.again(t)
		elements := []any{}
		values := m{}
		for i := range 12 {
			id := fmt.Sprintf("e%d", i)
			elements = append(elements, field(id, "submission.fields."+id, "help", strings.Repeat("<", 50)))
			values[id] = strings.Repeat("<", 10000)
		}
		for range 8 {
			elements = append(elements, m{"type": "paragraph", "text": strings.Repeat("&", 5000)})
		}
		definition := m{"elements": elements, "notify": m{"emails": []string{"team@example.com"}}}
		made := d.AsSession("site_admin").Post("/forms", literal(t, m{"name": "Large", "status": "publish", "definition": definition})).Is(201)
		form := fmt.Sprint(made.Field("id"))
		d.Visitor().Post("/forms/"+form+"/submit", literal(t, m{"values": values, "token": d.token(form)})).Is(200)
		require.Len(t, d.mails(), 1)
		require.Len(t, d.Kinds(proto.FormTopic, form), 1)
		require.Len(t, d.Kinds(proto.SubmissionTopic, d.only()["id"].(string)), 1)
	})
	t.Run("a form that was changed takes what it asks for now", func(t *testing.T) {
		d := d.again(t)
		form := d.publish(field("email", "contact.email"))
		path, token := "/forms/"+form, d.token(form)
		send := func(values m) *apptest.Answer {
			return d.Visitor().Post(path+"/submit", m{"values": values, "token": token, "hp_url": "", "page": ""})
		}
		send(m{"email": "a@example.com"}).Is(200)
		// Neither the version that was read for the first visitor nor its state counts from here on.
		d.admin.Patch(path, m{"definition": m{"elements": []any{field("email", "contact.email"), field("phone", "contact.phone", "required", true)}}}).Is(200)
		send(m{"email": "b@example.com"}).Fails(400, "svc_invalid_param")
		d.admin.Patch(path, m{"definition": m{"elements": []any{field("phone", "contact.phone", "required", true)}}}).Is(200)
		send(m{"phone": "+32470123456"}).Is(200)
		d.admin.Patch(path, m{"definition": m{"elements": []any{field("email", "contact.email")}}}).Is(200)
		send(m{"email": "c@example.com"}).Is(200)
		d.admin.Patch(path, m{"status": "draft"}).Is(200)
		send(m{"email": "d@example.com"}).Fails(404, "svc_not_found")
		send(m{"email": "not an address"}).Fails(404, "svc_not_found")
		d.admin.Patch(path, m{"status": "publish"}).Is(200)
		send(m{"email": "d@example.com"}).Is(200)
		d.admin.Delete(path, nil).Is(204)
		send(m{"email": "e@example.com"}).Fails(404, "svc_not_found")
		require.Equal(t, "Contact form", d.admin.Get("/submissions").Is(200).Text("items.0.form.name"), "a form in the trash keeps its name")
		require.Len(t, d.commands(), 4)
	})
}

func TestAFieldThatWasMadeJustNowIsWaitedFor(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.addField("contact", "size", "Size", "dropdown", "S", "M")
	form := d.publish(field("size", "contact.fields.size"), field("email", "contact.email"))
	d.send(form, m{"size": "XL"}).Fails(400, "svc_invalid_param")
	d.send(form, m{"size": "M", "email": "a@example.com"}).Is(200)
	require.JSONEq(t, `{"size":"M"}`, string(d.commands()[0].GetFields()))
}

func TestVisitorsAreLimitedByTheirAddress(t *testing.T) {
	t.Parallel()
	d := open(t, func(c *app.Config) { c.RateFactor, c.Proxies = 1, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	body := m{"values": m{"email": "a@example.com"}, "token": d.token(d.form)}
	v := d.Visitor().With("X-Forwarded-For", "192.0.2.1")
	for range 5 {
		v.Post("/forms/"+d.form+"/submit", body).Is(200)
	}
	limited := v.Post("/forms/"+d.form+"/submit", body).Fails(429, "svc_rate_limited")
	require.NotEmpty(t, limited.Header.Get("Retry-After"))
	d.Visitor().With("X-Forwarded-For", "192.0.2.2").Post("/forms/"+d.form+"/submit", body).Is(200)
	d.SetSite("general", m{"ip_header": "CF-Connecting-IP"})
	v.With("CF-Connecting-IP", "198.51.100.1").Post("/forms/"+d.form+"/submit", body).Fails(429, "svc_rate_limited")
	v.With("X-Forwarded-For", "10.0.0.1").With("CF-Connecting-IP", "198.51.100.1").Post("/forms/"+d.form+"/submit", body).Is(200)
}

func TestSpamIsKeptWithItsReasonAndGoesNoFurther(t *testing.T) {
	t.Parallel()
	d := open(t)
	person := d.AsSession("site_admin")
	f := d.admin.Get("/forms/" + d.form).Map()["definition"].(m)
	f["notify"] = m{"emails": []string{"team@example.com"}, "owner": false}
	person.Patch("/forms/"+d.form, m{"definition": f}).Is(200)

	normal := d.send(d.form, m{"first": "Ann", "email": "ann@example.com", "message": "Hello"}).Is(200)
	spam := d.send(d.form, m{"first": "Bob", "email": "bob@example.com", "message": `<a href="https://x.example">x</a>`}).Is(200)
	require.Equal(t, normal.Body, spam.Body)
	items := d.admin.Get("/submissions?status=spam").Is(200).Items()
	require.Len(t, items, 1)
	s := items[0]
	require.Equal(t, []any{"spam", "link_markup: <a href", m{"contact": "none"}}, []any{s["status"], s["spam_reason"], s["result"]})
	require.Len(t, d.commands(), 1)
	require.Len(t, d.Events(proto.MailTopic), 1)
	require.Empty(t, d.Kinds(proto.SubmissionTopic, s["id"].(string)))
	require.Equal(t, []any{1.0, 1.0}, []any{d.admin.Get("/forms/" + d.form).Field("submissions_30d"), d.admin.Get("/forms/" + d.form).Field("spam_30d")})

	cleared := d.admin.Post("/submissions/"+s["id"].(string)+"/not-spam", nil).Is(200)
	require.Equal(t, []any{"received", "pending", nil}, []any{cleared.Field("status"), cleared.Field("result.contact"), cleared.Field("spam_reason")})
	require.Len(t, d.Events(proto.MailTopic), 2)
	d.contacts(nil)
	require.Equal(t, []string{proto.KindFormSubmitted}, d.Kinds(proto.SubmissionTopic, s["id"].(string)))
	for _, e := range d.Events(proto.SubmissionTopic) {
		require.Equal(t, "form", e.GetActor().GetChannel())
	}
	before := d.admin.Get("/submissions/" + s["id"].(string)).Body
	require.Equal(t, before, d.admin.Post("/submissions/"+s["id"].(string)+"/not-spam", nil).Is(200).Body)
	require.Len(t, d.commands(), 2)
}

func TestSpamGoesWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	d := open(t)
	spam := m{"email": "bob@example.com", "message": "[url=https://x.example]x[/url]"}
	d.send(d.form, spam).Is(200)
	d.send(d.form, m{"email": "ann@example.com"}).Is(200)
	d.Travel(8 * 24 * time.Hour)
	d.send(d.form, spam).Is(200)
	s := &Room{Kit: d.Kit}
	require.NoError(t, s.expireSpam(t.Context()))
	require.EqualValues(t, 3, d.admin.Get("/submissions").Field("total"))
	d.SetSite("privacy", m{"retention": m{"spam": 7}})
	require.NoError(t, s.expireSpam(t.Context()))
	require.EqualValues(t, 1, d.admin.Get("/submissions?status=spam").Field("total"))
	require.EqualValues(t, 1, d.admin.Get("/submissions?status=received").Field("total"))

	// More than a slice, one of which somebody has in hand.
	d.Travel(8 * 24 * time.Hour)
	_, err := d.Kit.DB.Pool.Exec(t.Context(), `insert into submission (id, form_id, status, result, values, answers, page, email, created_at)
		select gen_random_uuid(), form_id, status, result, values, answers, page, email, created_at from submission, generate_series(1, $1) where status = 'spam'`, spamSlice)
	require.NoError(t, err)
	inHand := d.Begin()
	_, err = inHand.Exec(t.Context(), `select from submission where status = 'spam' order by id desc limit 1 for update`)
	require.NoError(t, err)
	require.NoError(t, s.expireSpam(t.Context()))
	require.EqualValues(t, 1, d.admin.Get("/submissions?status=spam").Field("total"))
	require.NoError(t, inHand.Rollback(t.Context()))
	require.NoError(t, s.expireSpam(t.Context()))
	require.EqualValues(t, 0, d.admin.Get("/submissions?status=spam").Field("total"))
}

func TestASubmissionFollowsItsContact(t *testing.T) {
	t.Parallel()
	d := open(t)
	t.Run("submissions follow their contact through merge and erasure", func(t *testing.T) {
		d := d.again(t)
		winner, loser := db.NewID().String(), ""
		d.send(d.form, m{"first": "Ann", "email": "ann@example.com"}).Is(200)
		d.send(d.form, m{"first": "Spam", "email": "ANN@example.com", "message": "https://a https://b https://c"}).Is(200)
		d.contacts(func(c *proto.EnsureContact, _, _ m) { loser = c.GetContactId() })
		d.contact(proto.KindContactMerged, person(winner, "Ann Winner", "ann@example.com", 0), m{"merged_id": loser})
		s := d.admin.Get("/submissions?contact=" + winner).Is(200).Items()
		require.Len(t, s, 1)
		require.Equal(t, m{"id": winner, "name": "Ann Winner"}, s[0]["contact"])
		require.Empty(t, d.admin.Get("/submissions?contact="+loser).Is(200).Items())
		id := s[0]["id"].(string)
		require.Equal(t, []string{proto.KindFormSubmitted, proto.KindSubmissionUpdated}, d.Kinds(proto.SubmissionTopic, id))

		d.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactErased, Key: winner, Version: 9, Data: m{"id": winner}})
		d.forget([]string{winner}, "ann@example.com")
		require.EqualValues(t, 0, d.admin.Get("/submissions").Field("total"))
		require.Equal(t, []string{proto.KindFormSubmitted, proto.KindSubmissionUpdated, proto.KindSubmissionDeleted, "tombstone"}, d.Kinds(proto.SubmissionTopic, id))
	})
	t.Run("the end of a contact says whether it was merged erased or is gone", func(t *testing.T) {
		d := d.again(t)
		ids := map[string]string{} // contacts by first name
		for _, name := range []string{"merged", "gone", "erased"} {
			d.send(d.form, m{"first": name, "email": name + "@example.com"}).Is(200)
			d.contacts(func(c *proto.EnsureContact, _, _ m) { ids[name] = c.GetContactId() })
		}
		survivor := db.NewID().String()
		d.contact(proto.KindContactCreated, person(survivor, "Survivor", "s@example.com", 0), nil)
		// A consumer that was away for long sees nothing but the last message of each.
		d.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactMergedAway, Key: ids["merged"], Data: m{"id": ids["merged"]}, Extra: m{"into": survivor}})
		require.NoError(t, d.Neighbours.Send(t.Context(), []db.Message{{Topic: proto.ContactTopic, Key: ids["gone"]}}))
		d.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactErased, Key: ids["erased"], State: true, Data: m{"id": ids["erased"]}})
		d.Settle()
		of := func(contact string) []m { return d.admin.Get("/submissions?contact=" + contact).Is(200).Items() }
		require.Len(t, of(survivor), 1)
		require.Len(t, of(ids["gone"]), 1, "the submission is forms' own")
		require.Empty(t, of(ids["merged"]))
		require.Empty(t, of(ids["erased"]))
		require.EqualValues(t, 2, d.admin.Get("/submissions").Is(200).Field("total"))
	})
	t.Run("an answer that is history completes the submission and mails nobody", func(t *testing.T) {
		d := d.again(t)
		owner := d.As("site_admin")
		form := d.publishWith(m{"elements": []any{field("first", "contact.first_name"), field("email", "contact.email", "required", true)}, "notify": m{"owner": true}})
		d.send(form, m{"first": "Ann", "email": "ann@example.com"}).Is(200)
		c := d.commands()[0]
		mails := len(d.Events(proto.MailTopic))
		d.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactEnsured, Key: c.GetContactId(), Version: 1, State: true,
			Data:  person(c.GetContactId(), "Ann", "ann@example.com", owner.UserID),
			Extra: m{"origin": c.GetOrigin(), "origin_id": c.GetOriginId(), "requested_id": c.GetContactId(), "contact_id": c.GetContactId(), "result": "created"}})
		d.Settle()
		s := d.only()
		require.Equal(t, m{"contact": "created"}, s["result"])
		require.Equal(t, []string{proto.KindFormSubmitted}, d.Kinds(proto.SubmissionTopic, s["id"].(string)))
		require.Len(t, d.Events(proto.MailTopic), mails)
	})
	t.Run("an answer that comes after the merge goes to the winner", func(t *testing.T) {
		d := d.again(t)
		d.send(d.form, m{"first": "Ann", "email": "ann@example.com"}).Is(200)
		winner, loser := db.NewID().String(), d.commands()[0].GetContactId()
		d.contact(proto.KindContactMerged, person(winner, "Ann", "ann@example.com", 0), m{"merged_id": loser})
		d.contacts(nil)
		require.Equal(t, winner, d.only()["contact"].(m)["id"])
	})
	t.Run("a submission names the organization of its contact", func(t *testing.T) {
		d := d.again(t)
		d.send(d.form, m{"first": "Ann", "email": "ann@example.com"}).Is(200)
		org, other := db.NewID().String(), db.NewID().String()
		d.contacts(func(_ *proto.EnsureContact, data, _ m) {
			data["organization"] = m{"id": org, "name": "Acme", "role": ""}
		})
		require.Equal(t, m{"id": org, "name": "Acme"}, d.only()["organization"])
		d.Send(apptest.Event{Topic: proto.OrganizationTopic, Kind: proto.KindOrganizationUpdated, Key: org, Version: 2, Data: m{"id": org, "name": "Acme Ltd"}})
		d.Settle()
		require.Equal(t, m{"id": org, "name": "Acme Ltd"}, d.only()["organization"])
		d.Send(apptest.Event{Topic: proto.OrganizationTopic, Kind: proto.KindOrganizationMerged, Key: other, Version: 2, Data: m{"id": other, "name": "Big"}, Extra: m{"merged_id": org}})
		d.Settle()
		require.Equal(t, m{"id": other, "name": "Big"}, d.only()["organization"])
		// contacts went back to before the merge, and the old event comes late.
		d.contact(proto.KindContactUpdated, m{"id": d.only()["contact"].(m)["id"], "first_name": "Ann", "last_name": "", "email": "ann@example.com", "phone": "",
			"organization": m{"id": org, "name": "Acme", "role": ""}}, nil)
		d.Send(apptest.Event{Topic: proto.OrganizationTopic, Kind: proto.KindOrganizationMerged, Key: other, Version: 1, Data: m{"id": other, "name": "Big"}, Extra: m{"merged_id": org}})
		d.Settle()
		require.Equal(t, org, d.only()["organization"].(m)["id"])
	})
	t.Run("who sees own contacts sees own submissions", func(t *testing.T) {
		d := d.again(t)
		d.Role("custom", "own", auth.ViewContacts, auth.ManageForms)
		agent := d.As("custom")
		d.send(d.form, m{"first": "Mine", "email": "mine@example.com"}).Is(200)
		d.contacts(func(_ *proto.EnsureContact, data, _ m) { data["owner_user_id"] = agent.UserID })
		d.send(d.form, m{"first": "Other", "email": "other@example.com"}).Is(200)
		d.contacts(nil)
		d.send(d.form, m{"first": "Pending", "email": "pending@example.com"}).Is(200)
		d.send(d.form, m{"first": "Spam", "email": "spam@example.com", "message": "https://a https://b https://c"}).Is(200)

		list := agent.Get("/submissions").Is(200)
		require.EqualValues(t, 1, list.Field("total"))
		require.Equal(t, "Mine", list.Text("items.0.contact.name"))
		require.EqualValues(t, 4, d.admin.Get("/submissions").Field("total"))
		for _, s := range d.admin.Get("/submissions").Items() {
			if s["id"] == list.Text("items.0.id") {
				continue
			}
			path := "/submissions/" + s["id"].(string)
			agent.Get(path).Fails(404, "svc_not_found")
			agent.Delete(path, nil).Fails(404, "svc_not_found")
			agent.Post(path+"/not-spam", nil).Fails(404, "svc_not_found")
		}
		require.Equal(t, []any{1.0, 0.0}, []any{agent.Get("/forms/" + d.form).Field("submissions_30d"), agent.Get("/forms").Field("items.0.spam_30d")})
		require.Equal(t, 2, strings.Count(agent.Get("/exports/submissions.csv").Is(200).Body, "\n"))
		agent.Get("/submissions/" + list.Text("items.0.id")).Is(200)
	})
	t.Run("submissions are listed newest first by page", func(t *testing.T) {
		d := d.again(t)
		other := d.publish(field("email", "contact.email"))
		for i := range 5 {
			d.send(d.form, m{"email": fmt.Sprintf("a%d@example.com", i)}).Is(200)
		}
		d.send(other, m{"email": "b@example.com"}).Is(200)
		var seen []any
		for cursor := ""; ; {
			page := d.admin.Get("/submissions?per_page=2&form=" + d.form + "&cursor=" + cursor).Is(200)
			require.EqualValues(t, 5, page.Field("total"))
			for _, s := range page.Items() {
				seen = append(seen, s["values"].(m)["email"])
			}
			if cursor = page.Text("next_cursor"); cursor == "" {
				break
			}
		}
		require.Equal(t, []any{"a4@example.com", "a3@example.com", "a2@example.com", "a1@example.com", "a0@example.com"}, seen)
		since := d.admin.Get("/submissions").Is(200).Text("items.0.created_at")
		require.Len(t, d.admin.Get("/submissions?created_since="+url.QueryEscape(since)).Is(200).Items(), 1)
		require.Len(t, d.admin.Get("/submissions?created_until="+url.QueryEscape(since)).Is(200).Items(), 5)
		d.admin.Get("/submissions?created_since=yesterday").Fails(400, "svc_invalid_param")
		d.admin.Get("/submissions?form=0").Fails(400, "svc_invalid_param")
	})
}

func TestAfterALongAbsenceACopyHasNothingThatItsTopicHasNot(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.send(d.form, m{"first": "Ann", "email": "ann@example.com"}).Is(200)
	organization, named, ann := db.NewID().String(), db.NewID().String(), ""
	d.contacts(func(c *proto.EnsureContact, data, _ m) {
		ann, data["organization"] = c.GetContactId(), m{"id": named, "name": "Acme", "role": ""}
	})
	d.Send(apptest.Event{Topic: proto.OrganizationTopic, Kind: proto.KindOrganizationCreated, Key: organization, Version: 1, Data: m{"id": organization, "name": "Big"}})
	d.Settle()
	// What the topics had before they were compacted.
	for _, q := range []string{`insert into contact (id, version, name, email) values (gen_random_uuid(), 2, '', '')`,
		`insert into organization (id, version, name) values (gen_random_uuid(), 2, '')`} {
		_, err := d.Kit.DB.Pool.Exec(t.Context(), q)
		require.NoError(t, err)
	}
	require.Equal(t, map[string][]string{proto.ContactTopic: {ann}, proto.OrganizationTopic: {organization}}, d.Absent())
	require.Equal(t, m{"id": named, "name": "Acme"}, d.only()["organization"], "its own event may still come")
}

// literal is v as JSON without escapes, as small as it can be sent.
func literal(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return b.String()
}
