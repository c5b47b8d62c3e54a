package op

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
)

type everything struct {
	ID     uuid.UUID            `json:"id"`
	Name   string               `json:"name" required:"true" maxLength:"10"`
	Count  int                  `json:"count" minimum:"1" maximum:"9"`
	Share  float64              `json:"share"`
	On     bool                 `json:"on"`
	At     time.Time            `json:"at"`
	Day    string               `json:"day" format:"date"`
	Owner  opt.Value[int64]     `json:"owner,omitzero" nullable:"true" minimum:"1"`
	Group  opt.Value[uuid.UUID] `json:"group,omitzero" nullable:"true"`
	Tags   []string             `json:"tags" maxItems:"3"`
	Fields map[string]any       `json:"fields"`
	Child  *child               `json:"child"`
	Part   opt.Value[child]     `json:"part,omitzero" nullable:"true"`
	Size   opt.Value[int]       `json:"size,omitzero"`
	Whole  opt.Value[child]     `json:"whole,omitzero"`
	Colors opt.Value[string]    `json:"color,omitzero" enum:"red,green" nullable:"true"`
	Count2 *int                 `json:"count2,omitempty"`
	Hours  opt.Value[int]       `json:"hours,omitzero" enum:"1,8"`
	Secret string               `json:"secret" ability:"-"`
}

type child struct {
	Word string            `json:"word" required:"true"`
	More string            `json:"more"`
	Size *int              `json:"size"`
	Any  map[string]any    `json:"any"`
	Note opt.Value[string] `json:"note" nullable:"true"`
	Next []child           `json:"next"`
}

func entryOf(t testing.TB) *Entry {
	t.Helper()
	s := NewSet("desk", nil, auth.New(auth.NewIdentity(bus.New("127.0.0.1:1", bus.Login{}))))
	Add(s, Op{ID: "do-everything", Route: "POST /things/{id}", Perm: Public, Doc: "Everything."},
		func(context.Context, *db.Tx, everything) (None, error) { return None{}, nil })
	return s.ops[0]
}

