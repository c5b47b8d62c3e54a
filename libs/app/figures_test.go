package app_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/types/known/emptypb"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
)

// figure is what a service shows of a metric with a label; -1 for none.
func figure(t *testing.T, s *apptest.Service, metric, label string) float64 {
	t.Helper()
	res, err := http.Get(s.Admin + "/metrics")
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^` + metric + `{[^}]*` + regexp.QuoteMeta(label) + `[^}]*} (\S+)$`).FindSubmatch(text)
	if m == nil {
		return -1
	}
	n, err := strconv.ParseFloat(string(m[1]), 64)
	require.NoError(t, err)
	return n
}

func TestAJobThatFailsAndOneThatSucceedsAreSeen(t *testing.T) {
	var mended, traced atomic.Bool
	observed := desk
	observed.Build = func(ctx context.Context, k *app.Kit) (*app.Parts, error) {
		p, err := desk.Build(ctx, k)
		if err == nil {
			p.Jobs = []app.Job{{Name: "count", Every: 20 * time.Millisecond, Run: func(ctx context.Context) error {
				traced.Store(trace.SpanContextFromContext(ctx).HasTraceID())
				if mended.Load() {
					return nil
				}
				return errors.New("broken")
			}}}
		}
		return p, err
	}
	s := apptest.Start(t, observed)
	const label = `job="count"`
	s.Eventually(func() bool { return figure(t, s, "frontdesk_job_errors_total", label) >= 2 })
	require.True(t, traced.Load(), "its log lines have a trace_id")
	began := figure(t, s, "frontdesk_job_success_seconds", label)
	require.InDelta(t, time.Now().Unix(), began, 60, "when the replica began")
	mended.Store(true)
	s.Eventually(func() bool { return figure(t, s, "frontdesk_job_success_seconds", label) > began })
}

func TestARoundOfTheRelayThatFailsIsCounted(t *testing.T) {
	s := apptest.Start(t, desk)
	before := figure(t, s, "frontdesk_relay_errors_total", "")
	require.GreaterOrEqual(t, before, 0., "an alert sees the first one only behind a number")
	require.NoError(t, s.Kit.DB.Do(t.Context(), func(tx *db.Tx) error {
		return tx.EmitMessage("desk.unknown", "key", &emptypb.Empty{})
	}))
	s.Eventually(func() bool { return figure(t, s, "frontdesk_relay_errors_total", "") > before })
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `delete from outbox where topic = 'desk.unknown'`)
	require.NoError(t, err)
}

func TestATransactionThatWaitsForAConnectionIsSeen(t *testing.T) {
	s := apptest.Start(t, desk, apptest.Connections(4))
	pending := func() float64 { return figure(t, s, "db_client_connection_pending_requests", "") }
	s.Eventually(func() bool { return pending() == 0 })
	require.EqualValues(t, 4, figure(t, s, "db_client_connection_max", ""))
	release, ended := make(chan struct{}), make(chan error)
	for range 10 {
		go func() {
			ended <- s.Kit.DB.Do(t.Context(), func(*db.Tx) error { <-release; return nil })
		}()
	}
	// A worker of the process may have one of the four for a moment, and then a connection is on its way to the next.
	s.Eventually(func() bool {
		return figure(t, s, "db_client_connection_count", `db_client_connection_state="used"`) == 4 && pending() >= 6
	})
	close(release)
	for range 10 {
		require.NoError(t, <-ended)
	}
	s.Eventually(func() bool { return pending() == 0 })
}
