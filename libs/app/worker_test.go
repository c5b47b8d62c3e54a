package app

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
)

func TestAWorkerBeginsWhenItIsToldAndRestsOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		d := &db.DB{}
		begun := time.Now()
		var at []time.Duration
		left, failing := 0, false
		w := Worker{Name: "worker", Pause: 300 * time.Millisecond, Slice: func(context.Context) (bool, error) {
			at = append(at, time.Since(begun))
			if failing {
				return false, errors.New("not now")
			}
			left--
			return left >= 0, nil
		}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.work(ctx, d.News)
		}()
		slices := func(after time.Duration, n int) []time.Duration {
			t.Helper()
			time.Sleep(after - time.Since(begun))
			synctest.Wait()
			require.Len(t, at, n)
			return at
		}
		ms := time.Millisecond
		slices(1900*ms, 1)
		require.Equal(t, []time.Duration{0, 2000 * ms, 4000 * ms}, slices(5000*ms, 3), "nobody says anything")
		left = 3
		d.Wake()
		slices(5000*ms, 7) // the three at once, and one that found nothing
		d.Wake()
		d.Wake()
		require.Equal(t, 5300*ms, slices(5300*ms, 8)[7], "told again at once, it leaves a pause")
		failing = true
		require.Equal(t, []time.Duration{7300 * ms, 7600 * ms, 7900 * ms}, slices(8000*ms, 11)[8:])
		cancel()
		<-ended
	})
}
