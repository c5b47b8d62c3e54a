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
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		next := now
		j := Job{Status: statusQueued, Next: &next}
		scheduledFailures := 0
		for range rapid.IntRange(1, 30).Draw(t, "attempts") {
			waiting := j.Status == statusQueued || j.Status == statusRetrying
			r := Result{Job: j, Ended: now}
			r.Resent = rapid.Bool().Draw(t, "resent") || !waiting
			if !rapid.Bool().Draw(t, "ok") {
				r.Reason, r.Unsigned = "no", rapid.IntRange(0, 5).Draw(t, "unsigned") == 0
			}
			row := r.settled()
			require.Equal(t, j.Status, row.Was)
			switch {
			case r.OK():
				require.Equal(t, statusDelivered, row.Status)
				require.Nil(t, row.Next)
				require.Equal(t, now, *row.Delivered)
			case r.Resent, r.Unsigned:
				require.Equal(t, j.Status, row.Status)
				require.Equal(t, j.Failed, row.Failed)
				require.Equal(t, j.Next, row.Next)
			default:
				scheduledFailures++
				require.Equal(t, scheduledFailures, row.Failed)
				require.Equal(t, row.Failed == signature.MaxAttempts, row.Status == statusFailed)
				require.Equal(t, row.Status == statusFailed, row.Next == nil)
				if row.Next != nil {
					require.True(t, row.Next.After(now))
				}
			}
			j.Status, j.Failed, j.Next = row.Status, row.Failed, row.Next
			now = now.Add(time.Duration(rapid.IntRange(0, 100_000).Draw(t, "seconds")) * time.Second)
		}
	})
}

func TestAPauseBeginsWithTheTwentiethFailureInARow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Streak{}
		row := 0
		for range rapid.IntRange(1, 80).Draw(t, "attempts") {
			ok := rapid.IntRange(0, 15).Draw(t, "luck") == 0
			s.Count(map[bool]Outcome{true: Succeeded, false: Failed}[ok])
			if row++; ok {
				row = 0
			}
			if row == signature.PauseAfter {
				require.Equal(t, pausedFailures, *s.paused)
				require.Equal(t, pausedFailures, s.begun)
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
			e := bus.Event{ID: uuid.New(), Topic: topic, Kind: proto.KindContactUpdated, At: time.Now(), Changed: strings.Split(changed, ","), Data: []byte(data),
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
			text, err := b.Text()
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
	t.Parallel()
	id := uuid.New()
	b, err := newBody(bus.Event{ID: id, Topic: proto.ContactTopic, Kind: proto.KindContactMerged, At: time.Unix(0, 0),
		Data: []byte(`{"id":"` + id.String() + `","email":"ann@example.com","tags":["vip"]}`), Extra: []byte(`{"merged_id":"` + id.String() + `"}`)}, id)
	require.NoError(t, err)
	text, err := b.Text()
	require.NoError(t, err)
	bare, err := blank(text)
	require.NoError(t, err)
	require.JSONEq(t, `{"event":"contact.merged","id":"evt_`+id.String()+`","occurred_at":"1970-01-01T00:00:00Z",
		"data":{"contact":{"id":"`+id.String()+`"},"merged_id":"`+id.String()+`"}}`, bare)
}