func call(body []byte) *request {
	r := httptest.NewRequest(http.MethodPost, "/v1/things/x", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.SetPathValue("id", "0197b5f2-8d3e-7c4a-9b1f-2a6c8e4d0f13")
	return &request{http: r, w: httptest.NewRecorder()}
}

func TestEachKindOfFieldIsReadAndChecked(t *testing.T) {
	e := entryOf(t)
	var in everything
	require.NoError(t, e.bind(call([]byte(`{"name":"a","count":3,"share":0.5,"on":true,"at":"2026-01-02T03:04:05+01:00","day":"2026-01-02",
		"owner":null,"group":"0197b5f2-8d3e-7c4a-9b1f-2a6c8e4d0f13","tags":["x"],"fields":{"a":[1]},"child":{"word":"w"}}`)), &in))
	require.Equal(t, "0197b5f2-8d3e-7c4a-9b1f-2a6c8e4d0f13", in.ID.String())
	require.True(t, in.Owner.Null && in.Group.Given() && in.On && in.Child.Word == "w")
	require.NoError(t, e.bind(call([]byte(`{"name":"a","color":null,"part":null,"fields":{"a":null},"child":{"word":"w","note":null,"any":{"a":null}}}`)), &in))
	for body, param := range map[string]string{
		`{"name":"a","id":"x"}`:                         "id",
		`{"name":"a","count":0}`:                        "count",
		`{"name":"a","count":1.5}`:                      "count",
		`{"name":"a","count":"1"}`:                      "count",
		`{"name":"a","on":"true"}`:                      "on",
		`{"name":"a","at":"yesterday"}`:                 "at",
		`{"name":"a","at":"2026-01-02T03:04:05"}`:       "at",
		`{"name":"a","day":"2026-02-30"}`:               "day",
		`{"name":"a","owner":0}`:                        "owner",
		`{"name":"a","owner":1e300}`:                    "owner",
		`{"name":"a","group":"x"}`:                      "group",
		`{"name":"a","tags":["1","2","3","4"]}`:         "tags",
		`{"name":"a","tags":[null]}`:                    "tags[0]",
		`{"name":"a","fields":[]}`:                      "fields",
		`{"name":"a","child":{}}`:                       "child",
		`{"name":"a","child":{"word":"w","x":1}}`:       "child.x",
		`{"name":"a","fields":{"\u0000":1}}`:            "fields",
		`{"name":"12345678901"}`:                        "name",
		`{"name":null}`:                                 "name",
		`{"name":"a","size":null}`:                      "size",
		`{"name":"a","whole":null}`:                     "whole",
		`{"name":"a","count2":null}`:                    "count2",
		`{"name":"a","child":null}`:                     "child",
		`{"name":"a","tags":null}`:                      "tags",
		`{"name":"a","fields":null}`:                    "fields",
		`{"name":"a","child":{"word":null}}`:            "child.word",
		`{"name":"a","child":{"word":"w","more":null}}`: "child.more",
		`{"name":"a","child":{"word":"w","size":null}}`: "child.size",
		`{"name":"a","part":{"word":"w","size":null}}`:  "part.size",
		`{"name":"a","child":{"word":"w","any":null}}`:  "child.any",
		`{"name":"a","child":{"word":"w","next":[{"word":"w"},{"word":"w","next":[null]}]}}`: "child.next[1].next[0]",
		`{"name":"a","color":"blue"}`: "color",
		`{"NAME":"a"}`:                "NAME",
	} {
		err := e.bind(call([]byte(body)), &everything{})
		require.Error(t, err, body)
		require.Contains(t, fault.From(err).Data["params"], param, body)
	}
}

func TestAValueOutsideItsListSaysWhatIsAllowed(t *testing.T) {
	e := entryOf(t)
	for body, text := range map[string]string{
		`{"name":"a","color":"blue"}`: "must be one of red, green",
		`{"name":"a","hours":2}`:      "must be one of 1, 8",
		`{"name":"a","hours":"8"}`:    "must be integer",
	} {
		t.Run(body, func(t *testing.T) {
			params := fault.From(e.bind(call([]byte(body)), &everything{})).Data["params"].(map[string]string)
			require.Len(t, params, 1)
			for _, said := range params {
				require.Equal(t, text, said)
			}
		})
	}
}

func TestAnAgentDoesNotKnowWhatIsForPeople(t *testing.T) {
	e := entryOf(t)
	args := map[string]json.RawMessage{"id": json.RawMessage(`"0197b5f2-8d3e-7c4a-9b1f-2a6c8e4d0f13"`), "name": json.RawMessage(`"a"`), "secret": json.RawMessage(`"x"`)}
	require.NoError(t, e.bind(&request{args: args}, &everything{}))
	require.Error(t, e.bind(&request{args: args, asAbility: true}, &everything{}))
}

// FuzzBind feeds bodies of any kind: each is read, or refused with a fault that is the caller's.
func FuzzBind(f *testing.F) {
	for _, seed := range []string{`{"name":"a"}`, `{"name":null}`, `{"name":"a","child":{"word":""}}`, `[]`, `{"fields":{"a":{"b":[1,2]}}}`, `{"name":"\ud800"}`, `{"owner":1e999}`, `{"at":"0000-00-00T00:00:00Z"}`} {
		f.Add([]byte(seed))
	}
	e := entryOf(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		var in everything
		r := call(body)
		if err := e.bind(r, &in); err != nil {
			if status := fault.From(err).Status; status < 400 || status > 499 {
				t.Fatalf("%d: %v", status, err)
			}
			return
		}
		if in.Name == "" && !bytes.Contains(body, []byte(`"name"`)) {
			t.Fatalf("read %q as %+v", body, in)
		}
	})
}

