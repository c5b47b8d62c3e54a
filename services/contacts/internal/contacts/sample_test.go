package contacts

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestWhatContactsSendsIsWhatTheSamplesSay(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, visitor := s.As("svc_admin"), s.Visitor()
	field := admin.Post("/fields", object{"entity": "contact", "type": "text", "label": "Shoe size"}).Is(201)
	admin.Patch("/fields/"+field.Text("id"), object{"label": "Size"}).Is(200)
	one := admin.Post("/contacts", object{"first_name": "An", "last_name": "Peeters", "email": "an@example.com", "phone": "+32470123456",
		"source": "fair", "owner_user_id": admin.UserID, "tags": []string{"VIP"}, "fields": object{"shoe_size": "40"}}).Is(201).Text("id")
	two := admin.Post("/contacts", object{"first_name": "Anna"}).Is(201).Text("id")
	o := admin.Post("/organizations", object{"name": "Acme", "city": "Ghent"}).Is(201).Text("id")
	p := admin.Post("/organizations", object{"name": "Acme bv"}).Is(201).Text("id")
	admin.Put("/organizations/"+o+"/contacts/"+one, object{"role": "CEO", "is_primary": true}).Is(204)
	admin.Patch("/contacts/"+one, object{"mode": "overwrite", "status": "customer"}).Is(200)
	admin.Delete("/contacts/"+one, nil).Is(204)
	admin.Post("/contacts/"+one+"/restore", nil).Is(200)
	admin.Post("/contacts/"+one+"/merge", object{"other_id": two}).Is(200)
	admin.Post("/contacts/"+one+"/marketing/request", nil).Is(200)
	visitor.Post("/marketing/confirm", object{"token": tokenIn(t, mails(t, s, "an@example.com", "marketing.confirm")[0], "/marketing/confirm")}).Is(200)
	todo := admin.Post("/tasks", object{"title": "Send the offer", "body": "With the new prices.", "due_on": "2026-12-01", "owner_user_id": admin.UserID, "contact": one, "organization": o}).Is(201).Text("id")
	admin.Patch("/tasks/"+todo, object{"due_on": "2026-12-02"}).Is(200)
	admin.Post("/tasks/"+todo+"/done", nil).Is(200)
	admin.Delete("/tasks/"+todo, nil).Is(204)
	admin.Post("/tasks", object{"title": "Call back"}).Is(201)
	admin.Post("/contacts/"+one+"/marketing/unsubscribe", nil).Is(200)
	ensure(s, &proto.EnsureContact{Email: "an@example.com", Create: true})
	admin.Delete("/organizations/"+o, nil).Is(204)
	admin.Post("/organizations/"+o+"/restore", nil).Is(200)
	admin.Post("/organizations/"+o+"/merge", object{"other_id": p}).Is(200)
	gone := admin.Post("/contacts", object{"email": "gone@example.com"}).Is(201).Text("id")
	s.Settle()
	admin.Post("/privacy/erase", object{"email": "gone@example.com"}).Is(200)
	require.Contains(t, s.Kinds(proto.ContactTopic, gone), proto.KindContactErased)
	s.Sample(proto.ContactTopic)
	s.Sample(proto.OrganizationTopic)
	s.Sample(proto.TaskTopic)
	s.Sample(proto.FieldTopic)
	require.Equal(t, 1, s.PublishesStateAgain(proto.ContactTopic))
	require.Equal(t, 1, s.PublishesStateAgain(proto.OrganizationTopic))
	require.Equal(t, 1, s.PublishesStateAgain(proto.TaskTopic))
	require.Equal(t, 1, s.PublishesStateAgain(proto.FieldTopic))
}

func TestWhatOtherServicesSendIsUnderstood(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	s.SendSample("contacts.command/ensure_contact", nil)
	s.SendSample("contacts.command/ensure_fields", nil)
	s.Settle()
	list := admin.Get("/contacts").Is(200)
	require.EqualValues(t, 1, list.Field("total"))
	id := list.Text("items.0.id")
	require.NotNil(t, list.Field("items.0.organization"))

	appointment := uuid.NewString()
	version := int64(0)
	for _, kind := range []string{"booked", "confirmed", "rescheduled", "place_changed", "updated", "completed", "no_show", "reopened", "declined", "cancelled"} {
		version++
		s.SendSample("booking.appointment/appointment."+kind, func(e *apptest.Event) {
			data := e.Data.(map[string]any)
			data["id"], data["contact"] = appointment, map[string]any{"id": id, "name": "An"}
			e.Key, e.Version = appointment, version
		})
	}
	submission := uuid.NewString()
	for _, kind := range []string{proto.KindFormSubmitted, proto.KindSubmissionUpdated} {
		s.SendSample("forms.submission/"+kind, func(e *apptest.Event) {
			data := e.Data.(map[string]any)
			data["id"], data["contact"], data["created_at"] = submission, map[string]any{"id": id, "name": "An"}, s.Now().UTC().Truncate(time.Second)
			e.Key = submission
		})
	}
	s.Settle()
	kinds := map[any]int{}
	for _, e := range admin.Get("/contacts/" + id + "/activities?per_page=100").Is(200).Items() {
		kinds[e["type"]]++
	}
	require.Equal(t, 9, kinds["appointment"])
	require.Equal(t, 1, kinds["submission"])
	require.EqualValues(t, 1, admin.Get("/overview").Is(200).Field("submissions"))
	s.SendSample("forms.submission/submission.deleted", func(e *apptest.Event) {
		e.Key, e.Version = submission, 9
		e.Data.(map[string]any)["id"] = submission
	})
	s.Settle()
	require.EqualValues(t, 0, admin.Get("/overview").Is(200).Field("submissions"))

	var staff int64
	s.SendSample("booking.staff/staff.updated", nil)
	s.SendSample("booking.staff/staff.removed", func(e *apptest.Event) {
		admin.Post("/contacts", object{"first_name": "Owned", "owner_user_id": admin.UserID}).Is(201)
		e.Key, e.Extra, staff = jsonText(admin.UserID), map[string]any{"successor": nil}, admin.UserID
	})
	s.Settle()
	s.Eventually(func() bool { return admin.Get("/contacts?owner="+jsonText(staff)).Is(200).Field("total") == 0.0 })
	var parked int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from parked`).Scan(&parked))
	require.Zero(t, parked)
}
