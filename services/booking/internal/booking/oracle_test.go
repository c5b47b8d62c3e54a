package booking

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/services/booking/internal/busy"
)

// oracleCase is a calendar with what other libraries read in it, see deploy/calendars.
type oracleCase struct {
	Name, File, Zone, Address string
	From, To                  time.Time
	Busy                      [][2]int64
}

// Some cases are kept; make calendars writes thousands, and names their file in CALENDARS.
func TestOtherLibrariesReadTheSameTimes(t *testing.T) {
	name := os.Getenv("CALENDARS")
	if name == "" {
		name = "../busy/testdata/cases.jsonl"
	}
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	cases, taken := 0, 0
	for lines := bufio.NewReader(file); ; cases++ {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var c oracleCase
		require.NoError(t, json.Unmarshal(text, &c))
		zone, err := time.LoadLocation(c.Zone)
		require.NoError(t, err)
		read, err := busy.Read([]byte(c.File), busy.Options{Zone: zone, From: c.From, To: c.To, Addresses: []string{c.Address},
			Own: func(uid string) bool { return strings.HasSuffix(uid, "@frontdesk") }, Within: time.Minute})
		require.NoError(t, err, c.Name)
		require.Equal(t, []busy.Problem(nil), read.Problems, "%s\n%s", c.Name, c.File)
		found := secondsOf(read)
		require.GreaterOrEqual(t, read.Events, len(found))
		taken += len(found)
		assert.Equal(t, stamps(c.Busy), stamps(found), "%s, business in %s, %s to %s\n%s", c.Name, c.Zone, c.From, c.To, c.File)
	}
	require.Positive(t, cases)
	require.Greater(t, taken, cases)
	t.Logf("%d calendars with %d times", cases, taken)
}

func secondsOf(read busy.Calendar) (all [][2]int64) {
	each := func(s busy.Span) { all = append(all, [2]int64{s.Start.Unix(), s.End.Unix()}) }
	for _, s := range read.Busy {
		each(s)
	}
	return all
}

func stamps(all [][2]int64) (out []string) {
	for _, s := range all {
		out = append(out, time.Unix(s[0], 0).UTC().Format(time.RFC3339)+" "+time.Unix(s[1], 0).UTC().Format(time.RFC3339))
	}
	return out
}