// FuzzMembers compares with json.Unmarshal, which is slower.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "a" : 1 , "b":[1, {"a":2}]}` + "\n", `{"a":"\u00e9\n\"","a":null}`, `{"\u0061\ud83d\ude00\t":-1e5}`, `[{"a":1}]`, `null`, `"a"`, ``, `{"a":1}{`, `{"":{}}`, `{"a.b":1,"*":2,"@x":3}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) || surrogate.Match(text) {
			return // is refused or mended before
		}
		var want map[string]json.RawMessage
		object := json.Unmarshal(text, &want) == nil && want != nil
		got := map[string]json.RawMessage{}
		require.Equal(t, object, members(text, got))
		if object {
			require.Equal(t, want, got)
		}
	})
}

func TestAnObjectThatMayBeNullIsCheckedAllTheSame(t *testing.T) {
	e := entryOf(t)
	for body, params := range map[string]map[string]string{
		`{"name": "x", "part": {"word": "y"}}`:             nil,
		`{"name": "x", "part": null}`:                      nil,
		`{"name": "x", "part": {"word": "y", "extra": 1}}`: {"part.extra": "is not known here"},
		`{"name": "x", "part": {}}`:                        {"part.word": "needs word to be present"},
		`{"name": "x", "part": 5}`:                         {"part": "must be object"},
	} {
		var in everything
		err := e.bind(call([]byte(body)), &in)
		if params == nil {
			require.NoError(t, err, body)
			continue
		}
		require.Error(t, err, body)
		require.Len(t, fault.From(err).Data["params"], len(params), body)
	}
}

type rows struct {
	Items []Row[child] `json:"items" required:"true" minItems:"1" maxItems:"3"`
}

func TestARowIsCheckedByItselfAsABodyIs(t *testing.T) {
	s := NewSet("desk", nil, nil)
	Add(s, Op{ID: "do-many", Route: "POST /things/batch", Perm: Public, Doc: "Many."}, func(context.Context, *db.Tx, rows) (None, error) { return None{}, nil })
	bind := func(text string) (in rows, err error) {
		args := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal([]byte(text), &args))
		err = s.ops[0].bind(&request{args: args}, &in)
		return in, err
	}
	in, err := bind(`{"items":[{"word":"a","next":[{"word":"b"}]},{"more":7,"strange":1},{"word":"a\u0000"}]}`)
	require.NoError(t, err)
	require.NoError(t, in.Items[0].Err)
	require.Equal(t, "b", in.Items[0].In.Next[0].Word)
	require.Equal(t, []string{"more", "strange", "word"}, slices.Sorted(maps.Keys(fault.From(in.Items[1].Err).Data["params"].(map[string]string))))
	require.Equal(t, "svc_invalid_param", fault.From(in.Items[2].Err).Code)
	require.Zero(t, in.Items[2].In)
	for _, whole := range []string{`{}`, `{"items":null}`, `{"items":[]}`, `{"items":{}}`, `{"items":[{},{},{},{}]}`} {
		_, err := bind(whole)
		require.Equal(t, "svc_invalid_param", fault.From(err).Code, whole)
	}
}

// BenchmarkBind is what a request costs between its bytes and the input of its operation.
func BenchmarkBind(b *testing.B) {
	e := entryOf(b)
	body := []byte(`{"name":"Grace","count":3,"share":0.5,"on":true,"at":"2026-01-02T03:04:05+01:00","day":"2026-01-02","owner":7,
		"group":"0197b5f2-8d3e-7c4a-9b1f-2a6c8e4d0f13","tags":["one","two"],"fields":{"a":[1],"b":"text"},"child":{"word":"w","more":"words"}}`)
	reader := bytes.NewReader(body)
	r := call(nil)
	r.http.ContentLength = int64(len(body))
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		r.http.Body = io.NopCloser(reader)
		if err := e.bind(r, &everything{}); err != nil {
			b.Fatal(err)
		}
	}
}
