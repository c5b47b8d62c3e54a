package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEndpointGetsTheEventsThatItSubscribedAndDidNotNarrowDown(t *testing.T) {
	t.Parallel()
	all := Endpoint{Active: true, Events: []string{"contact.created", "form.submitted"}}
	tagged := Endpoint{Active: true, Events: all.Events, Only: map[string][]string{"tag": {"vip", "press"}}}
	for name, c := range map[string]struct {
		to    Endpoint
		event string
		keys  map[string][]string
		gets  bool
	}{
		"subscribed":               {all, "contact.created", nil, true},
		"another event":            {all, "contact.updated", nil, false},
		"off":                      {Endpoint{Events: all.Events}, "contact.created", nil, false},
		"one of the values":        {tagged, "contact.created", map[string][]string{"tag": {"press", "x"}}, true},
		"no such value":            {tagged, "contact.created", map[string][]string{"tag": {}}, false},
		"a record without the key": {tagged, "form.submitted", map[string][]string{"form": {"3"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.gets, c.to.Gets(c.event, c.keys))
		})
	}
}
