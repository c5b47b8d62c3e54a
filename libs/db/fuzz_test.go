package db

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/fault"
)

// FuzzCursor gives a list any text as its cursor, signs any position for it, and breaks what was signed.
func FuzzCursor(f *testing.F) {
	f.Add("", int64(0), uint64(0), int64(0), 0)
	f.Add("AAAA", int64(1_700_000_000_000_000), uint64(12), int64(1_700_000_000), 3)
	f.Add("____________________________________________________", int64(-1), uint64(1<<40), int64(0), 70)
	tx := &Tx{Who: Actor{UserID: 7, Own: true}, secret: []byte("a secret")}
	f.Fuzz(func(t *testing.T, text string, at int64, total uint64, until int64, broken int) {
		refused := func(err error) {
			if err != nil {
				require.Equal(t, http.StatusBadRequest, fault.From(err).Status)
				require.Equal(t, "svc_invalid_cursor", fault.From(err).Code)
			}
		}
		if text != "" {
			_, err := tx.Page(Page{Cursor: text}, "things", map[string]any{"a": 1})
			require.Error(t, err, "nobody signed it")
			refused(err)
		}
		first, err := tx.Page(Page{}, "things", map[string]any{"a": 1})
		require.NoError(t, err)
		first.Total = int64(total >> 1)
		if until > 0 {
			first.Until = time.Unix(until, 0).UTC()
		}
		last := Place{time.UnixMicro(at).UTC(), text, uuid.NewSHA1(uuid.Nil, []byte(text))}
		signed := first.Next(last)
		next, err := tx.Page(Page{Cursor: signed}, "things", map[string]any{"a": 1})
		require.NoError(t, err)
		require.Equal(t, []any{last, first.Total, first.Until, false}, []any{next.Place, next.Total, next.Until, next.First})

		for _, other := range []struct {
			list string
			in   map[string]any
		}{{"others", map[string]any{"a": 1}}, {"things", map[string]any{"a": 2}}} {
			_, err := tx.Page(Page{Cursor: signed}, other.list, other.in)
			require.Error(t, err, "it belongs to another list")
			refused(err)
		}
		raw, err := base64.RawURLEncoding.DecodeString(signed)
		require.NoError(t, err)
		raw[(broken%len(raw)+len(raw))%len(raw)] ^= 1
		_, err = tx.Page(Page{Cursor: base64.RawURLEncoding.EncodeToString(raw)}, "things", map[string]any{"a": 1})
		require.Error(t, err, "a bit was changed")
	})
}
