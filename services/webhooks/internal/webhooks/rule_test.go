package webhooks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/bus"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
)

// What a delivery goes through, whatever receivers and people do.
func TestADeliveryHasSixAttemptsOfItsScheduleAndAnyNumberOfResends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		next := now
		j := job{status: "queued", next: &next}
		scheduledFailures := 0
		for range rapid.IntRange(1, 30).Draw(t, "attempts") {
			waiting := j.status == "queued" || j.status == "retrying"
			r := result{job: j, ended: now}
			r.how = manner(rapid.IntRange(0, 1).Draw(t, "manner"))
			if !waiting {
				r.how = resent
			}
			if !rapid.Bool().Draw(t, "ok") {
				r.reason = "no"
			}
			status, failed, at, delivered := r.after()
			switch {
			case r.ok():
				require.Equal(t, "delivered", status)
				require.Nil(t, at)
				require.Equal(t, now, *delivered)
			case r.how == resent:
				require.Equal(t, j.status, status)
				require.Equal(t, j.failed, failed)
				require.Equal(t, j.next, at)
			default:
				scheduledFailures++
				require.Equal(t, scheduledFailures, failed)
				require.Equal(t, failed == signature.MaxAttempts, status == "failed")
				require.Equal(t, status == "failed", at == nil)
				if at != nil {
					require.True(t, at.After(now))
				}
			}
			j.status, j.failed, j.next = status, failed, at
			now = now.Add(time.Duration(rapid.IntRange(0, 100_000).Draw(t, "seconds")) * time.Second)
		}
	})
}

func TestAPauseBeginsWithTheTwentiethFailureInARow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := streak{}
		row := 0
		for range rapid.IntRange(1, 80).Draw(t, "attempts") {
			ok := rapid.IntRange(0, 15).Draw(t, "luck") == 0
			r := result{}
			if !ok {
				r.reason = "no"
			}
			s.count(r)
			if row++; ok {
				row = 0
			}
			if row == signature.PauseAfter {
				require.Equal(t, "failures", *s.paused)
				require.Equal(t, "failures", s.stopped)
				require.Equal(t, signature.PauseAfter, s.failures)
				return
			}
			require.Nil(t, s.paused)
			require.Equal(t, row, s.failures)
		}
	})
}

// Whatever a producer sends, the body is JSON that holds it unchanged, and blanking it leaves the id alone.
func FuzzBody(f *testing.F) {
	f.Add(`{"id":"0197e3f0-0000-7000-8000-000000000000","contact":{"id":"0197e3f0-0000-7000-8000-000000000001"},"values":{"a":"<&>\u2028"}}`, "a,b")
	f.Add(`{"id":1,"contact":7,"values":"\ud800"}`, "")
	f.Add(`null`, "x")
	f.Fuzz(func(t *testing.T, data, changed string) {
		for topic, key := range keys {
			e := bus.Event{ID: uuid.New(), Topic: topic, Kind: "contact.updated", At: time.Now(), Changed: strings.Split(changed, ","), Data: []byte(data),
				Extra: []byte(data)}
			b := newBody(e, uuid.New())
			text, err := b.text()
			if err != nil {
				require.False(t, json.Valid([]byte(data)))
				continue
			}
			var got sent
			require.NoError(t, json.Unmarshal([]byte(text), &got))
			require.JSONEq(t, data, string(got.Data[key]))
			bare, err := blank(text)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal([]byte(bare), &got))
			require.Equal(t, "evt_"+e.ID.String(), got.ID)
		}
	})
}

func TestBlankingKeepsTheOutlineAndNothingElse(t *testing.T) {
	id := uuid.New()
	b := newBody(bus.Event{ID: id, Topic: proto.ContactTopic, Kind: "contact.merged", At: time.Unix(0, 0),
		Data: []byte(`{"id":"` + id.String() + `","email":"ann@example.com","tags":["vip"]}`), Extra: []byte(`{"merged_id":"` + id.String() + `"}`)}, id)
	text, err := b.text()
	require.NoError(t, err)
	bare, err := blank(text)
	require.NoError(t, err)
	require.JSONEq(t, `{"event":"contact.merged","id":"evt_`+id.String()+`","occurred_at":"1970-01-01T00:00:00Z",
		"data":{"contact":{"id":"`+id.String()+`"},"merged_id":"`+id.String()+`"}}`, bare)
}
