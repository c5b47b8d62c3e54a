package message

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/webhook"
)

func TestAnEventSaysWhatNarrowsItDown(t *testing.T) {
	t.Parallel()
	for _, e := range events {
		b := exampleOf(e.Event)
		keys, err := webhook.KeysOf(b.data)
		require.NoError(t, err)
		require.ElementsMatch(t, e.Only, slices.Collect(maps.Keys(keys)), e.Event)
		require.Equal(t, e.Record, b.key)
	}
}

func TestTagsAreComparedAsContactsCompareThem(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Best Clients", " best  clients ", "BEST-CLIENTS", "best_clients", "Best - Clients"},
		{"Café", "cafe", "CAFE\u0301"},
		{"a b c", "a-b-c"},
		{"Straße", "strasse"},
		{"A+"}, {"A-"}, {"A"}, {"-a"}, {"a - +"}, {"🎉"}, {"日本"},
	} {
		for _, name := range same {
			require.Equal(t, webhook.TagKey(same[0]), webhook.TagKey(name), name)
		}
	}
	require.NotEqual(t, webhook.TagKey("A+"), webhook.TagKey("A-"))
	require.NotEqual(t, webhook.TagKey("A"), webhook.TagKey("A-"))
}

func TestARecordThatHasNoServiceOrTagIsKeptOutByOne(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]map[string][]string{
		`{"service":{"id":"0197e3f0-0000-7000-8000-000000000000"},"contact":{}}`: {"service": {"0197e3f0-0000-7000-8000-000000000000"}},
		`{"service":null,"form":{"id":3},"tags":["VIP"]}`:                        {"service": {""}, "form": {"3"}, "tag": {"vip"}},
		`{"tags":[]}`: {"tag": {}},
		`{"id":1}`:    {},
	} {
		keys, err := webhook.KeysOf([]byte(record))
		require.NoError(t, err)
		require.Equal(t, want, keys, record)
	}
}
