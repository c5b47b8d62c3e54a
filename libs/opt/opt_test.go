package opt

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

type patch struct {
	Name  Value[string] `json:"name,omitzero"`
	Count Value[int]    `json:"count,omitzero"`
}

func TestAbsentNullAndValueAreThreeThings(t *testing.T) {
	var p patch
	require.NoError(t, json.Unmarshal([]byte(`{"name":null}`), &p))
	require.True(t, p.Name.Set && p.Name.Null && !p.Name.Given())
	require.False(t, p.Count.Set)
	require.NoError(t, json.Unmarshal([]byte(`{"name":"x","count":0}`), &p))
	require.Equal(t, Of("x"), p.Name)
	require.True(t, p.Count.Given())
	require.Error(t, json.Unmarshal([]byte(`{"count":"x"}`), &p))
	for _, text := range []string{`{}`, `{"name":null}`, `{"name":"x","count":3}`} {
		var p patch
		require.NoError(t, json.Unmarshal([]byte(text), &p))
		out, err := json.Marshal(p)
		require.NoError(t, err)
		require.JSONEq(t, text, string(out))
	}
}

func TestApplyChangesOnlyWhatWasGiven(t *testing.T) {
	name := "old"
	pointer := &name
	Value[string]{}.Apply(&name)
	require.Equal(t, "old", name)
	Value[string]{Set: true, Null: true}.ApplyPtr(&pointer)
	require.Nil(t, pointer)
	Of("new").ApplyPtr(&pointer)
	require.Equal(t, "new", *pointer)
	require.Equal(t, "else", Value[string]{Set: true, Null: true}.Or("else"))
}
