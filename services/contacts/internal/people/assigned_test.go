package people_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func TestWhoIsGivenAContactBySomebodyElseIsTold(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin, me, other := s.As("svc_admin"), s.As("svc_admin"), s.As("svc_admin")
	told := func() (all []string) {
		s.Settle()
		for _, e := range s.Events(proto.MailTopic) {
			if e.GetKind() == proto.KindTellTeam {
				n := &proto.Notice{}
				require.NoError(t, protobuf.Unmarshal(e.GetData(), n))
				require.Equal(t, "team_assigned", n.GetTo()[0].GetKind())
				who := map[int64]string{me.UserID: "me", other.UserID: "other", admin.UserID: "admin"}[n.GetTo()[0].GetUserId()]
				all = append(all, who+": "+n.GetGiven().GetContacts()[0].GetName())
			}
		}
		slices.Sort(all)
		return all
	}
	given := admin.Post("/contacts", object{"first_name": "Ann", "owner_user_id": me.UserID}).Is(201).Text("id")
	require.Equal(t, []string{"me: Ann"}, told())
	me.Post("/contacts", object{"first_name": "Own", "owner_user_id": me.UserID}).Is(201)
	me.Patch("/contacts/"+given, object{"mode": "overwrite", "last_name": "Claes"}).Is(200)
	require.Equal(t, []string{"me: Ann"}, told(), "one's own act, and a change of something else")
	me.Patch("/contacts/"+given, object{"mode": "overwrite", "owner_user_id": other.UserID}).Is(200)
	other.Patch("/contacts/"+given, object{"mode": "overwrite", "owner_user_id": nil}).Is(200)
	other.Patch("/contacts/"+given, object{"mode": "overwrite", "owner_user_id": other.UserID}).Is(200)
	require.Equal(t, []string{"me: Ann", "other: Ann Claes"}, told())
}
