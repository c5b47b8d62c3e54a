package task_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
	"frontdesk/services/contacts/internal/task"
)

type object = map[string]any

func start(t *testing.T) *apptest.Service {
	t.Helper()
	return contactstest.Start(t, func(k *app.Kit, set *op.Set) app.Room {
		r := task.New(k)
		r.Tasks(set)
		return app.Room{Name: "task", Parts: r.Parts()}
	})
}

// titles are those of a list in its order, read page by page.
func titles(t *testing.T, c *apptest.Client, query string) (all []string) {
	t.Helper()
	cursor := ""
	for {
		page := c.Get("/tasks?per_page=2" + query + cursor).Is(200)
		for _, x := range page.Items() {
			all = append(all, x["title"].(string))
		}
		if page.Field("next_cursor") == nil {
			require.EqualValues(t, len(all), page.Field("total"))
			return all
		}
		cursor = "&cursor=" + page.Text("next_cursor")
	}
}

func TestATaskIsMadeChangedTickedOffAndDeleted(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	contact := admin.Post("/contacts", object{"first_name": "Ann", "last_name": "Peeters"}).Is(201).Text("id")
	company := admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id")
	made := admin.Post("/tasks", object{"title": " Call  back ", "body": "About the offer.", "due_on": "2026-12-01", "owner_user_id": admin.UserID, "contact": contact,
		"organization": company}).Is(201)
	id := made.Text("id")
	require.Equal(t, "Call back", made.Text("title"))
	require.Equal(t, object{"id": contact, "name": "Ann Peeters"}, made.Field("contact"))
	require.Equal(t, object{"id": company, "name": "Acme"}, made.Field("organization"))
	require.Nil(t, made.Field("appointment"))
	require.Equal(t, made.Field("updated_at"), admin.Get("/tasks/"+id).Is(200).Field("updated_at"))

	changed := admin.Patch("/tasks/"+id, object{"due_on": nil, "organization": nil}).Is(200)
	require.Nil(t, changed.Field("due_on"))
	require.Nil(t, changed.Field("organization"))
	require.Equal(t, "About the offer.", changed.Text("body"))
	tag := admin.Get("/tasks/" + id).Header.Get("ETag")
	admin.Patch("/tasks/"+id, object{"title": "Call back"}).Is(200)
	require.Equal(t, tag, admin.Get("/tasks/"+id).Header.Get("ETag"), "what stays as it is makes no version")
	admin.With("If-Match", `"1"`).Patch("/tasks/"+id, object{"title": "Late"}).Fails(412, "svc_version_mismatch")
	admin.Patch("/tasks/"+id, object{"title": " "}).Fails(400, "svc_invalid_param")
	admin.Patch("/tasks/"+id, object{"owner_user_id": 99999}).Fails(400, "svc_invalid_param")
	admin.Patch("/tasks/"+id, object{"due_on": "tomorrow"}).Fails(400, "svc_invalid_param")

	done := admin.Post("/tasks/"+id+"/done", nil).Is(200)
	require.NotNil(t, done.Field("done_at"))
	require.Equal(t, done.Field("done_at"), admin.Post("/tasks/"+id+"/done", nil).Is(200).Field("done_at"))
	require.Nil(t, admin.Post("/tasks/"+id+"/reopen", nil).Is(200).Field("done_at"))
	admin.Post("/tasks/"+id+"/reopen", nil).Is(200)
	s.Settle() // what has not gone out yet does not after the end
	admin.Delete("/tasks/"+id, nil).Is(204)
	admin.Get("/tasks/"+id).Fails(404, "svc_not_found")
	require.Equal(t, []string{proto.KindTaskCreated, proto.KindTaskUpdated, proto.KindTaskDone, proto.KindTaskUpdated, proto.KindTaskDeleted, "tombstone"}, s.Kinds(proto.TaskTopic, id))
	for _, e := range s.Events(proto.TaskTopic) {
		require.NotContains(t, string(e.GetData()), "offer", "events leave the body out")
	}

	var said []any
	for _, e := range admin.Get("/contacts/" + contact + "/activities").Is(200).Items() {
		if e["type"] == "task" {
			said = append(said, e["data"].(object)["event"])
		}
	}
	require.Equal(t, []any{"deleted", "reopened", "done", "changed", "added"}, said)
	require.Equal(t, "task", admin.Get("/organizations/" + company + "/activities").Is(200).Items()[0]["type"])
}

