package contacts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestTasksGoWithWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, colleague := s.As("svc_admin"), s.As("svc_admin")
	winner := admin.Post("/contacts", object{"first_name": "Ann", "email": "ann@example.com"}).Is(201).Text("id")
	loser := admin.Post("/contacts", object{"first_name": "Anna"}).Is(201).Text("id")
	task := admin.Post("/tasks", object{"title": "Call", "body": "Ask for Ann.", "contact": loser, "owner_user_id": colleague.UserID}).Is(201).Text("id")
	admin.Post("/contacts/"+winner+"/merge", object{"other_id": loser}).Is(200)
	require.Equal(t, winner, admin.Get("/tasks/"+task).Is(200).Text("contact.id"))
	require.Equal(t, []string{proto.KindTaskCreated, proto.KindTaskUpdated}, s.Kinds(proto.TaskTopic, task))
	require.Equal(t, "Ask for Ann.", admin.Post("/privacy/personal-data", object{"email": "ann@example.com"}).Is(200).Text("contacts.0.tasks.0.body"))

	one := admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id")
	two := admin.Post("/organizations", object{"name": "Acme bv"}).Is(201).Text("id")
	visit := admin.Post("/tasks", object{"title": "Ask ann@example.com", "organization": two}).Is(201).Text("id")
	escaped := admin.Post("/tasks", object{"title": "Look", "body": `{"e": "ann\u0040example.com"}`}).Is(201).Text("id")
	link := admin.Post("/tasks", object{"title": "Look", "body": "https://a.example/?e=ann%40example.com&n=1"}).Is(201).Text("id")
	admin.Post("/organizations/"+one+"/merge", object{"other_id": two}).Is(200)
	require.Equal(t, one, admin.Get("/tasks/"+visit).Is(200).Text("organization.id"))

	admin.Post("/privacy/erase", object{"email": "ann@example.com"}).Is(200)
	admin.Get("/tasks/"+task).Fails(404, "svc_not_found")
	require.Equal(t, []string{proto.KindTaskDeleted, "tombstone"}, s.Kinds(proto.TaskTopic, task)[2:])
	for _, e := range s.Events(proto.TaskTopic) {
		if e.GetKind() == proto.KindTaskDeleted {
			require.JSONEq(t, `{"id":"`+task+`"}`, string(e.GetData()), "nothing but the id is left")
		}
	}
	require.NotContains(t, admin.Get("/tasks/"+visit).Is(200).Text("title"), "ann@example.com")
	require.Equal(t, "https://a.example/?e=&n=1", admin.Get("/tasks/"+link).Is(200).Text("body"))
	require.Equal(t, `{"e": ""}`, admin.Get("/tasks/"+escaped).Is(200).Text("body"))
}

func TestTasksOfWhoLeavesGoToTheSuccessor(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, leaver := s.As("svc_admin"), s.As("staff")
	open := leaver.Post("/tasks", object{"title": "open"}).Is(201).Text("id")
	done := leaver.Post("/tasks", object{"title": "done"}).Is(201).Text("id")
	leaver.Post("/tasks/"+done+"/done", nil).Is(200)
	s.Settle()
	s.SendSample("booking.staff/staff.removed", func(e *apptest.Event) {
		e.Key, e.Extra = jsonText(leaver.UserID), map[string]any{"successor": admin.UserID}
	})
	s.Settle()
	for _, id := range []string{open, done} {
		s.Eventually(func() bool { return admin.Get("/tasks/"+id).Is(200).Field("owner_user_id") == float64(admin.UserID) })
	}
}

func TestTasksStandInTheOverviewAndAreNews(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, own := s.As("svc_admin"), s.As("staff")
	day := func(days int) string { return s.Now().In(s.Kit.Config.Zone).AddDate(0, 0, days).Format(time.DateOnly) }
	for title, due := range map[string]any{"yesterday": day(-1), "today": day(0), "some day": nil} {
		admin.Post("/tasks", object{"title": title, "due_on": due, "owner_user_id": own.UserID}).Is(201)
	}
	admin.Post("/tasks", object{"title": "nobody's"}).Is(201)
	own.Post("/tasks", object{"title": "by oneself"}).Is(201)
	tasks := own.Get("/overview").Is(200)
	require.Equal(t, []any{4.0, 1.0}, []any{tasks.Field("tasks.total"), tasks.Field("tasks.overdue")})
	require.Equal(t, []any{"yesterday", "today"}, []any{tasks.Text("tasks.items.0.title"), tasks.Text("tasks.items.1.title")})
	require.EqualValues(t, 0, admin.Get("/overview").Is(200).Field("tasks.total"))
	require.EqualValues(t, 3, own.Get("/me/news").Is(200).Field("tasks"))
	own.Post("/me/news/seen", nil).Is(200)
	require.EqualValues(t, 0, own.Get("/me/news").Is(200).Field("tasks"))
}
