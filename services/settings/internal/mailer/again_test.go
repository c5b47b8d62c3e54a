package mailer

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/ics"
	"frontdesk/libs/mail"
	"frontdesk/proto"
)

const salon = "https://salon.example"

// booked is the mail about an appointment, with a link that stands in its calendar file too.
func booked(t *testing.T, about string) *proto.Mail {
	t.Helper()
	link := salon + "/manage#token=abc_DEF-1234567890abcdefghijklmnopqrstuvwxyz0123456"
	file, err := ics.Event{Method: ics.Request, UID: "a@frontdesk", Stamp: time.Unix(0, 0), Start: time.Unix(3600, 0), End: time.Unix(7200, 0), Summary: "Haircut",
		Description: "With Ännie: " + link, Organizer: ics.Person{Email: "salon@example.com"}, Attendee: ics.Person{Email: "ada@example.com"}}.File()
	require.NoError(t, err)
	m, err := mail.Render(mail.Content{Kind: proto.KindAppointmentBooked, To: mail.Person{Address: "ada@example.com"}, Business: mail.Business{Name: "Salon"}, Subject: "Booked",
		Paragraphs: []string{"Room: https://meet.example/?token=theirs"}, Buttons: []mail.Link{{Text: "Change", URL: link}}, Calendar: &mail.Calendar{File: file, Method: ics.Request}})
	require.NoError(t, err)
	m.About, m.Replaces = about, true
	return m
}

func TestAMailIsKeptWithoutItsTokensAndComesBackWithNewOnes(t *testing.T) {
	m := booked(t, "")
	kept, hashes := withoutTokens(salon, m)
	require.Len(t, hashes, 1, "one link, however often it stands there")
	for _, part := range []string{kept.GetText(), kept.GetHtml(), string(kept.GetCalendar())} {
		require.NotContains(t, part, "abc_DEF")
		require.Contains(t, part, salon+"/manage#token=…0")
	}
	require.Contains(t, kept.GetText(), "https://meet.example/?token=theirs", "another's address is no link of ours")

	again, fresh := withTokens(kept, len(hashes))
	require.NotEqual(t, m.GetId(), again.GetId())
	require.NotEqual(t, hashes, fresh)
	token := regexp.MustCompile(`/manage#token=([A-Za-z0-9_-]+)`).FindStringSubmatch(again.GetText())[1]
	require.Equal(t, fresh[0], hashOf(token))
	for was, now := range map[string]string{m.GetText(): again.GetText(), m.GetHtml(): again.GetHtml(), string(ics.Unfold(m.GetCalendar())): string(ics.Unfold(again.GetCalendar()))} {
		require.Equal(t, regexp.MustCompile(`abc_DEF-[a-z0-9]+`).ReplaceAllString(was, token), now, "nothing but the token differs")
	}
	for line := range bytes.SplitSeq(again.GetCalendar(), []byte("\r\n")) {
		require.LessOrEqual(t, len(line), 75)
	}
}

func TestAMailIsSeenAndSentOnceMore(t *testing.T) {
	t.Parallel()
	box, l := &mailbox{have: map[string][]string{}}, listen(t)
	box.serve(t, l)
	s, _ := start(t, func(c *app.Config) { c.SMTPURL, c.PublicURL = "smtp://"+l.Addr().String(), salon })
	c := s.As("site_admin")
	sent := func(m *proto.Mail) string {
		post(t, s, m)
		s.Eventually(func() bool {
			return count(t, s, `select count(*) from mail where status = 'sent' and id = '`+m.GetId()+`'`) == 1
		})
		return "/mails/" + m.GetId()
	}
	first := booked(t, "appointment/1")
	path := sent(first)
	t.Run("its text is there without what its links open", func(t *testing.T) {
		seen := c.Get(path).Is(200)
		require.Contains(t, seen.Text("text"), salon+"/manage#token=…\n")
		require.NotContains(t, seen.Text("html"), "abc_DEF")
		require.Equal(t, "yes", seen.Text("again"))
		require.Zero(t, count(t, s, `select count(*) from mail where position('abc_DEF' in encode(kept, 'escape')) > 0 or message is not null`))
		s.As("staff").Get(path).Is(403)
		c.Get("/mails/" + uuid.NewString()).Is(404)
	})
	t.Run("it goes out once more with another token, which booking is told", func(t *testing.T) {
		require.Equal(t, "queued", c.Post(path+"/resend", nil).Is(200).Text("status"))
		s.Eventually(func() bool { return len(box.to("ada@example.com")) == 2 })
		s.Settle()
		require.EqualValues(t, 1, count(t, s, `select count(*) from mail where recipient = 'ada@example.com'`), "it is the same mail")
		require.NotContains(t, box.to("ada@example.com")[1], "abc_DEF")
		require.NotRegexp(t, "Message-ID: <"+first.GetId(), box.to("ada@example.com")[1])
		var renewed []*proto.RenewLink
		for _, e := range s.Events(proto.BookingCommandTopic) {
			var m proto.RenewLink
			require.NoError(t, protobuf.Unmarshal(e.GetData(), &m))
			renewed = append(renewed, &m)
		}
		require.Len(t, renewed, 1)
		require.Equal(t, hashOf("abc_DEF-1234567890abcdefghijklmnopqrstuvwxyz0123456"), renewed[0].GetFrom())
	})
	t.Run("what is over is not said again", func(t *testing.T) {
		moved := booked(t, "appointment/1")
		moved.Kind = proto.KindAppointmentRescheduled
		sent(moved)
		require.Equal(t, "expired", c.Get(path).Is(200).Text("again"))
		require.Equal(t, "expired", c.Post(path+"/resend", nil).Fails(409, "svc_conflict").Text("data.reason"))
		late := booked(t, "appointment/2")
		late.NotAfter = s.Now().Add(time.Hour).Unix()
		latePath := sent(late)
		s.Travel(2 * time.Hour)
		require.Equal(t, "expired", c.Post(latePath+"/resend", nil).Fails(409, "svc_conflict").Text("data.reason"))
	})
	t.Run("a mail about an account shows nothing and is not sent again, one about marketing is asked elsewhere", func(t *testing.T) {
		account := letterOf(t, "an@example.com")
		account.Kind, account.Text = "account.password", "Choose one: "+salon+"/password#token=secret"
		path := sent(account)
		seen := c.Get(path).Is(200)
		require.Nil(t, seen.Value("text"))
		require.Nil(t, seen.Value("html"))
		require.Equal(t, "no_text", c.Post(path+"/resend", nil).Fails(409, "svc_conflict").Text("data.reason"))
		require.Zero(t, count(t, s, `select count(*) from mail where kind like 'account.%' and kept is not null`))
		asks := letterOf(t, "eve@example.com")
		asks.Kind = "marketing.confirm"
		require.Equal(t, "ask_again", c.Post(sent(asks)+"/resend", nil).Fails(409, "svc_conflict").Text("data.reason"))
	})
	t.Run("one that names somebody who is erased is gone, though it was sent", func(t *testing.T) {
		record := uuid.NewString()
		team := letterOf(t, "team@example.com")
		team.Kind, team.Records = "team_booked", []string{record}
		named := letterOf(t, "team@example.com")
		named.Kind, named.Text = "team_booked", "From Ann <Ann@Example.com>."
		sent(team)
		sent(named)
		s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "ann",
			Data: &proto.ForgetPerson{Ids: []string{record}, Called: [][]byte{s.Kit.Keys.Person("ann@example.com")}}})
		s.Settle()
		require.Zero(t, count(t, s, `select count(*) from mail where kind = 'team_booked'`))
	})
}
