package contact

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/change"
)

func TestANewContactIsALeadAndHasAllThatItWasGiven(t *testing.T) {
	now := time.Now()
	c := MadeAt(Contact{FirstName: "An", Fields: map[string]any{"a": "b", "c": nil}}, now)
	require.Equal(t, statusLead, c.Status)
	require.Equal(t, map[string]any{"a": "b"}, c.Fields)
	require.Equal(t, change.Set{"first_name": {New: "An"}, "fields.a": {New: "b"}}, Creation(c))
	require.Equal(t, statusInactive, MadeAt(Contact{Status: statusInactive}, now).Status)
}
