package message

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/bus"
	"frontdesk/proto"
)

// Whatever a producer sends, the body is JSON that holds it unchanged, and blanking it leaves the id alone.
func FuzzBody(f *testing.F) {
	f.Add(`{"id":"0197e3f0-0000-7000-8000-000000000000","contact":{"id":"0197e3f0-0000-7000-8000-000000000001"},"values":{"a":"<&>\u2028"}}`, "a,b")
	f.Add(`{"id":1,"contact":7,"values":"\ud800"}`, "")
	f.Add(`null`, "x")
	f.Fuzz(func(t *testing.T, data, changed string) {
		for topic, kind := range map[string]string{proto.ContactTopic: proto.KindContactUpdated, proto.OrganizationTopic: proto.KindOrganizationUpdated,
			proto.AppointmentTopic: proto.KindAppointmentBooked, proto.SubmissionTopic: proto.KindFormSubmitted} {
			e := bus.Event{ID: uuid.New(), Topic: topic, Kind: kind, At: time.Now(), Changed: strings.Split(changed, ","), Data: []byte(data),
				Extra: []byte(data)}
			b, err := newBody(e, uuid.New())
			if err != nil {
				require.Error(t, e.Decode(&struct {
					Contact *struct {
						ID *uuid.UUID `json:"id"`
					} `json:"contact"`
					Status string `json:"status"`
				}{}))
				continue
			}
			text, err := b.text()
			if err != nil {
				require.False(t, json.Valid([]byte(data)))
				continue
			}
			var got sent
			require.NoError(t, json.Unmarshal([]byte(text), &got))
			record, _ := EventNamed(kind)
			require.JSONEq(t, data, string(got.Data[record.Record]))
			bare, err := blank(text)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal([]byte(bare), &got))
			require.Equal(t, "evt_"+e.ID.String(), got.ID)
		}
	})
}

func TestBlankingKeepsTheOutlineAndNothingElse(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	b, err := newBody(bus.Event{ID: id, Topic: proto.ContactTopic, Kind: proto.KindContactMerged, At: time.Unix(0, 0),
		Data: []byte(`{"id":"` + id.String() + `","email":"ann@example.com","tags":["vip"]}`), Extra: []byte(`{"merged_id":"` + id.String() + `"}`)}, id)
	require.NoError(t, err)
	text, err := b.text()
	require.NoError(t, err)
	bare, err := blank(text)
	require.NoError(t, err)
	require.JSONEq(t, `{"event":"contact.merged","id":"evt_`+id.String()+`","occurred_at":"1970-01-01T00:00:00Z",
		"data":{"contact":{"id":"`+id.String()+`"},"merged_id":"`+id.String()+`"}}`, bare)
}
