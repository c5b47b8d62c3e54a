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
}
