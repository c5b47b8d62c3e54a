package webhooks

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

func TestAWebhookGetsOnlyWhatItIsNarrowedDownTo(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	cut, colour := uuid.NewString(), uuid.NewString()
	all := []string{proto.KindContactUpdated, proto.KindContactErased, proto.KindOrganizationCreated, proto.KindFormSubmitted, proto.KindAppointmentBooked}
	names := map[string]string{}
	subscribe := func(only map[string]any) (id string, got func() []string) {
		r := webhookstest.Listen(t)
		id = admin.Post("/webhooks", map[string]any{"name": "x", "url": r.URL, "events": all, "only": only}).Is(201).Text("webhook.id")
		return id, func() (got []string) {
			for _, request := range r.All() {
				got = append(got, names[request.JSON().ID])
			}
			return got
		}
	}
	_, everything := subscribe(map[string]any{})
	_, vips := subscribe(map[string]any{"tag": []string{"vip", "Best Clients"}})
	patched, cuts := subscribe(map[string]any{"service": []string{cut}, "form": []int{3}})
	_, noneOfThese := subscribe(map[string]any{"service": []string{uuid.NewString()}, "form": []int{9}, "tag": []string{"nobody"}})

	send := func(name, topic, kind string, data map[string]any) {
		e := apptest.Event{ID: uuid.NewString(), Topic: topic, Kind: kind, Key: uuid.NewString(), Version: 1, Data: data}
		data["id"] = e.Key
		names["evt_"+e.ID] = name
		s.Send(e)
	}
	first := func() {
		send("a vip", proto.ContactTopic, proto.KindContactUpdated, map[string]any{"tags": []string{"VIP", "Blue"}})
		send("a best client", proto.ContactTopic, proto.KindContactUpdated, map[string]any{"tags": []string{"best-clients"}})
		send("somebody", proto.ContactTopic, proto.KindContactUpdated, map[string]any{"tags": []string{}})
		send("erased", proto.ContactTopic, proto.KindContactErased, map[string]any{"tags": []string{"blue"}})
		send("organization", proto.OrganizationTopic, proto.KindOrganizationCreated, map[string]any{})
		send("form 3", proto.SubmissionTopic, proto.KindFormSubmitted, map[string]any{"form": map[string]any{"id": 3}, "contact": nil})
		send("form 33", proto.SubmissionTopic, proto.KindFormSubmitted, map[string]any{"form": map[string]any{"id": 33}})
		send("cut", proto.AppointmentTopic, proto.KindAppointmentBooked, map[string]any{"service": map[string]any{"id": cut}})
		send("colour", proto.AppointmentTopic, proto.KindAppointmentBooked, map[string]any{"service": map[string]any{"id": colour}})
		send("no service", proto.AppointmentTopic, proto.KindAppointmentBooked, map[string]any{"service": nil})
	}
	first()
	hasNone := []string{"erased", "organization"}
	s.Eventually(func() bool {
		return len(everything()) == 10 && len(vips()) == 9 && len(cuts()) == 7 && len(noneOfThese()) == 2
	})
	require.ElementsMatch(t, append([]string{"a vip", "a best client", "form 3", "form 33", "cut", "colour", "no service"}, hasNone...), vips())
	require.ElementsMatch(t, append([]string{"a vip", "a best client", "somebody", "form 3", "cut"}, hasNone...), cuts())
	require.ElementsMatch(t, hasNone, noneOfThese())

	// What is changed counts for what happens from then on.
	admin.Patch("/webhooks/"+patched, map[string]any{"only": map[string]any{}}).Is(200)
	first()
	s.Eventually(func() bool { return len(cuts()) == 17 })
}