func TestATaskIsAboutWhatIsThere(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	contact := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
	other := admin.Post("/contacts", object{"first_name": "Bob"}).Is(201).Text("id")
	trashed := admin.Post("/contacts", object{"first_name": "Gone"}).Is(201).Text("id")
	admin.Delete("/contacts/"+trashed, nil).Is(204)
	company := admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id")
	admin.Delete("/organizations/"+company, nil).Is(204)
	visit := contactstest.Appointment(s, proto.KindAppointmentBooked, 1, contact, "confirmed", s.Now().UTC().Truncate(time.Second))
	s.Settle()
	for _, field := range []string{"contact", "organization", "appointment"} {
		admin.Post("/tasks", object{"title": "x", field: uuid.NewString()}).Fails(404, "svc_not_found")
	}
	admin.Post("/tasks", object{"title": "x", "contact": trashed}).Fails(409, "svc_invalid_status")
	admin.Post("/tasks", object{"title": "x", "organization": company}).Fails(409, "svc_invalid_status")
	admin.Post("/tasks", object{"title": "x", "contact": other, "appointment": visit}).Fails(400, "svc_invalid_param")
	made := admin.Post("/tasks", object{"title": "Prepare", "appointment": visit}).Is(201)
	require.Equal(t, contact, made.Text("contact.id"))
	require.Equal(t, visit, made.Text("appointment.id"))
	admin.Patch("/tasks/"+made.Text("id"), object{"contact": other}).Fails(400, "svc_invalid_param")
	require.Equal(t, other, admin.Patch("/tasks/"+made.Text("id"), object{"contact": other, "appointment": nil}).Is(200).Text("contact.id"))

	admin.Delete("/contacts/"+other, nil).Is(204)
	require.Empty(t, titles(t, admin, ""))
	admin.Post("/contacts/"+other+"/restore", nil).Is(200)
	require.Equal(t, []string{"Prepare"}, titles(t, admin, ""))
}

func TestTasksAreListedByTheDayTheyAreDueAndDoneOnesLast(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("svc_admin")
	contact := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
	for _, x := range []struct {
		title string
		due   any
		about any
	}{{"whenever", nil, nil}, {"late", "2026-12-24", contact}, {"long ago", "1969-07-20", nil}, {"soon", "2026-11-30", contact}, {"far", "9999-12-31", nil}} {
		admin.Post("/tasks", object{"title": x.title, "due_on": x.due, "contact": x.about}).Is(201)
	}
	for _, title := range []string{"done first", "done last"} {
		id := admin.Post("/tasks", object{"title": title, "due_on": "2026-11-01", "owner_user_id": admin.UserID}).Is(201).Text("id")
		admin.Post("/tasks/"+id+"/done", nil).Is(200)
		s.Travel(time.Minute)
	}
	require.Equal(t, []string{"long ago", "soon", "late", "far", "whenever", "done last", "done first"}, titles(t, admin, ""))
	require.Equal(t, []string{"done last", "done first"}, titles(t, admin, "&done=true"))
	require.Equal(t, []string{"soon", "late"}, titles(t, admin, "&done=false&contact="+contact))
	require.Equal(t, []string{"long ago", "soon"}, titles(t, admin, "&done=false&due_to=2026-11-30"))
	require.Equal(t, []string{"late", "far"}, titles(t, admin, "&due_from=2026-12-24"))
	require.Equal(t, []string{"done last", "done first"}, titles(t, admin, "&owner="+strconv.FormatInt(admin.UserID, 10)))
	first := admin.Get("/tasks?per_page=1").Is(200).Text("next_cursor")
	admin.Get("/tasks?done=true&cursor="+first).Fails(400, "svc_invalid_cursor")
}

