package op

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
)

func TestAnOperationHasOneExample(t *testing.T) {
	s := NewSet("desk", nil, nil)
	s.Examples([]byte(`{"get-stamp": {"path": "/stamps/7"}}`))
	s.Examples([]byte(`{"list-stamps": {"path": "/stamps"}}`))
	require.Len(t, s.Recorded(), 2)
	require.PanicsWithValue(t, "op: two examples of get-stamp", func() { s.Examples([]byte(`{"get-stamp": {}}`)) })
}

type stamp struct {
	Colour string `json:"colour"`
}

type stamped struct {
	stamp
	ID int `json:"id"`
}

// JSON shows the fields of a type that is not exported where another embeds it, and huma leaves them out.
func TestWhatWouldNotBeDescribedStopsTheStart(t *testing.T) {
	const wrong = "op: get-stamps: op.stamped embeds stamp, which is not exported and so would not be described"
	o := Op{ID: "get-stamps", Route: "GET /stamps", Perm: Public, Doc: "Get stamps."}
	require.PanicsWithValue(t, wrong, func() {
		Add(NewSet("desk", nil, nil), o, func(context.Context, *db.Tx, None) (db.List[*stamped], error) { return db.List[*stamped]{}, nil })
	})
	require.PanicsWithValue(t, wrong, func() {
		Add(NewSet("desk", nil, nil), o, func(context.Context, *db.Tx, struct {
			All map[string][]stamped `json:"all"`
		}) (None, error) {
			return None{}, nil
		})
	})
	s := NewSet("desk", nil, nil)
	Add(s, o, func(context.Context, *db.Tx, stamped) (None, error) { return None{}, nil })
	require.Len(t, s.Operations()["GET /stamps"].In, 2, "the input itself is read field by field")
}
