package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestAnEndpointGetsTheEventsThatItSubscribedAndDidNotNarrowDown(t *testing.T) {
	t.Parallel()
	all := Endpoint{Active: true, Events: []string{proto.KindContactCreated, proto.KindFormSubmitted}}
	tagged := Endpoint{Active: true, Events: all.Events, Only: map[string][]string{"tag": {"vip", "press"}}}
	for name, c := range map[string]struct {
		to    Endpoint
		event string
		keys  map[string][]string
		gets  bool
	}{
		"subscribed":               {all, proto.KindContactCreated, nil, true},
		"another event":            {all, proto.KindContactUpdated, nil, false},
		"off":                      {Endpoint{Events: all.Events}, proto.KindContactCreated, nil, false},
		"one of the values":        {tagged, proto.KindContactCreated, map[string][]string{"tag": {"press", "x"}}, true},
		"no such value":            {tagged, proto.KindContactCreated, map[string][]string{"tag": {}}, false},
		"a record without the key": {tagged, proto.KindFormSubmitted, map[string][]string{"form": {"3"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.gets, c.to.Gets(c.event, c.keys))
		})
	}
}
