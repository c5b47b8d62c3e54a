// Package until lets tests wait for a condition.
package until

import (
	"fmt"
	"testing"
	"time"
)

// Holds returns once ok returns true, which it asks every so often, see Pause. It ends the test if that is not so in time; what is a format and its
// arguments. It calls ok on the goroutine of its caller, where ok may require something itself: testify's Eventually calls it on another one, which then ends
// without an answer.
func Holds(t testing.TB, ok func() bool, within, every time.Duration, what ...any) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(Pause(began, every)) {
		if time.Since(began) < within {
			continue
		}
		why := ""
		if len(what) > 0 {
			why = fmt.Sprintf(": "+fmt.Sprint(what[0]), what[1:]...)
		}
		t.Fatalf("the condition does not hold after %s%s", within, why)
	}
}

// Pause is how long to wait until the next look by who began to wait then: every, or a tenth of the wait so far. Looking two hundred times a second for
// as long as something takes ten seconds is most of the work of a test.
func Pause(began time.Time, every time.Duration) time.Duration {
	return max(every, time.Since(began)/10)
}
