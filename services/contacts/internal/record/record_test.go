package record

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/change"
)

// thing has a field of every kind.
type thing struct {
	Name, Place, State string
	Owner              *int64
	Tags               []string
	More               map[string]any
}

var fields = Fields[thing]{
	Text("name", func(t *thing) *string { return &t.Name }),
	Text("place", func(t *thing) *string { return &t.Place }),
	Managed("state", func(t *thing) *string { return &t.State }),
	User("owner", func(t *thing) **int64 { return &t.Owner }),
	Words("tags", func(t *thing) *[]string { return &t.Tags }),
	Values("more", func(t *thing) *map[string]any { return &t.More }),
}

func drawThing(t *rapid.T, name string, clears bool) thing {
	text := rapid.SampledFrom([]string{"", "a", "b"})
	values := []any{"x", "y", 1.0, true, []any{"x"}}
	if clears {
		values = append(values, nil)
	}
	r := thing{Name: text.Draw(t, name+" name"), Place: text.Draw(t, name+" place"), State: text.Draw(t, name+" state"),
		Tags: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"one", "two", "three"}), 0, 3, rapid.ID).Draw(t, name+" tags"),
		More: rapid.MapOfN(rapid.SampledFrom([]string{"k", "l", "m"}), rapid.SampledFrom(values), 0, 3).Draw(t, name+" more")}
	if owner := rapid.Int64Range(0, 2).Draw(t, name+" owner"); owner != 0 {
		r.Owner = &owner
	}
	return r
}

func TestFillingTakesNothingAwayAndLeavesNothingEmptyThatTheOtherHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, from := drawThing(t, "record", false), drawThing(t, "other", true)
		before, _ := json.Marshal([]thing{r, from})
		out := fields.Fill(r, from)
		require.Empty(t, fields.Lost(out, r), "a value of the record is gone")
		require.Equal(t, r.State, out.State, "nobody fills what the service manages")
		for name := range fields.Filled(from) {
			if name != "more" || len(withoutNil(from.More)) > 0 {
				require.True(t, fields.Filled(out)[name], name)
			}
		}
		require.Subset(t, out.Tags, from.Tags)
		require.Equal(t, out, fields.Fill(out, from), "filling twice is filling once")
		after, _ := json.Marshal([]thing{r, from})
		require.JSONEq(t, string(before), string(after), "the arguments changed")
	})
}

func TestOverwritingTakesTheGivenFieldsAndNoOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, from := drawThing(t, "record", false), drawThing(t, "other", true)
		given := Names{}
		for _, name := range rapid.SliceOf(rapid.SampledFrom([]string{"name", "place", "state", "owner", "tags", "more"})).Draw(t, "given") {
			given[name] = true
		}
		out := fields.Overwrite(r, from, given)
		for _, name := range fields.Diff(r, out).Names() {
			require.True(t, given[name] && name != "state", name)
		}
		for field, change := range fields.Diff(out, from) {
			name, key, _ := strings.Cut(field, ".")
			if given[name] && name != "state" {
				require.Nil(t, change.New, "%s is not that of the other record", field)
				_, cleared := from.More[key]
				require.True(t, name == "more" && (!cleared || out.More[key] == nil), field)
			}
		}
		for _, v := range out.More {
			require.True(t, !given["more"] || v != nil)
		}
		require.Equal(t, out, fields.Overwrite(out, from, given), "overwriting twice is overwriting once")
	})
}

func TestADiffIsEmptyForTheSameAndSaysBothSidesOtherwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawThing(t, "one", false), drawThing(t, "other", false)
		require.Empty(t, fields.Diff(a, a))
		there, back := fields.Diff(a, b), fields.Diff(b, a)
		require.Equal(t, slices.Sorted(maps.Keys(there)), slices.Sorted(maps.Keys(back)))
		for name, c := range there {
			require.Equal(t, change.Change{Old: c.New, New: c.Old}, back[name])
			require.Equal(t, change.Change{New: c.New}, there.Created()[name])
		}
		for name := range fields.Lost(a, b) {
			require.Contains(t, there, name)
		}
	})
}

func TestLostIsWhatOnlyTheOtherRecordSays(t *testing.T) {
	one, two := int64(1), int64(2)
	a := thing{Name: "a", Owner: &one, Tags: []string{"x"}, More: map[string]any{"k": "v", "l": "same"}}
	b := thing{Name: "b", Place: "p", Owner: &two, Tags: []string{"y"}, More: map[string]any{"k": "w", "l": "same", "m": 1.0}}
	merged := fields.Fill(a, b)
	require.Equal(t, thing{Name: "a", Place: "p", Owner: &one, Tags: []string{"x", "y"}, More: map[string]any{"k": "v", "l": "same", "m": 1.0}}, merged)
	require.Equal(t, map[string]any{"name": "b", "owner": two, "more.k": "w"}, fields.Lost(merged, b))
	require.Equal(t, []string{"more", "name", "owner"}, fields.Diff(b, thing{Place: "p", Tags: []string{"y"}}).Names())
}