func TestWhoSeesOnlyTheirOwnSeesTasksTheyOwnAndThoseOfTheirContacts(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin, own := s.As("svc_admin"), s.As("staff")
	mine := own.Post("/contacts", object{"first_name": "Mine"}).Is(201).Text("id")
	theirs := admin.Post("/contacts", object{"first_name": "Theirs"}).Is(201).Text("id")
	require.EqualValues(t, own.UserID, own.Post("/tasks", object{"title": "own"}).Is(201).Field("owner_user_id"))
	about := admin.Post("/tasks", object{"title": "about mine", "contact": mine, "due_on": "2026-12-02"}).Is(201).Text("id")
	given := admin.Post("/tasks", object{"title": "given", "contact": theirs, "owner_user_id": own.UserID, "due_on": "2026-12-01"}).Is(201).Text("id")
	hidden := admin.Post("/tasks", object{"title": "hidden", "contact": theirs}).Is(201).Text("id")
	require.Equal(t, []string{"given", "about mine", "own"}, titles(t, own, ""))
	require.Nil(t, own.Get("/tasks/"+given).Is(200).Field("contact"), "a record that the caller may not see")
	own.Get("/tasks/"+hidden).Fails(404, "svc_not_found")
	for _, path := range []string{"/done", "/reopen"} {
		own.Post("/tasks/"+hidden+path, nil).Fails(404, "svc_not_found")
	}
	own.Patch("/tasks/"+hidden, object{"title": "x"}).Fails(404, "svc_not_found")
	own.Delete("/tasks/"+hidden, nil).Fails(404, "svc_not_found")
	own.Post("/tasks", object{"title": "x", "contact": theirs}).Fails(404, "svc_not_found")
	require.EqualValues(t, admin.UserID, own.Patch("/tasks/"+given, object{"owner_user_id": admin.UserID}).Is(200).Field("owner_user_id"))
	own.Get("/tasks/"+given).Fails(404, "svc_not_found")
	own.Post("/tasks/"+about+"/done", nil).Is(200)
}

func TestWhoIsGivenATaskBySomebodyElseIsTold(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin, me, own := s.As("svc_admin"), s.As("svc_admin"), s.As("staff")
	told := func() (all []string) {
		s.Settle()
		for _, e := range s.Events(proto.MailTopic) {
			n := &proto.Notice{}
			if e.GetKind() == proto.KindTellTeam {
				require.NoError(t, protobuf.Unmarshal(e.GetData(), n))
			}
			if task := n.GetTask(); task != nil {
				require.Equal(t, "team_assigned", n.GetTo()[0].GetKind())
				who := map[int64]string{me.UserID: "me", own.UserID: "own", admin.UserID: "admin"}[n.GetTo()[0].GetUserId()]
				all = append(all, who+": "+task.GetTitle()+", "+task.GetContact().GetName()+", "+task.GetDueOn())
			}
		}
		return all
	}
	ann := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
	given := admin.Post("/tasks", object{"title": "Call", "owner_user_id": me.UserID, "contact": ann, "due_on": "2027-03-29"}).Is(201).Text("id")
	want := []string{"me: Call, Ann, 2027-03-29"}
	require.Equal(t, want, told())
	me.Post("/tasks", object{"title": "Mine", "owner_user_id": me.UserID}).Is(201)
	me.Patch("/tasks/"+given, object{"title": "Call back"}).Is(200)
	require.Equal(t, want, told(), "one's own act, and a change of something else")
	me.Patch("/tasks/"+given, object{"owner_user_id": own.UserID}).Is(200)
	require.Equal(t, append(want, "own: Call back, , 2027-03-29"), told(), "whom it is about is not named to who may not see them")
}
