package db_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/fault"
)

func TestBothSidesOfAConnectionNoticeThatTheOtherIsGone(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	conn, err := d.Pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	for name, want := range map[string]string{"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3",
		"tcp_user_timeout": "10000", "idle_in_transaction_session_timeout": "10s"} {
		var got string
		require.NoError(t, conn.QueryRow(t.Context(), "show "+name).Scan(&got))
		require.Equal(t, want, got, name)
	}
	raw, err := conn.Conn().PgConn().Conn().(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(socket uintptr) {
		for option, want := range map[int]int{syscall.TCP_KEEPIDLE: 5, syscall.TCP_KEEPINTVL: 2, syscall.TCP_KEEPCNT: 3, 18: 10_000} {
			got, err := syscall.GetsockoptInt(int(socket), syscall.IPPROTO_TCP, option)
			require.NoError(t, err)
			require.Equal(t, want, got, "option %d", option)
		}
	}))
}

func TestATransactionThatPausesForTooLongIsAnOutage(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	err := d.Do(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), `set local idle_in_transaction_session_timeout = 20`); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
		_, err := tx.Exec(t.Context(), `select 1`)
		return err
	})
	require.Error(t, err)
	require.True(t, fault.Transient(err), "%v", err)
}
