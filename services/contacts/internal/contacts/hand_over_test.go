package contacts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// leaves publishes that a person left the team, and waits until everything is handed over. A successor of 0 is none.
func leaves(t *testing.T, s *apptest.Service, user, successor int64) {
	s.Send(apptest.Event{Topic: proto.StaffTopic, Kind: proto.KindStaffRemoved, Key: jsonText(user), Version: 2, Extra: object{"successor": successor}})
	s.Settle()
	s.Eventually(func() bool {
		var left int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from hand_over`).Scan(&left))
		return left == 0
	})
	s.Settle()
}

func TestOwnersHandTheirRecordsOver(t *testing.T) {
	s := apptest.Start(t, Service)
	admin, leaver := s.As("svc_admin"), s.As("staff")
	c := leaver.Post("/contacts", object{"first_name": "A"}).Is(201).Text("id")
	o := admin.Post("/organizations", object{"name": "O", "owner_user_id": leaver.UserID}).Is(201).Text("id")
	leaves(t, s, leaver.UserID, admin.UserID)
	require.EqualValues(t, admin.UserID, admin.Get("/contacts/"+c).Is(200).Field("owner_user_id"))
	require.EqualValues(t, admin.UserID, admin.Get("/organizations/"+o).Is(200).Field("owner_user_id"))
	require.Equal(t, "Contact handed over", admin.Get("/contacts/"+c+"/activities").Is(200).Text("items.0.subject"))
	require.EqualValues(t, 1, admin.Get("/contacts?owner="+jsonText(admin.UserID)).Is(200).Field("total"))

	leaves(t, s, admin.UserID, 0)
	require.Nil(t, admin.Get("/contacts/"+c).Is(200).Field("owner_user_id"))
	require.Equal(t, []string{proto.KindContactCreated, proto.KindContactUpdated, proto.KindContactUpdated}, s.Kinds(proto.ContactTopic, c))
}

func TestManyContactsAreHandedOverInSlicesOnceEach(t *testing.T) {
	s := apptest.Start(t, Service)
	admin, leaver, next := s.As("svc_admin"), s.As("staff"), s.As("staff")
	const many = 3*handOverSlice + 1
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into contact (id, first_name, owner_user_id, created_at, updated_at)
		select gen_random_uuid(), 'c' || n, $1, now(), now() from generate_series(1, $2::int) n`, leaver.UserID, many)
	require.NoError(t, err)
	// One of them is locked meanwhile.
	held, err := s.Kit.DB.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `select from contact where first_name = 'c7' for update`)
	require.NoError(t, err)
	s.Send(apptest.Event{Topic: proto.StaffTopic, Kind: proto.KindStaffRemoved, Key: jsonText(leaver.UserID), Version: 2, Extra: object{"successor": next.UserID}})
	handed := func() (n int) {
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from contact where owner_user_id = $1 and version = 2`, next.UserID).Scan(&n))
		return n
	}
	s.Eventually(func() bool { return handed() == many-1 })
	require.NoError(t, held.Rollback(t.Context()))
	s.Eventually(func() bool { return handed() == many })
	// The successor leaves as well.
	leaves(t, s, next.UserID, admin.UserID)
	var entries, events int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from activity where subject = 'Contact handed over'`).Scan(&entries))
	for _, e := range s.Events(proto.ContactTopic) {
		if e.GetKind() == proto.KindContactUpdated {
			events++
		}
	}
	require.Equal(t, []int{2 * many, 2 * many}, []int{entries, events})
}
