package op

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
)

func TestALimitCountsForAnAddressOrForANetworkOfIPv6(t *testing.T) {
	t.Parallel()
	limits := []db.Limit{{N: 10, Per: time.Minute}}
	for address, want := range map[string][]db.Bucket{
		"192.0.2.7":           {{Key: "book/192.0.2.7", Limit: limits[0]}},
		"2001:db8:1:2:3::4":   {{Key: "book/2001:db8:1::/48", Limit: db.Limit{N: 200, Per: time.Minute}}, {Key: "book/2001:db8:1:2::/64", Limit: limits[0]}},
		"2001:db8:1:2:ffff::": {{Key: "book/2001:db8:1::/48", Limit: db.Limit{N: 200, Per: time.Minute}}, {Key: "book/2001:db8:1:2::/64", Limit: limits[0]}},
		"fe80::1%eth0":        {{Key: "book/fe80::/48", Limit: db.Limit{N: 200, Per: time.Minute}}, {Key: "book/fe80::/64", Limit: limits[0]}},
		"::ffff:192.0.2.7":    {{Key: "book/::ffff:192.0.2.7", Limit: limits[0]}},
		"":                    {{Key: "book/", Limit: limits[0]}},
	} {
		require.Equal(t, want, Buckets("book", address, limits), address)
	}
}
