package submission

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/auth"
	"frontdesk/proto"
)

func TestTheTeamIsMailedOnceADayWhatWasTakenForSpam(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.SetSite("general", m{"country": "DE"})
	digests := func() (mails []*proto.Mail) {
		for _, e := range d.Events(proto.MailTopic) {
			c := &proto.Mail{}
			if e.GetKind() != proto.KindMail {
				continue
			}
			require.NoError(t, protobuf.Unmarshal(e.GetData(), c))
			if c.GetKind() == "form.spam_digest" {
				mails = append(mails, c)
			}
		}
		return mails
	}
	run := func() {
		for _, j := range d.Parts.Jobs {
			if j.Name == "spam-digest" {
				require.NoError(t, j.Run(t.Context()))
			}
		}
	}
	// The next day at eight, whatever the time is now.
	at := d.Now().In(d.Kit.Config.Zone)
	d.Travel(time.Date(at.Year(), at.Month(), at.Day()+1, 8, 0, 0, 0, d.Kit.Config.Zone).Sub(at))
	run()
	require.Empty(t, digests(), "there was no spam yet")
	d.send(d.form, m{"first": "Bob", "email": "bob@example.com", "message": "www.a.example www.b.example www.c.example"}).Is(200)
	d.send(d.form, m{"first": "Eve", "email": "eve@example.com", "message": `<a href="https://x.example">x</a>`}).Is(200)
	d.send(d.form, m{"first": "Ann", "email": "ann@example.com", "message": "Hello"}).Is(200)
	d.Travel(2 * time.Minute)
	run()
	run()
	sent := digests()
	require.Len(t, sent, len(d.Kit.Identity.Team()), "the form notifies nobody: those who may sort spam")
	require.Equal(t, "2 Einsendungen wurden als Spam zurückgehalten", sent[0].GetSubject())
	require.Contains(t, sent[0].GetText(), "viele Links")
	require.NotContains(t, sent[0].GetText(), "a.example")
	require.NotContains(t, sent[0].GetText(), "ann@")

	d.send(d.form, m{"first": "Mal", "email": "mal@example.com", "message": "www.a.example www.b.example www.c.example"}).Is(200)
	d.Travel(2 * time.Minute)
	run()
	require.Len(t, digests(), len(sent), "today had its digest")
	dutch := protobuf.CloneOf(d.Kit.Identity.Team()[0])
	dutch.Language = "nl"
	d.Kit.Identity.Table.Put(auth.UserKey(strconv.FormatInt(dutch.GetId(), 10)), &proto.Identity{Record: &proto.Identity_User{User: dutch}})
	d.Travel(24 * time.Hour)
	run()
	all := digests()
	require.Len(t, all, 2*len(sent))
	// Mails of different people come in any order.
	second := slices.DeleteFunc(slices.Clone(all), func(m *proto.Mail) bool { return m.GetSubject() != "1 Einsendung wurde als Spam zurückgehalten" })
	require.Len(t, second, len(sent)-1)
	require.True(t, slices.ContainsFunc(all, func(m *proto.Mail) bool {
		return m.GetTo() == dutch.GetEmail() && m.GetSubject() == "1 inzending is als spam tegengehouden"
	}),
		"in the language that the member has chosen")
	d.Travel(24 * time.Hour)
	run()
	require.Len(t, digests(), len(all), "what was in one is not in the next")
}
