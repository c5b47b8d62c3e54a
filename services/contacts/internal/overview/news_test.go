package overview_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestNewsIsWhatOthersMadeSinceOneLooked(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin, own := s.As("svc_admin"), s.As("staff")
	c := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
	mine := own.Post("/contacts", object{"first_name": "Mine"}).Is(201).Text("id")
	appointment := func(by, staff int64, kind, id, status string, version int64) string {
		at := s.Now().UTC().Truncate(time.Second)
		s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: kind, Key: id, Version: version, Actor: &proto.Actor{UserId: by, Channel: "app"}, Data: object{"id": id, "status": status,
			"service": object{"id": uuid.NewString(), "name": "Intake"}, "staff": object{"user_id": staff, "name": "Noor"}, "contact": object{"id": c}, "booked_for": "", "starts_at": at.Add(time.Hour), "ends_at": at.Add(2 * time.Hour), "created_at": at}})
		s.Settle()
		return id
	}
	submission := func(contact, status string, made time.Time) {
		id := uuid.NewString()
		s.Send(apptest.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: id, Version: 1, Data: object{"id": id, "form": object{"id": 3, "name": "Ask"}, "status": status,
			"contact": object{"id": contact}, "created_at": made.UTC().Truncate(time.Second)}})
		s.Settle()
	}
	is := func(of *apptest.Client, path string, requests, submissions, appointments int) {
		t.Helper()
		n := of.Get("/me/news" + path).Is(200)
		require.Equal(t, []any{float64(requests), float64(submissions), float64(appointments)}, []any{n.Field("requests"), n.Field("submissions"), n.Field("appointments")})
	}
	is(admin, "", 0, 0, 0)
	require.Nil(t, admin.Get("/me/news").Is(200).Field("seen_at"))
	request := appointment(0, own.UserID, proto.KindAppointmentBooked, uuid.NewString(), "pending", 1)
	appointment(0, own.UserID, proto.KindAppointmentBooked, uuid.NewString(), "confirmed", 1)
	appointment(admin.UserID, admin.UserID, proto.KindAppointmentBooked, uuid.NewString(), "confirmed", 1)
	submission(mine, "received", s.Now())
	submission(c, "received", s.Now())
	is(admin, "", 1, 2, 1)
	is(own, "", 1, 1, 1)
	appointment(own.UserID, own.UserID, proto.KindAppointmentConfirmed, request, "confirmed", 2)
	is(own, "", 0, 1, 1)

	before := s.Now().UTC()
	at := own.Post("/me/news/seen", nil).Is(200).Text("seen_at")
	require.Equal(t, at, own.Get("/me/news").Is(200).Text("seen_at"))
	is(own, "", 0, 0, 0)
	is(admin, "", 0, 2, 1)
	is(own, "?since="+before.Add(-time.Hour).Format(time.RFC3339), 0, 1, 1)
	submission(mine, "received", before.Add(-time.Hour))
	is(own, "", 0, 1, 0)
	s.SetApp("forms", false)
	s.Eventually(func() bool { return !s.Kit.Apps.On("forms") })
	is(own, "", 0, 0, 0)
	s.SetApp("forms", true)
	s.Eventually(func() bool { return s.Kit.Apps.On("forms") })
	s.Travel(31 * 24 * time.Hour)
	is(own, "", 0, 0, 0)
	own.Get("/me/news?since=yesterday").Fails(400, "svc_invalid_param")
}

func TestWhatATransactionStoresThatIsOpenWhileOneLooksIsNews(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	store := func(in pgx.Tx) {
		_, err := in.Exec(t.Context(), `insert into submission (id, version, form_id, form_name, status, created_at, people, arrived_at)
			values ($1, 1, 3, 'Ask', 'received', now(), '{}', clock_timestamp())`, uuid.New())
		require.NoError(t, err)
	}
	before := s.Begin()
	store(before)
	require.NoError(t, before.Commit(t.Context()))
	open := s.Begin()
	store(open)
	mark := admin.Get("/me/news").Is(200).Field("mark")
	admin.Post("/me/news/seen", nil).Is(200)
	require.EqualValues(t, 0, admin.Get("/me/news").Is(200).Field("submissions"))
	require.NoError(t, open.Commit(t.Context()))
	require.EqualValues(t, 1, admin.Get("/me/news").Is(200).Field("submissions"))
	admin.Post("/me/news/seen", object{"mark": mark}).Is(200)
	require.EqualValues(t, 1, admin.Get("/me/news").Is(200).Field("submissions"), "the transaction was open when it was counted")
}

func TestWhatArrivesAfterTheCountThatWasSeenStaysNews(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	arrives := func() {
		_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into submission (id, version, form_id, form_name, status, created_at, people, arrived_at)
			values ($1, 1, 3, 'Ask', 'received', now(), '{}', clock_timestamp())`, uuid.New())
		require.NoError(t, err)
	}
	arrives()
	counted := admin.Get("/me/news").Is(200)
	require.EqualValues(t, 1, counted.Field("submissions"))
	arrives()
	admin.Post("/me/news/seen", object{"mark": counted.Field("mark")}).Is(200)
	later := admin.Get("/me/news").Is(200)
	require.EqualValues(t, 1, later.Field("submissions"))
	admin.Post("/me/news/seen", object{"mark": later.Field("mark")}).Is(200)
	admin.Post("/me/news/seen", object{"mark": counted.Field("mark")}).Is(200)
	require.EqualValues(t, 0, admin.Get("/me/news").Is(200).Field("submissions"), "an old look takes no later one back")
	admin.Post("/me/news/seen", object{"mark": int64(1) << 52}).Is(200)
	arrives()
	require.EqualValues(t, 1, admin.Get("/me/news").Is(200).Field("submissions"), "nobody has seen the future")
	admin.Post("/me/news/seen", object{"mark": -1}).Fails(400, "svc_invalid_param")
}
