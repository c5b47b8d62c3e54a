package app

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAProgramTakesItsCommandsWithTheirArgumentAndNothingElse(t *testing.T) {
	t.Parallel()
	s := Service{Name: "vault", Commands: map[string]Command{"open": {Takes: "DOOR", Run: func(context.Context, *Kit, string, io.Writer) error { return nil }}}}
	for _, c := range []struct {
		args     []string
		ok, runs bool
	}{
		{nil, true, false}, {[]string{"migrate"}, true, true}, {[]string{"open", "the door"}, true, true},
		{[]string{"open"}, false, false}, {[]string{"open", "a", "b"}, false, false}, {[]string{"migrate", "now"}, false, true}, {[]string{"close", "it"}, false, true},
	} {
		run, ok := commandOf(s, c.args)
		require.Equal(t, c.ok, ok, c.args)
		if ok {
			require.Equal(t, c.runs, run != nil, c.args)
		}
	}
}
