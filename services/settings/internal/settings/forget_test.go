package settings

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestAPersonWhoIsErasedIsForgottenAlsoWhereNewsOfThemComesLate(t *testing.T) {
	s := start(t)
	visits := func(name string) {
		s.Send(apptest.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: uuid.NewString(), Actor: &proto.Actor{Channel: "booking", Label: name},
			Data: &proto.Audit{Action: "book-publicly", RecordType: "appointment", RecordId: uuid.NewString(), Outcome: "done"}})
	}
	writes := func(to, text string) {
		id := uuid.NewString()
		s.Send(apptest.Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: id, Data: &proto.Mail{Id: id, To: to, Subject: "News", Text: text, Html: "<p>News</p>", Kind: "test"}})
	}
	left := func() (names, mails []string) {
		s.Settle()
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select coalesce(array_agg(actor_label order by actor_label), '{}') from audit where channel = 'booking'`).Scan(&names))
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select coalesce(array_agg(recipient order by recipient), '{}') from mail`).Scan(&mails))
		return names, mails
	}
	both := func() {
		visits("Ann Leaves")
		visits("Bob Stays")
		writes("ann@example.com", "Hello")
		writes("bob@example.com", "Hello")
		writes("team@example.com", "From Ann <Ann@Example.com>.")
	}
	both()
	names, mails := left()
	require.Equal(t, []string{"Ann Leaves", "Bob Stays"}, names)
	require.Equal(t, []string{"ann@example.com", "bob@example.com", "team@example.com"}, mails)

	forget := &proto.ForgetPerson{Called: [][]byte{s.Kit.Keys.Person("Ann Leaves"), s.Kit.Keys.Person("ann@example.com"), s.Kit.Keys.Person("ann@example.com")}}
	s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "ann", Data: forget})
	names, mails = left()
	require.Equal(t, []string{"", "Bob Stays"}, names)
	require.Equal(t, []string{"bob@example.com"}, mails)

	// Older than the erasure, by another topic.
	s.Travel(-time.Minute)
	visits("Ann Leaves")
	writes("ann@example.com", "Hello")
	names, mails = left()
	require.Equal(t, []string{"", "", "Bob Stays"}, names)
	require.Equal(t, []string{"bob@example.com"}, mails)

	// Whoever comes back is somebody new.
	s.Travel(2 * time.Minute)
	visits("Ann Leaves")
	writes("ann@example.com", "Hello")
	names, mails = left()
	require.Equal(t, []string{"", "", "Ann Leaves", "Bob Stays"}, names)
	require.Equal(t, []string{"ann@example.com", "bob@example.com"}, mails)
}
