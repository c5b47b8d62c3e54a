package apptest

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/op"
	"frontdesk/libs/openapi"
	"frontdesk/proto"
)

// sample is an event as proto/samples keeps it: what a producer really sent, for the tests of those who
// take it in.
type sample struct {
	Kind    string          `json:"kind"`
	Key     string          `json:"record_id"`
	Version int64           `json:"version"`
	Changed []string        `json:"changed,omitempty"`
	Channel string          `json:"channel"`
	Label   string          `json:"label,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Extra   json.RawMessage `json:"extra,omitempty"`
}

// protoFile looks for proto above the test's folder: a binary built with -trimpath does not know where its sources are.
func protoFile(t testing.TB, name string) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			break
		}
	}
	return filepath.Join(dir, "proto", name)
}

// Sample holds the events that the service has sent to topic against proto/samples: of each kind, one of them
// has the names of the sample. With UPDATE_SAMPLES=1 it writes those that are like no event.
func (s *Service) Sample(topic string) {
	s.t.Helper()
	// The partitions of a topic are read one after the other, so the order of several records' events is by chance.
	sent := map[string][]sample{}
	for _, e := range s.Events(topic) {
		if e.GetKind() == "tombstone" {
			continue
		}
		got := sample{Kind: e.GetKind(), Key: e.GetRecordId(), Version: e.GetVersion(), Changed: e.GetChanged(),
			Channel: e.GetActor().GetChannel(), Label: e.GetActor().GetLabel(), Data: e.GetData(), Extra: e.GetExtra()}
		if msg := proto.CommandOf(e.GetKind()); msg != nil {
			require.NoError(s.t, protobuf.Unmarshal(e.GetData(), msg))
			raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(msg)
			require.NoError(s.t, err)
			got.Data = raw
		}
		sent[got.Kind] = append(sent[got.Kind], got)
	}
	require.NotEmpty(s.t, sent, "nothing was sent to %s", topic)
	for kind, all := range sent {
		path := protoFile(s.t, "samples/"+topic+"/"+kind+".json")
		var want sample
		raw, err := os.ReadFile(path)
		if err == nil {
			require.NoError(s.t, json.Unmarshal(raw, &want))
		}
		var shapes [][]string
		for _, e := range all {
			shapes = append(shapes, e.shape(s.t))
		}
		like := slices.ContainsFunc(shapes, func(names []string) bool { return slices.Equal(names, want.shape(s.t)) })
		switch {
		case err == nil && like:
		case os.Getenv("UPDATE_SAMPLES") != "":
			raw, err := json.MarshalIndent(all[0], "", "  ")
			require.NoError(s.t, err)
			require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(s.t, os.WriteFile(path, append(raw, '\n'), 0o644))
		default:
			require.NoError(s.t, err, "no sample yet: run the test with UPDATE_SAMPLES=1")
			require.Contains(s.t, shapes, want.shape(s.t), "the sample of %s is not what is sent any more", kind)
		}
	}
}

// shape is the sorted names in the event's data and extra, at any depth but not inside arrays.
func (e sample) shape(t testing.TB) []string {
	t.Helper()
	var names []string
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		for k, x := range m {
			names = append(names, prefix+k)
			if k != "fields" && k != "values" {
				walk(prefix+k+".", x)
			}
		}
	}
	for part, raw := range map[string]json.RawMessage{"data.": e.Data, "extra.": e.Extra} {
		if len(raw) == 0 {
			continue
		}
		var v any
		require.NoError(t, json.Unmarshal(raw, &v))
		walk(part, v)
	}
	slices.Sort(names)
	return names
}

// SendSample sends the sample "topic/kind" as its producer would. change may adapt it first; its Data is
// the sample's JSON as a map, or the command's message.
func (s *Service) SendSample(name string, change func(e *Event)) {
	s.t.Helper()
	raw, err := os.ReadFile(protoFile(s.t, "samples/"+name+".json"))
	require.NoError(s.t, err)
	var have sample
	require.NoError(s.t, json.Unmarshal(raw, &have))
	e := Event{Topic: filepath.Dir(name), Kind: have.Kind, Key: have.Key, Version: have.Version, Changed: have.Changed,
		Actor: &proto.Actor{Channel: have.Channel, Label: have.Label}}
	if msg := proto.CommandOf(have.Kind); msg != nil {
		require.NoError(s.t, protojson.Unmarshal(have.Data, msg))
		e.Data = msg
	} else {
		data := map[string]any{}
		require.NoError(s.t, json.Unmarshal(have.Data, &data))
		e.Data = data
	}
	if have.Extra != nil {
		extra := map[string]any{}
		require.NoError(s.t, json.Unmarshal(have.Extra, &extra))
		e.Extra = extra
	}
	if change != nil {
		change(&e)
	}
	s.Send(e)
}

// CheckOperations holds a service's operations against proto/operations.json. Operations beyond the
// list, such as signing in, are the service's own affair. missing are routes that are still to come.
func CheckOperations(t testing.TB, set *op.Set, missing ...string) {
	t.Helper()
	have := set.Operations()
	used := map[string]bool{}
	for _, o := range have {
		used[o.AbilityName()] = used[o.AbilityName()] || strings.HasSuffix(o.Use, ".")
	}
	for name, ok := range used {
		require.True(t, ok || name == "", "%s: Use says when to use it, what it answers with and what cannot be undone", name)
	}
	m, err := openapi.Manifest(set)
	require.NoError(t, err)
	for _, r := range m.GetRoutes() {
		require.NoError(t, proto.MayRoute(set.Service, r.GetMethod(), r.GetPath()), "the gateway takes it")
	}
	for _, want := range operations(t) {
		if want.Service != set.Service {
			continue
		}
		route := want.Method + " " + want.Path
		o, ok := have[route]
		if slices.Contains(missing, route) {
			require.False(t, ok, "%s is not missing", route)
			continue
		}
		require.True(t, ok, "%s is not declared", route)
		require.Equal(t, want.App, o.App, "%s: app", route)
		if want.Permission != "" || want.Public {
			require.Equal(t, cmp.Or(want.Permission, op.Public), o.Perm, "%s: permission", route)
		}
		require.Equal(t, want.PersonOnly, o.PersonOnly, "%s: person only", route)
		require.Equal(t, want.Ability, o.AbilityName(), "%s: ability", route)
		if want.AssistantDefault != nil {
			require.Equal(t, *want.AssistantDefault, !o.Hidden, "%s: shown to assistants", route)
		}
		require.ElementsMatch(t, want.Success, o.Statuses(), "%s: success", route)
	}
}
