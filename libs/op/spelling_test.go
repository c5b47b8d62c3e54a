package op

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/fault"
)

func TestAWholeNumberIsAnIntegerHoweverItIsWritten(t *testing.T) {
	e := entryOf(t)
	var in everything
	require.NoError(t, e.bind(call([]byte(`{"name":"a","count":5.0,"owner":3e0,"size":12.00,"count2":-0.0,"hours":8.0,"share":2.0,"child":{"word":"5.0","size":7.0},"fields":{"a":1.0}}`)), &in))
	require.Equal(t, 5, in.Count)
	require.EqualValues(t, 3, in.Owner.V)
	require.Equal(t, 12, in.Size.V)
	require.Equal(t, 0, *in.Count2)
	require.Equal(t, 8, in.Hours.V)
	require.InDelta(t, 2, in.Share, 0)
	require.Equal(t, 7, *in.Child.Size)
	require.Equal(t, "5.0", in.Child.Word)
	for _, wrong := range []string{`{"name":"a","count":5.5}`, `{"name":"a","count":"5.0"}`, `{"name":"a","owner":1e300}`, `{"name":"a","child":{"word":"w","size":1e999999999}}`} {
		require.Error(t, e.bind(call([]byte(wrong)), &everything{}), wrong)
	}
	require.Equal(t, `{"a":[9007199254740993,1.5,5]}`, string(wholeNumbers([]byte(`{"a":[9007199254740993,1.5,5.0]}`))), "only what is written otherwise changes")
}

func TestATimeThatCannotBeReadSaysWhatItLacks(t *testing.T) {
	e := entryOf(t)
	for value, hint := range map[string]any{
		"2026-01-02T03:04:05": "zone", "2026-01-02 03:04:05": "zone", "2026-01-02T03:04:05.25": "zone",
		"2026-01-02T03:04:05 01:00": "plus", "2026-01-02 03:04:05+01:00": "separator", "2026-01-02 03:04:05Z": "separator",
		"yesterday": nil, "2026-01-02": nil, "2026-02-30T03:04:05": nil, "0000-01-02T03:04:05Z": nil, "9999-12-31T23:59:59-01:00": nil,
	} {
		f := fault.From(e.bind(call([]byte(`{"name":"a","at":"`+value+`"}`)), &everything{}))
		require.Equal(t, http.StatusBadRequest, f.Status, value)
		var body struct {
			Data struct {
				Params  map[string]string
				Details map[string]map[string]any
			}
		}
		require.NoError(t, json.Unmarshal(f.Body(""), &body))
		require.Equal(t, hint, body.Data.Details["at"]["hint"], value)
		require.Contains(t, body.Data.Params["at"], "RFC 3339", value)
	}
	var in everything
	require.NoError(t, e.bind(call([]byte(`{"name":"a","at":"2026-01-02T03:04:05+01:00"}`)), &in))
	require.True(t, in.At.Equal(time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC)))
}

func TestAnEmptyFilterOfAnAbilityIsNone(t *testing.T) {
	for raw, is := range map[string]bool{`""`: true, `null`: true, `"x"`: false, `0`: false, `false`: false, `[]`: false, `" "`: false} {
		require.Equal(t, is, blank("search", json.RawMessage(raw)), raw)
	}
}

func TestAWeakTagIsTold(t *testing.T) {
	for header, want := range map[string][2][]int64{
		`"7"`: {{7}, nil}, `W/"7"`: {{noVersion}, {7}}, `W/"x", "8"`: {{noVersion, 8}, {noVersion}}, `*`: {nil, nil},
	} {
		seen, weak, p := versions([]string{header})
		require.True(t, p.IsZero())
		require.Equal(t, want, [2][]int64{seen, weak}, header)
	}
}
