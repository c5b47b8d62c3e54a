package services

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/staff"
)

type object = map[string]any

// open starts the room and those below it.
func open(t *testing.T) (s *apptest.Service, admin, colleague *apptest.Client) {
	t.Helper()
	s = apptest.StartRooms(t, "booking", func(k *app.Kit, set *op.Set) []app.Room {
		people := staff.New(k)
		r := New(k, people)
		r.Services(set)
		r.Rules(set)
		return []app.Room{{Name: "staff", Parts: people.Parts()}, {Name: "services", Parts: r.Parts()}}
	})
	admin, colleague = s.As("site_admin"), s.As("staff")
	return s, admin, colleague
}

func TestAServiceThatNobodyDoesHasAnEmptyList(t *testing.T) {
	t.Parallel()
	_, admin, _ := open(t)
	made := admin.Post("/services", object{"name": "Later", "duration_min": 30, "staff": []int64{}}).Is(201)
	require.Contains(t, made.Body, `"staff":[]`)
	require.Contains(t, admin.Patch("/services/"+made.Text("id"), object{"staff": []int64{}}).Is(200).Body, `"staff":[]`)
}

func TestServicesStandInTheOrderThatSomebodyGivesThem(t *testing.T) {
	t.Parallel()
	_, admin, _ := open(t)
	ids := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d"} {
		ids[name] = admin.Post("/services", object{"name": name, "duration_min": 30}).Is(201).Text("id")
	}
	order := func(a *apptest.Answer) (names string) {
		items, _ := a.Field("items").([]any)
		for _, s := range items {
			names += s.(object)["name"].(string)
		}
		return names
	}
	require.Equal(t, "cabd", order(admin.Put("/services/order", object{"services": []string{ids["c"]}}).Is(200)))
	require.Equal(t, "dcab", order(admin.Put("/services/order", object{"services": []string{ids["d"], ids["c"]}}).Is(200)))
	version := admin.Get("/services/" + ids["d"]).Is(200).Header.Get("ETag")
	require.Equal(t, "dabc", order(admin.Put("/services/order", object{"services": []string{ids["d"], ids["a"], ids["b"], ids["c"]}}).Is(200)))
	require.Equal(t, version, admin.Get("/services/"+ids["d"]).Is(200).Header.Get("ETag"), "it stays where it was")
	admin.Delete("/services/"+ids["a"], nil).Is(200)
	require.Equal(t, "bdc", order(admin.Put("/services/order", object{"services": []string{ids["b"]}}).Is(200)))
	require.Equal(t, "bdc", order(admin.Get("/services").Is(200)))
	admin.Put("/services/order", object{"services": []string{ids["b"], uuid.NewString()}}).Fails(404, "svc_not_found")
}

func TestServicesAreChangedFieldByField(t *testing.T) {
	t.Parallel()
	s, admin, colleague := open(t)
	admin.Post("/services", object{"name": "Intake", "duration_min": 60}).Is(201)
	admin.Patch("/settings/booking", object{"default_confirmation": "review"}).Is(200)
	made := admin.Post("/services", object{"name": " Massage ", "duration_min": 90, "price": "45.50", "sort_order": -1, "min_notice_min": 60}).Is(201)
	require.Equal(t, "review", made.Text("confirmation"))
	require.Equal(t, "Massage", made.Text("name"))
	id := made.Text("id")
	changed := admin.Patch("/services/"+id, object{"price": nil, "min_notice_min": nil, "description": "Relax"}).Is(200)
	require.Nil(t, changed.Field("price"))
	require.Nil(t, changed.Field("min_notice_min"))
	require.EqualValues(t, 90, changed.Field("duration_min"))
	require.Equal(t, id, colleague.Get("/services").Is(200).Text("items.0.id"))
	for name, value := range map[string]any{"name": "", "duration_min": 1441, "buffer_before": -1, "price": "4,5", "location_type": "moon", "confirmation": "maybe",
		"staff": []int64{9999}, "form_id": 0, "max_advance_days": 731, "sort_order": nil, "archived": "x", "color": "red", "bookable_online": nil} {
		params, _ := admin.Patch("/services/"+id, object{name: value}).Fails(400, "svc_invalid_param").Field("data.params").(object)
		require.Contains(t, params, name)
	}
	admin.Post("/services", object{"name": "x"}).Fails(400, "svc_invalid_param")
	admin.Post("/services", object{"duration_min": 5}).Fails(400, "svc_invalid_param")
	colleague.Post("/services", object{"name": "x", "duration_min": 5}).Fails(403, "svc_forbidden")

	require.Equal(t, true, admin.Delete("/services/"+id, nil).Is(200).Field("archived"))
	admin.Delete("/services/"+id, nil).Is(200)
	require.Len(t, admin.Get("/services").Is(200).Items(), 1)
	require.Len(t, admin.Get("/services?include_archived=true").Is(200).Items(), 2)
	admin.Get("/services/" + id).Is(200)
	require.Equal(t, false, admin.Patch("/services/"+id, object{"archived": false}).Is(200).Field("archived"))
	require.Equal(t, []string{proto.KindServiceCreated, proto.KindServiceUpdated, proto.KindServiceArchived, proto.KindServiceUpdated}, s.Kinds(proto.ServiceTopic, id))
	admin.Get("/services/"+uuid.NewString()).Fails(404, "svc_not_found")
}

