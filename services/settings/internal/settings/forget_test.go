package settings

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestAPersonWhoIsErasedIsForgotten(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a person who is erased is forgotten also where news of them comes late", func(t *testing.T) {
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
	})
	t.Run("changed values of a person who is erased go from the audit log", func(t *testing.T) {
		ann, company, bob := uuid.NewString(), uuid.NewString(), uuid.NewString()
		changes := func(kind, id, old, next string) {
			s.Send(apptest.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: uuid.NewString(), Actor: &proto.Actor{Channel: "api", Label: "key", UserId: 1},
				Data: &proto.Audit{Action: "update-" + kind, RecordType: kind, RecordId: id, Outcome: "done", Changes: []byte(`{"x": {"old": "` + old + `", "new": "` + next + `"}}`)}})
		}
		all := func() {
			changes("contact", ann, "Ann", "Anna")
			changes("organization", company, "mail to ann@example.com", "")
			changes("contact", bob, "bob@example.com", "Ann")
		}
		left := func() (olds []string) {
			s.Settle()
			require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select coalesce(array_agg(changes #>> '{x,old}' order by created_at, id), '{}') from audit where changes is not null and actor_label = 'key'`).Scan(&olds))
			return olds
		}
		all()
		require.ElementsMatch(t, []string{"Ann", "mail to ann@example.com", "bob@example.com"}, left())
		s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "ann", Data: &proto.ForgetPerson{Ids: []string{ann}, Called: [][]byte{s.Kit.Keys.Person("ann@example.com")}}})
		require.Equal(t, []string{"bob@example.com"}, left())
		// Entries from before the erasure come late.
		s.Travel(-time.Minute)
		all()
		require.Equal(t, []string{"bob@example.com", "bob@example.com"}, left())
		require.Equal(t, 6, func() (n int) {
			require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from audit where actor_label = 'key'`).Scan(&n))
			return n
		}(), "the entries stay")
	})
}
