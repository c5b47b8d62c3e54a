package message

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/until"
)

// A crash loses what was committed and not yet on disk, and its server gives the numbers of those transactions out again.
func TestAReaderMissesNothingAfterACrash(t *testing.T) {
	ctx := t.Context()
	options := pgserver.Options{Dir: filepath.Join(t.TempDir(), "postgres"), Durable: true}
	start := func() *pgserver.Server {
		server, err := pgserver.Start(ctx, options)
		require.NoError(t, err)
		t.Cleanup(server.Stop)
		return server
	}
	server := start()
	options.Port = server.Port()
	dbtest.On(t, server.URL())
	d := dbtest.New(t, "webhooks", os.DirFS(filepath.Join("..", "webhooks")))
	d.Hash = func(string) []byte { return nil }
	room := New(nil, func(*db.Tx, Stored) {}, nil)
	record := uuid.New()
	consume := func(n int) {
		require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
			tx.Relax()
			return store(ctx, room, tx, record, n)
		}))
	}
	cursor := ""
	read := func() (events []feedEvent) {
		for {
			var page feed
			require.NoError(t, d.Read(ctx, func(tx *db.Tx) (err error) {
				page, err = room.findEvents(ctx, tx, findEvents{Page: db.Page{Cursor: cursor, PerPage: 2}})
				return err
			}))
			cursor = page.NextCursor
			if len(page.Items) == 0 {
				return events
			}
			events = append(events, page.Items...)
		}
	}
	_, err := d.Pool.Exec(ctx, `alter system set wal_writer_delay = '10s'`)
	require.NoError(t, err)
	_, err = d.Pool.Exec(ctx, `select pg_reload_conf()`)
	require.NoError(t, err)
	for crash := range 3 {
		consume(10 * crash) // wakes the writer of the log, which sleeps then
		time.Sleep(300 * time.Millisecond)
		for n := 1; n < 6; n++ {
			consume(10*crash + n)
		}
		seen := read()
		require.Len(t, seen, 6)

		require.NoError(t, syscall.Kill(server.PID(), syscall.SIGQUIT))
		server.Stop()
		d.Pool.Reset()
		server = start()
		until.Holds(t, func() bool { return d.Pool.Ping(ctx) == nil }, 10*time.Second, 10*time.Millisecond)
		var kept int
		require.NoError(t, d.Pool.QueryRow(ctx, `select count(*) from message`).Scan(&kept))
		require.Equal(t, 7*crash+6, kept, "what a reader was given is on disk")
		consume(10*crash + 6)
		require.Len(t, read(), 1, "what came after the crash")
	}
}
