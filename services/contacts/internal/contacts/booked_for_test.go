package contacts

import (
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestAContactIsFoundByTheNamesForWhichItsAddressBooked(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	mother := admin.Post("/contacts", object{"first_name": "An", "last_name": "Peeters", "phone": "0470 11 22 33"}).Is(201).Text("id")
	father := admin.Post("/contacts", object{"first_name": "Jan", "last_name": "Claes"}).Is(201).Text("id")
	version := int64(0)
	appointment := func(id, contact string, name any) {
		version++
		at := s.Now().UTC()
		s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: proto.KindAppointmentUpdated, Key: id, Version: version, Data: object{"id": id, "status": "confirmed",
			"contact": object{"id": contact}, "booked_for": name, "starts_at": at, "ends_at": at}})
		s.Settle()
	}
	found := func(search string) (ids []any) {
		list := admin.Get("/contacts?search=" + url.QueryEscape(search)).Is(200)
		for _, c := range list.Items() {
			ids = append(ids, c["id"])
		}
		require.EqualValues(t, len(ids), list.Field("total"), search)
		return ids
	}
	one, two := uuid.NewString(), uuid.NewString()
	appointment(one, mother, "Loïc Maes")
	appointment(two, mother, "Zoë")
	for _, search := range []string{"loic", "MAES", "zoe", "an zoe", "0470112233"} {
		require.Equal(t, []any{mother}, found(search), search)
	}
	appointment(one, father, "Loïc Maes")
	require.Equal(t, []any{father}, found("loic"), "it is another contact's by now")
	require.Equal(t, []any{mother}, found("zoe"))
	appointment(two, mother, nil)
	require.Empty(t, found("zoe"))
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `delete from appointment where id = $1`, one)
	require.NoError(t, err)
	require.Empty(t, found("loic"))
	require.Equal(t, []any{father}, found("jan claes"))
}
