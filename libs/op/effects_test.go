package op

import (
	"encoding/json"
	"net/http"
	"strings"
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

func TestAPreferenceForADryRunHasNoValue(t *testing.T) {
	for _, preferred := range []string{"dry-run", "Dry-Run", "handling=strict, dry-run", "dry-run;x=1", "dry-run=", `dry-run=""`, ` dry-run = "" ; a`, "wait=10,dry-run"} {
		yes, err := prefersDryRun(http.Header{"Prefer": {preferred}})
		require.NoError(t, err, preferred)
		require.True(t, yes, preferred)
	}
	for _, other := range []string{"", "dry-runs", "handling=dry-run", "x;dry-run", "return=minimal"} {
		yes, err := prefersDryRun(http.Header{"Prefer": {other}})
		require.NoError(t, err, other)
		require.False(t, yes, other)
	}
	for _, wrong := range []string{"dry-run=true", "dry-run=false", `handling=strict, dry-run="1"`, strings.Repeat("0", 256)} {
		_, err := prefersDryRun(http.Header{"Prefer": {wrong}})
		require.Error(t, err, wrong)
	}
}

func TestAddressesOfTheTeamAreForWhoManagesIt(t *testing.T) {
	all := Effects{Mails: []EffectMail{{To: []string{"client@example.com"}}, {To: []string{"noor@example.com"}, Team: true}}}
	may := func(permissions ...string) db.Actor {
		who := db.Actor{Capabilities: map[string]bool{}}
		for _, p := range permissions {
			who.Capabilities[p] = true
		}
		return who
	}
	seen := all.SeenBy(may(auth.ViewContacts, auth.EditContacts))
	require.Equal(t, []EffectMail{{To: []string{"client@example.com"}}, {To: []string{}, Team: true}}, seen.Mails)
	require.Equal(t, all.Mails, all.SeenBy(may(auth.ViewContacts, auth.ManageCRM)).Mails)
}
