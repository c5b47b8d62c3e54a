package bus

import (
	"testing"

	"frontdesk/libs/relay"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestWhereReadingGoesOn(t *testing.T) {
	read := stand{next: 10, anchor: uuid.New()}
	for _, c := range []struct {
		name           string
		at             stand
		log            relay.Bounds
		lost           string
		absent, copies bool
		want           turn
	}{
		{name: "the log has more", at: read, log: relay.Bounds{End: 20}, want: onward},
		{name: "nothing is new", at: read, log: relay.Bounds{End: 10}, want: onward},
		{name: "the service is new", at: stand{next: 5}, log: relay.Bounds{First: 5, End: 20}, want: onward},
		{name: "it was made anew", at: read, log: relay.Bounds{End: 20}, lost: "another message", want: anew},
		{name: "it was made anew while the service was away", at: read, log: relay.Bounds{End: 20}, lost: "another message", absent: true, copies: true, want: anew},
		{name: "the service was away and has a copy", at: read, log: relay.Bounds{End: 20}, absent: true, copies: true, want: compared},
		{name: "the service was away and has no copy", at: read, log: relay.Bounds{End: 20}, absent: true, want: onward},
		{name: "it dropped some", at: read, log: relay.Bounds{First: 12, End: 20}, want: behindGap},
		{name: "it dropped some while the service was away", at: read, log: relay.Bounds{First: 12, End: 20}, absent: true, want: behindGap},
	} {
		require.Equal(t, c.want, turnOf(c.at, c.log, c.lost, c.absent, c.copies), c.name)
	}
}
