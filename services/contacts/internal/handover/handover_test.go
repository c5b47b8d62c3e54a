package handover_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
	"frontdesk/services/contacts/internal/handover"
)

type object = map[string]any

// start runs the room above those by which contacts are made.
func start(t *testing.T) *apptest.Service {
	t.Helper()
	return contactstest.Start(t, func(k *app.Kit, _ *op.Set) app.Room {
		return app.Room{Name: "handover", Parts: handover.New(k).Parts()}
	})
}

func jsonText(v any) string { b, _ := json.Marshal(v); return string(b) }

// peopleSlice is how many people of an organization one transaction publishes.
const peopleSlice = 200

// leaves publishes that a person left the team, and waits until everything is handed over. With 0 there is no successor.
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

func TestWhatSomebodyWhoLeavesOwned(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("owners hand their records over", func(t *testing.T) {
		contactstest.Afresh(t, s)
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
	})
	t.Run("what somebody gets until settings has taken their role is handed over too", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, leaver := s.As("svc_admin"), s.As("staff")
		owner := func(id string) any { return admin.Get("/contacts/" + id).Is(200).Field("owner_user_id") }
		left := func() (n int) {
			require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from hand_over`).Scan(&n))
			return n
		}
		first := leaver.Post("/contacts", object{"first_name": "A"}).Is(201).Text("id")
		s.Send(apptest.Event{Topic: proto.StaffTopic, Kind: proto.KindStaffRemoved, Key: jsonText(leaver.UserID), Version: 2,
			Extra: &proto.StaffRemoved{Successor: admin.UserID, IdentityVersion: s.Kit.Identity.Version(leaver.UserID)}})
		s.Eventually(func() bool { return owner(first) == float64(admin.UserID) })
		late := leaver.Post("/contacts", object{"first_name": "B"}).Is(201).Text("id")
		given := admin.Post("/organizations", object{"name": "O", "owner_user_id": leaver.UserID}).Is(201).Text("id")
		s.Eventually(func() bool { return owner(late) == float64(admin.UserID) })
		s.Eventually(func() bool {
			return admin.Get("/organizations/"+given).Is(200).Field("owner_user_id") == float64(admin.UserID)
		})
		require.Equal(t, 1, left())
		s.SetRoles(leaver, "staff") // the last administrator stays, or somebody is invited again
		s.Eventually(func() bool { return left() == 0 })
		require.EqualValues(t, leaver.UserID, owner(leaver.Post("/contacts", object{"first_name": "C"}).Is(201).Text("id")))
	})
	t.Run("history takes nothing from somebody who is back on the team", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, back, gone := s.As("svc_admin"), s.As("staff"), s.As("nobody")
		for owner, still := range map[int64]bool{back.UserID: true, gone.UserID: false} {
			c := admin.Post("/contacts", object{"first_name": "A"}).Is(201).Text("id")
			_, err := s.Kit.DB.Pool.Exec(t.Context(), `update contact set owner_user_id = $2 where id = $1`, c, owner)
			require.NoError(t, err)
			s.Send(apptest.Event{Topic: proto.StaffTopic, Kind: proto.KindStaffRemoved, Key: jsonText(owner), Version: 2, State: true, Extra: object{"successor": 0}})
			s.Settle()
			s.Eventually(func() bool {
				var owned bool
				require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select owner_user_id is not null from contact where id = $1`, c).Scan(&owned))
				return owned == still
			})
		}
	})
}

func TestManyContactsAreHandedOverInSlicesOnceEach(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin, leaver, next := s.As("svc_admin"), s.As("staff"), s.As("staff")
	const many = 301 // three slices and one more
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into contact (id, first_name, owner_user_id, created_at, updated_at)
		select gen_random_uuid(), 'c' || n, $1, now(), now() from generate_series(1, $2::int) n`, leaver.UserID, many)
	require.NoError(t, err)
	// One of them is locked meanwhile.
	held := s.Begin()
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

func TestOneRecordThatTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a contact that cannot be handed over does not keep the others from it", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, leaver, other := s.As("svc_admin"), s.As("staff"), s.As("staff")
		var ids []string
		for range 5 {
			ids = append(ids, leaver.Post("/contacts", object{"first_name": "A"}).Is(201).Text("id"))
		}
		theirs := other.Post("/contacts", object{"first_name": "B"}).Is(201).Text("id")
		owner := func(id string) any { return admin.Get("/contacts/" + id).Is(200).Field("owner_user_id") }
		heal := contactstest.Refusing(t, s, "contact", "update", ids[1])
		for _, user := range []int64{leaver.UserID, other.UserID} {
			s.Send(apptest.Event{Topic: proto.StaffTopic, Kind: proto.KindStaffRemoved, Key: jsonText(user), Version: 2, Extra: object{"successor": admin.UserID}})
		}
		mine := float64(admin.UserID)
		s.Eventually(func() bool {
			return owner(ids[0]) == mine && owner(ids[2]) == mine && owner(ids[3]) == mine && owner(ids[4]) == mine && owner(theirs) == mine
		})
		require.EqualValues(t, leaver.UserID, owner(ids[1]))
		heal()
		s.Eventually(func() bool { return owner(ids[1]) == mine })
	})
	t.Run("a person who cannot be published does not keep an organizations others from it", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		o := admin.Post("/organizations", object{"name": "Before"}).Is(201).Text("id")
		const people = peopleSlice + 30
		contactstest.Execute(t, s.Kit.DB.Pool, `with made as (
				insert into contact (id, first_name, created_at, updated_at) select gen_random_uuid(), 'N' || n, now(), now() from generate_series(1, $2) n returning id
			) insert into contact_organization (contact_id, organization_id, is_primary, created_at) select id, $1, true, now() from made`, o, people)
		var bad string
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select id from contact order by id offset $1`, peopleSlice+10).Scan(&bad))
		defer contactstest.Refusing(t, s, "contact", "update", bad)()
		admin.Patch("/organizations/"+o, object{"name": "After", "mode": "overwrite"}).Is(200)
		s.Eventually(func() bool {
			var published int
			require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from contact where version = 2`).Scan(&published))
			return published == people-1
		})
		s.Eventually(func() bool {
			var left int
			require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from organization_news`).Scan(&left))
			return left == 0
		})
	})
}
