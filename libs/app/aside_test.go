package app

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
)

func TestOneBadRowDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	a, done, bad := NewAside[int]("a test"), map[int]int{}, errors.New("a bad row")
	// work does rows like a worker: those that are left, as many as Size says, in one transaction.
	work := func() (worked bool, err error) {
		var rows []int
		aside := a.Keys()
		for n := 1; n <= 50 && len(rows) < a.Size(20); n++ {
			if done[n] == 0 && !slices.Contains(aside, n) {
				rows = append(rows, n)
			}
		}
		for _, n := range rows {
			if n == 7 || n == 33 {
				return a.Did(t.Context(), rows, bad)
			}
		}
		for _, n := range rows {
			done[n]++
		}
		return a.Did(t.Context(), rows, nil)
	}
	transactions := 0
	for worked := true; worked; transactions++ {
		var err error
		worked, err = work()
		require.NoError(t, err)
	}
	require.Len(t, done, 48)
	require.Less(t, transactions, 48, "most rows are done together")
	require.ElementsMatch(t, []int{7, 33}, a.Keys())
}

func TestAnOutageSetsNothingAside(t *testing.T) {
	t.Parallel()
	a := NewAside[int]("a test")
	worked, err := a.Did(t.Context(), []int{1, 2}, context.DeadlineExceeded)
	require.True(t, worked)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, 20, a.Size(20))
	worked, err = a.Did(t.Context(), nil, errors.New("nothing was claimed"))
	require.False(t, worked)
	require.Error(t, err)
	require.Empty(t, a.Keys())
}

func TestAnAlertSeesTheFirstRowThatGoesAside(t *testing.T) {
	before := otel.GetMeterProvider()
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	stop, metrics, err := telemetry(t.Context(), "desk", Config{})
	require.NoError(t, err)
	t.Cleanup(stop)
	a := NewAside[int]("a test")
	require.Regexp(t, `frontdesk_aside_total{[^}]*work="a test"} 0\n`, scraped(metrics, "text/plain"), "Prometheus sees an increase only behind a 0")
	_, err = a.Did(t.Context(), []int{1}, errors.New("a bad row"))
	require.NoError(t, err)
	require.Regexp(t, `frontdesk_aside_total{[^}]*work="a test"} 1\n`, scraped(metrics, "text/plain"))
}
