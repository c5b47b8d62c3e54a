package contacts

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestOperationsAreThoseOfTheInterface(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	apptest.CheckOperations(t, s.Parts.Ops)
	apptest.CheckExamples(t, s.Parts.Ops)
}

// appointment sends a change of an appointment in booking's name and gives its id.
func appointment(s *apptest.Service, kind string, version int64, contact, status string, starts time.Time, ids ...string) string {
	id := uuid.NewString()
	if len(ids) > 0 {
		id = ids[0]
	}
	s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: kind, Key: id, Version: version,
		Actor: &proto.Actor{Channel: db.ChannelBooking, Label: "Ann Visitor"},
		Data: object{"id": id, "status": status, "service": object{"id": uuid.NewString(), "name": "Haircut"}, "staff": object{"user_id": 7, "name": "Bo"},
			"contact": object{"id": contact, "name": "x"}, "starts_at": starts, "ends_at": starts.Add(time.Hour)}})
	return id
}
