package op

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

func TestEffectsShowWhatTheCallerMayRead(t *testing.T) {
	event := func(kind, id, data string) EffectEvent { return EffectEvent{kind, id, json.RawMessage(data)} }
	change := func(kind, id string) EffectChange { return EffectChange{Record: effectRecord{Type: kind, ID: id}} }
	all := Effects{
		Events: []EffectEvent{
			event(proto.KindContactUpdated, "called", `{"owner_user_id":null}`),
			event(proto.KindContactUpdated, "mine", `{"owner_user_id":7}`),
			event(proto.KindContactUpdated, "nobody's", `{"owner_user_id":null}`),
			event(proto.KindAppointmentUpdated, "hers", `{"staff":{"user_id":8}}`),
			event(proto.KindFormSubmitted, "sent", `{"id":"sent"}`),
			event(proto.KindMarketingSubscribed, "asked", `{}`),
			event(proto.KindFormUpdated, "form", `{}`),
		},
		Changes:  []EffectChange{change("contact", "called"), change("contact", "mine"), change("contact", "nobody's"), change("appointment", "hers"), change("form", "form")},
		Webhooks: []EffectWebhook{{Name: "a webhook"}},
		Audit:    opt.Of(effectAudit{RecordID: "called"}),
	}
	seen := func(who db.Actor) (events, changes []string, webhooks int) {
		e := all.SeenBy(who)
		for _, event := range e.Events {
			if string(event.Data) != "null" {
				events = append(events, event.ID)
			}
		}
		for _, c := range e.Changes {
			changes = append(changes, c.Record.ID)
		}
		return events, changes, len(e.Webhooks)
	}
	for name, c := range map[string]struct {
		who             db.Actor
		events, changes []string
		webhooks        int
	}{
		"everything": {db.Actor{UserID: 7, Capabilities: map[string]bool{auth.ViewContacts: true, auth.ManageIntegrations: true}},
			[]string{"called", "mine", "nobody's", "hers", "sent", "asked", "form"}, []string{"called", "mine", "nobody's", "hers", "form"}, 1},
		"their own": {db.Actor{UserID: 7, Own: true, Capabilities: map[string]bool{auth.ViewContacts: true, auth.ManageIntegrations: true}},
			[]string{"called", "mine", "form"}, []string{"called", "mine", "form"}, 0},
		"no clients": {db.Actor{UserID: 7, Capabilities: map[string]bool{auth.ManageForms: true}}, []string{"form"}, []string{"called", "form"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			events, changes, webhooks := seen(c.who)
			require.Equal(t, c.events, events)
			require.Equal(t, c.changes, changes)
			require.Equal(t, c.webhooks, webhooks)
		})
	}
	require.JSONEq(t, `{"owner_user_id":null}`, string(all.Events[2].Data), "what everybody sees is not changed by what one does not")
}

func TestThePartOfAnotherServiceHasWhatEndsThere(t *testing.T) {
	part, err := PartOf([]db.Message{{Topic: proto.AppointmentTopic, Key: "a"}, {Topic: proto.IdentityTopic, Key: "user/7"}}, nil)
	require.NoError(t, err)
	require.Equal(t, []EffectEvent{{"appointment.gone", "a", json.RawMessage("null")}}, part.Events)
	require.False(t, part.Audit.Given(), "the entry is that of the call")
}
