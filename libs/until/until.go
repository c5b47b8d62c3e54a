// Package until lets tests wait for a condition.
package until

import (
	"fmt"
	"testing"
	"time"
)

// Holds returns once ok returns true. It ends the test if that is not so in time; what is a format and its arguments. It calls ok on
// the goroutine of its caller, where ok may require something itself: testify's Eventually calls it on another one, which then ends
// without an answer.
func Holds(t testing.TB, ok func() bool, within, every time.Duration, what ...any) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(every) {
		if time.Now().Before(end) {
			continue
		}
		why := ""
		if len(what) > 0 {
			why = fmt.Sprintf(": "+fmt.Sprint(what[0]), what[1:]...)
		}
		t.Fatalf("the condition does not hold after %s%s", within, why)
	}
}
