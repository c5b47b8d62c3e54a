package db

import (
	"cmp"
	"maps"
	"net"
	"runtime"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A host that vanishes closes no connection, and by default kernels notice after two hours. These make both sides give a
// silent connection up within about ten seconds, which frees the locks of its transaction.
var (
	// The server ignores the first four on a Unix socket. The last one is how long a transaction may wait for its next
	// statement: a process that is frozen keeps its connections, which still answer probes.
	serverSilence = map[string]string{"tcp_keepalives_idle": "5s", "tcp_keepalives_interval": "2s", "tcp_keepalives_count": "3",
		"tcp_user_timeout": "10s", "idle_in_transaction_session_timeout": "10s"}
	clientSilence = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}
)

// unacknowledged is how long data that this side has sent may wait for its acknowledgement.
const unacknowledged = 10 * time.Second

// boundSilence makes connections of cfg end when the other side is silent.
func boundSilence(cfg *pgxpool.Config) {
	maps.Copy(cfg.ConnConfig.RuntimeParams, serverSilence)
	cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	cfg.PingTimeout = 2 * time.Second
	dialer := &net.Dialer{KeepAliveConfig: clientSilence, Control: limitUnacknowledged}
	cfg.ConnConfig.DialFunc = dialer.DialContext
}

func limitUnacknowledged(network, _ string, c syscall.RawConn) error {
	const tcpUserTimeout = 18 // of Linux; package syscall does not name it
	if runtime.GOOS != "linux" || network == "unix" {
		return nil
	}
	var failed error
	err := c.Control(func(socket uintptr) {
		failed = syscall.SetsockoptInt(int(socket), syscall.IPPROTO_TCP, tcpUserTimeout, int(unacknowledged.Milliseconds()))
	})
	return cmp.Or(err, failed)
}