func TestSettingsThatAreLeftOutStay(t *testing.T) {
	t.Parallel()
	_, admin, colleague := open(t)
	before := colleague.Get("/settings/booking").Is(200).Map()
	require.Len(t, before, 15)
	after := admin.Patch("/settings/booking", object{"slot_step": 15, "late_cancel_text": " Ring us. "}).Is(200).Map()
	before["slot_step"], before["late_cancel_text"] = float64(15), "Ring us."
	require.Equal(t, before, after)
	for name, value := range map[string]any{"slot_step": 4, "min_notice_min": 43201, "max_advance_days": 0, "cancel_notice_hours": 721, "reminder_hours": 0,
		"max_open_bookings": 51, "default_confirmation": "no", "client_changes": nil, "terms_text": 5} {
		params, _ := admin.Patch("/settings/booking", object{name: value}).Fails(400, "svc_invalid_param").Field("data.params").(object)
		require.Contains(t, params, name)
	}
	colleague.Patch("/settings/booking", object{"slot_step": 15}).Fails(403, "svc_forbidden")
}

func TestRemindersAreAListAndTheFirstIsTheOneOfBefore(t *testing.T) {
	t.Parallel()
	s, admin, _ := open(t)
	set := func(body object) []any {
		t.Helper()
		a := admin.Patch("/settings/booking", body).Is(200)
		var hours []any
		for i := range 3 {
			if h := a.Field(fmt.Sprintf("reminders.%d.hours", i)); h != nil {
				hours = append(hours, h)
			}
		}
		require.Equal(t, hours[0], a.Field("reminder_hours"))
		return hours
	}
	list := func(hours ...int) (all []object) {
		for _, h := range hours {
			all = append(all, object{"hours": h})
		}
		return all
	}
	require.Equal(t, []any{24.0}, set(object{}))
	require.Equal(t, []any{48.0, 24.0, 2.0}, set(object{"reminders": list(2, 48, 24)}))
	require.Equal(t, []any{24.0, 12.0, 2.0}, set(object{"reminder_hours": 12}), "in the place of the first")
	require.Equal(t, []any{30.0, 12.0, 2.0}, set(object{"reminder_hours": 30}))
	require.Equal(t, []any{5.0}, set(object{"reminders": list(5)}))
	require.Equal(t, []any{7.0, 1.0}, set(object{"reminders": list(3, 1), "reminder_hours": 7}))
	for name, c := range map[string]struct {
		body  object
		param string
	}{
		"none":          {object{"reminders": list()}, "reminders"},
		"four":          {object{"reminders": list(1, 2, 3, 4)}, "reminders"},
		"two at once":   {object{"reminders": list(5, 5)}, "reminders"},
		"like a later":  {object{"reminder_hours": 1}, "reminder_hours"},
		"too early":     {object{"reminders": list(169)}, "reminders[0].hours"},
		"at the begin":  {object{"reminders": list(0)}, "reminders[0].hours"},
		"without hours": {object{"reminders": []object{{}}}, "reminders[0]"},
		"null":          {object{"reminders": nil}, "reminders"},
	} {
		t.Run(name, func(t *testing.T) {
			if list, ok := c.body["reminders"].([]object); ok && list == nil {
				c.body["reminders"] = []object{}
			}
			params, _ := admin.Patch("/settings/booking", c.body).Fails(400, "svc_invalid_param").Field("data.params").(object)
			require.Contains(t, params, c.param)
		})
	}
	// A replica of before knows one.
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `update settings set reminder_hours = 1`)
	require.NoError(t, err)
	require.Equal(t, []any{1.0}, set(object{}))
}

func TestAMemberIsPublishedWithTheServicesThatAServiceGivesThem(t *testing.T) {
	t.Parallel()
	s, admin, colleague := open(t)
	users := []int64{admin.UserID, colleague.UserID}
	made := admin.Post("/services", object{"name": "Intake", "duration_min": 30, "staff": users[:1]}).Is(201).Text("id")
	versions := map[string]int64{}
	published := func(user int64) (services []string) {
		t.Helper()
		key := fmt.Sprint(user)
		var newest struct{ Services []string }
		for _, e := range s.Events(proto.StaffTopic) {
			if e.GetRecordId() == key && e.GetVersion() > versions[key] {
				require.Equal(t, []any{proto.KindStaffUpdated, []string{"services"}}, []any{e.GetKind(), e.GetChanged()})
				require.NoError(t, json.Unmarshal(e.GetData(), &newest))
				versions[key] = e.GetVersion()
			}
		}
		return newest.Services
	}
	does, nothing, silent := []string{made}, []string{}, []string(nil)
	for _, c := range []struct {
		about string
		set   object
		want  [2][]string
	}{
		{"made for one", nil, [2][]string{does, silent}},
		{"given to another", object{"staff": users[1:]}, [2][]string{nothing, does}},
		{"called otherwise", object{"name": "First talk"}, [2][]string{silent, silent}},
		{"archived", object{"archived": true}, [2][]string{silent, nothing}},
		{"given to both while archived", object{"staff": users}, [2][]string{silent, silent}},
		{"taken back", object{"archived": false}, [2][]string{does, does}},
	} {
		if c.set != nil {
			admin.Patch("/services/"+made, c.set).Is(200)
		}
		require.Equal(t, c.want, [2][]string{published(users[0]), published(users[1])}, c.about)
	}
	admin.Delete("/services/"+made, nil).Is(200)
	require.Equal(t, [2][]string{nothing, nothing}, [2][]string{published(users[0]), published(users[1])}, "archived by its own operation")
}
