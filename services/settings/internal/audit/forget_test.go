package audit

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestTheNetworkAddressOfAVisitorWhoIsErasedLeavesTheLog(t *testing.T) {
	t.Parallel()
	s := start(t)
	visits := func(name, address string) {
		s.Send(apptest.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: uuid.NewString(), Actor: &proto.Actor{Channel: "booking", Label: name},
			Data: &proto.Audit{Action: "book-publicly", RecordType: "appointment", RecordId: uuid.NewString(), Outcome: "done", Address: address}})
	}
	left := func() (addresses []string) {
		s.Settle()
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select coalesce(array_agg(address order by address), '{}') from audit where channel = 'booking'`).Scan(&addresses))
		return addresses
	}
	visits("Ann Leaves", "192.0.2.1")
	visits("Bob Stays", "192.0.2.2")
	require.Equal(t, []string{"192.0.2.1", "192.0.2.2"}, left())
	s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "ann", Data: &proto.ForgetPerson{Called: [][]byte{s.Kit.Keys.Person("Ann Leaves")}}})
	require.Equal(t, []string{"", "192.0.2.2"}, left())
	s.Travel(-time.Minute)
	visits("Ann Leaves", "192.0.2.3")
	require.Equal(t, []string{"", "", "192.0.2.2"}, left(), "news from before the erasure")
	visits("Carl Leaves", "192.0.2.4")
	s.Travel(-5 * time.Second)
	s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "carl", Data: &proto.ForgetPerson{Called: [][]byte{s.Kit.Keys.Person("Carl Leaves")}}})
	require.Equal(t, []string{"", "", "", "192.0.2.2"}, left(), "the clock of the host that erases is some seconds behind")
}

func TestChangesThatWereReadOtherwiseAreForgottenAndReadAnew(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, email := range []string{"d'hondt@example.com", "bob@example.com"} {
		s.Send(apptest.Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: uuid.NewString(), Actor: &proto.Actor{Channel: "portal", Label: "An", UserId: 1},
			Data: &proto.Audit{Action: "update-form", RecordType: "form", RecordId: "7", Outcome: "done", Changes: []byte(`{"email":{"old":"","new":"` + email + `"}}`)}})
	}
	s.Settle()
	// One has no hashes, and the other those of a reading that found less.
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `update audit set read_as = 0, people = case when changes::text like '%bob%' then '{}'::bytea[] end`)
	require.NoError(t, err)
	s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: "hondt", Data: &proto.ForgetPerson{Called: [][]byte{s.Kit.Keys.Person("d'hondt@example.com")}}})
	s.Settle()
	var changes string
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select string_agg(changes::text, ' ') from audit`).Scan(&changes))
	require.Contains(t, changes, "bob@example.com")
	require.NotContains(t, changes, "hondt")
	require.NoError(t, reread.Job(s.Kit.DB).Run(t.Context()))
	var people [][]byte
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select people from audit where changes is not null`).Scan(&people))
	require.Equal(t, [][]byte{s.Kit.Keys.Person("bob@example.com")}, people)
}
