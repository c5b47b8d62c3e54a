package app_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
)

// notes stores n notes of so many bytes; ids ascend.
func notes(t *testing.T, s *apptest.Service, n, size int) {
	t.Helper()
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into note (id, text, created_at)
		select lpad(n::text, 32, '0')::uuid, repeat('x', $2), date_trunc('second', now()) from generate_series(1, $1) n`, n, size)
	require.NoError(t, err)
}

// stalled asks for the export of notes, reads the status and takes nothing more.
func stalled(t *testing.T, s *apptest.Service, as *apptest.Client) error {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "GET /v1/exports/notes.csv HTTP/1.1\r\nHost: desk\r\nCookie: svc_session=session-of-%d\r\n\r\n", as.UserID); err != nil {
		return err
	}
	status, err := bufio.NewReaderSize(conn, 64).ReadString('\n')
	if err == nil && status != "HTTP/1.1 200 OK\r\n" {
		err = errors.New(status)
	}
	return err
}

func TestStalledReadersOfExportsKeepNoConnectionAndAreCutOff(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk, apptest.Connections(8))
	notes(t, s, 8, 1<<20) // more than the buffers of a connection hold
	var team []*apptest.Client
	for range 5 {
		team = append(team, s.AsSession("site_admin"))
	}
	var asked errgroup.Group
	asked.SetLimit(4) // none waits for a connection to the database, for which a busy machine has it refused
	for i := range 16 {
		asked.Go(func() error { return stalled(t, s, team[i/4]) })
	}
	require.NoError(t, asked.Wait())
	refused := team[4].Get("/exports/notes.csv").Fails(503, "svc_unavailable")
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	refused = team[0].Get("/exports/notes.csv").Fails(429, "svc_rate_limited")
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	s.Eventually(func() bool { return s.Kit.DB.Pool.Stat().AcquiredConns() == 0 })
	began := time.Now()
	team[4].Get("/notes").Is(200)
	require.Less(t, time.Since(began), 5*time.Second)

	// They are cut off, and their places are free again.
	s.Eventually(func() bool { return team[0].Get("/exports/notes.csv").Status == 200 })
}

func TestAnExportThatBreaksIsNeverTakenForTheWhole(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	as := s.AsSession("site_admin")
	notes(t, s, 1000, 1000)
	require.Equal(t, 1001, strings.Count(as.Get("/exports/notes.csv").Is(200).Body, "\n"))
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `update note set text = 'break' where id = lpad('900', 32, '0')::uuid`)
	require.NoError(t, err)
	s.Eventually(func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/exports/notes.csv", nil)
		require.NoError(t, err)
		req.AddCookie(&http.Cookie{Name: auth.Cookie, Value: fmt.Sprint("session-of-", as.UserID)})
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if res.StatusCode >= http.StatusInternalServerError {
			return false // it broke before the first byte was sent, and the client has the error instead
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d %.300s", res.StatusCode, body)
		return true
	})
	as.Get("/exports/notes.csv?search=fail").Fails(400, "svc_invalid_param")
}

func TestAnAbilitysAnswerHasALimit(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	as := s.As("site_admin")
	notes(t, s, 3, 1<<20)
	require.Contains(t, as.Post("/abilities/svc/export-notes/run", nil).Is(200).Body, "id,text")
	as.Get("/abilities/svc/find-notes/run").Is(200)
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into note (id, text, created_at) values ($1, repeat('x', $2), date_trunc('second', now()))`, uuid.New(), 1<<20)
	require.NoError(t, err)
	for _, call := range []string{"POST /abilities/svc/export-notes/run", "GET /abilities/svc/find-notes/run"} {
		a := as.Call(call, nil).Fails(413, "svc_too_large")
		require.Contains(t, a.Text("message"), strconv.Itoa(4<<20))
	}
	// Over REST the same is a file, and a list.
	require.Greater(t, len(as.Get("/exports/notes.csv").Is(200).Body), 4<<20)
	as.Get("/notes").Is(200)
}
