package chaos

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

var soak = flag.Duration("soak", 0, "how long the soak takes; 0 is five minutes with -full")

// grows says by how much a figure of a process may differ between the first and the last third of a soak: relatively, and absolutely.
var grows = map[string]struct{ factor, more float64 }{
	"process_resident_memory_bytes": {1.2, 24 << 20},
	"go_goroutines":                 {1.1, 10},
	"process_open_fds":              {1.1, 10},
	"connections":                   {1, 3},
}

// Figures of processes at work do not climb. What is kept per contact in memory and on disk grows with the contacts and is far below
// the margins.
func TestNothingClimbsInASoak(t *testing.T) {
	long := *soak
	if long == 0 {
		long = lasts(5*time.Minute, 40*time.Second)
	}
	w := start(t)
	l := w.Load(t, 4, 8)
	time.Sleep(min(long/5, time.Minute)) // pools and caches fill
	type of struct{ process, figure string }
	figures := map[of][]float64{}
	for until := time.Now().Add(long); time.Now().Before(until); time.Sleep(min(5*time.Second, long/30)) {
		for _, process := range append([]string{"gateway"}, system.Services...) {
			for figure, value := range w.metrics(t, process) {
				if _, ok := grows[figure]; ok {
					figures[of{process, figure}] = append(figures[of{process, figure}], value)
				}
			}
		}
		for service, n := range w.counts(t, `select application_name, count(*) from pg_stat_activity where application_name = any($1) group by 1`, system.Services) {
			figures[of{service, "connections"}] = append(figures[of{service, "connections"}], float64(n))
		}
	}
	require.GreaterOrEqual(t, len(figures), len(system.Services)*len(grows), "a figure is missing")
	var largest float64
	byProcess := slices.SortedFunc(maps.Keys(figures), func(a, b of) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.figure, b.figure))
	})
	for _, f := range byProcess {
		all := figures[f]
		third := len(all) / 3
		first, last := median(all[:third]), median(all[len(all)-third:])
		t.Logf("%-10s %-30s %14.0f then %14.0f", f.process, f.figure, first, last)
		assert.LessOrEqual(t, last, first*grows[f.figure].factor+grows[f.figure].more, "%s of %s climbs", f.figure, f.process)
		if f.figure == "process_resident_memory_bytes" {
			largest = max(largest, last-first)
		}
	}
	took := w.Recovered(t, time.Minute)
	l.about += fmt.Sprintf(" for %s, the process that grew most by %.0f MiB", long, largest/(1<<20))
	w.Report(t, "none, a soak", l, took)
}

func median(all []float64) float64 {
	return slices.SortedFunc(slices.Values(all), cmp.Compare)[len(all)/2]
}

// metrics are the figures of a process that have no labels.
func (w *world) metrics(t *testing.T, process string) map[string]float64 {
	t.Helper()
	res, err := http.Get(w.System.Now(t).Processes[process].Admin + "/metrics")
	require.NoError(t, err)
	defer res.Body.Close()
	all := map[string]float64{}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			all[name] = n
		}
	}
	return all
}
