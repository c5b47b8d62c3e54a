package webhooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

const samples = "../../../../proto/samples"

func TestWhatProducersSendIsPassedOnAsItIsAndHoldsNothingInternal(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := webhookstest.Listen(t)
	admin := s.As(auth.SiteAdmin)
	every := s.Every(admin)
	s.Subscribe(admin, r.URL, every...)
	sent := map[string]map[string]any{}
	for topic, key := range map[string]string{proto.ContactTopic: "contact", proto.OrganizationTopic: "organization", proto.TaskTopic: "task", proto.AppointmentTopic: "appointment", proto.SubmissionTopic: "submission"} {
		files, err := filepath.Glob(filepath.Join(samples, topic, "*.json"))
		require.NoError(t, err)
		for _, f := range files {
			kind := strings.TrimSuffix(filepath.Base(f), ".json")
			if !slices.Contains(every, kind) {
				continue
			}
			raw, err := os.ReadFile(f)
			require.NoError(t, err)
			var sample struct {
				Data  map[string]any `json:"data"`
				Extra map[string]any `json:"extra"`
			}
			require.NoError(t, json.Unmarshal(raw, &sample))
			want := map[string]any{key: sample.Data}
			if kind == proto.KindContactErased {
				want[key] = map[string]any{}
			}
			if strings.HasSuffix(kind, ".merged") {
				require.NotEmpty(t, sample.Extra["merged_id"], kind)
				want["merged_id"] = sample.Extra["merged_id"]
			}
			sent[kind] = want
			// Each is about a record of its own, so that erasing one leaves the others.
			own := uuid.NewString()
			if record, ok := want[key].(map[string]any); ok {
				record["id"] = own
			}
			s.SendSample(topic+"/"+kind, func(e *apptest.Event) {
				e.Key = own
				if data, ok := e.Data.(map[string]any); ok {
					data["id"] = own
				}
			})
		}
	}
	require.Len(t, sent, len(every), "every event that can be subscribed has a sample")
	s.Eventually(func() bool { return len(r.All()) == len(sent) })
	for _, got := range r.All() {
		e := got.JSON()
		delete(e.Data, "changed")
		require.Equal(t, sent[e.Event], e.Data, e.Event)
		hidden(t, e.Event, e.Data)
	}
}

// hidden holds that nothing internal is shown at any depth.
func hidden(t *testing.T, where string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			switch k {
			case "token", "manage_token", "secret", "hash":
				require.Fail(t, "internal", "%s shows %s", where, k)
			case "meeting_url", "notes", "cancel_reason", "decline_reason", "reason":
				require.Contains(t, []any{"", nil}, x, "%s shows %s", where, k)
			}
			hidden(t, where+"."+k, x)
		}
	case []any:
		for _, x := range v {
			hidden(t, where, x)
		}
	}
}
