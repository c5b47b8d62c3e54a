package chaos

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/db/pgserver/tether"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

// pair is a PostgreSQL with a standby that has everything that was committed, and an address that leads to either.
type pair struct {
	URL string // the administrator's, over the address

	cluster          *pgserver.Cluster
	primary, standby *exec.Cmd
	direct           string // the administrator's address of the standby
	address          *crossing
}

// crossing forwards connections to a server, which can be exchanged, as the address of a cluster is.
type crossing struct {
	net.Listener

	mu   sync.Mutex
	to   string
	open []net.Conn
}

func newCrossing(t *testing.T, to string) *crossing {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	c := &crossing{Listener: l, to: to}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go c.forward(near)
		}
	}()
	return c
}

func (c *crossing) forward(near net.Conn) {
	defer near.Close()
	c.mu.Lock()
	to := c.to
	c.mu.Unlock()
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	c.mu.Lock()
	c.open = append(c.open, near, far)
	c.mu.Unlock()
	go func() { defer near.Close(); _, _ = io.Copy(near, far) }()
	_, _ = io.Copy(far, near)
}

// lead ends all connections and leads to another server from now on.
func (c *crossing) lead(to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
	for _, open := range c.open {
		_ = open.Close()
	}
	c.open = nil
}

const databasePassword = "of the administrator"

// replicated starts a PostgreSQL whose commits wait for a standby.
func replicated(t *testing.T) *pair {
	t.Helper()
	folder, err := os.MkdirTemp("", "frontdesk-standby-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	require.NoError(t, os.Chmod(folder, 0o755)) // PostgreSQL runs as another user
	p := &pair{}
	first, second := filepath.Join(folder, "first"), filepath.Join(folder, "second")
	p.cluster, err = pgserver.Open(t.Context(), pgserver.Options{Dir: first, Password: databasePassword, Durable: true})
	require.NoError(t, err)
	hba, err := os.OpenFile(filepath.Join(first, "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = hba.WriteString("host replication all 127.0.0.1/32 scram-sha-256\n")
	require.NoError(t, err)
	require.NoError(t, hba.Close())
	p.primary = p.start(t, first, p.cluster.Port())
	require.NoError(t, p.cluster.WaitReady(t.Context()))

	copied := exec.Command(filepath.Join(filepath.Dir(p.primary.Path), "pg_basebackup"), "-h", "127.0.0.1", "-p", fmt.Sprint(p.cluster.Port()),
		"-U", pgserver.Superuser, "-D", second, "-X", "stream", "-R", "-c", "fast")
	copied.Env = append(os.Environ(), "PGPASSWORD="+databasePassword)
	out, err := copied.CombinedOutput()
	require.NoError(t, err, "pg_basebackup: %s", out)
	out, err = exec.Command("chown", "-R", "--reference="+first, second).CombinedOutput()
	require.NoError(t, err, "chown: %s", out)
	port := freeport.Port()
	p.standby = p.start(t, second, port)

	p.direct = at(t, p.cluster.URL(), freeport.At(port))
	p.address = newCrossing(t, fmt.Sprint("127.0.0.1:", p.cluster.Port()))
	p.URL = at(t, p.cluster.URL(), p.address.Addr().String())
	until.Holds(t, func() bool {
		return p.ask(t, p.cluster.URL(), `select count(*) from pg_stat_replication where state = 'streaming'`) == "1"
	},
		time.Minute, 100*time.Millisecond)
	p.ask(t, p.cluster.URL(), `alter system set synchronous_standby_names = '*'`)
	p.ask(t, p.cluster.URL(), `select pg_reload_conf()`)
	until.Holds(t, func() bool {
		return p.ask(t, p.cluster.URL(), `select string_agg(sync_state, ' ') from pg_stat_replication`) == "sync"
	},
		time.Minute, 100*time.Millisecond)
	return p
}

func at(t *testing.T, address, host string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Host = host
	return u.String()
}

// start starts a server of the cluster's on another folder and port.
func (p *pair) start(t *testing.T, dir string, port int) *exec.Cmd {
	t.Helper()
	cmd := p.cluster.Command()
	cmd.Args[slices.Index(cmd.Args, "-D")+1] = dir
	for _, setting := range []string{"port=" + fmt.Sprint(port), "wal_level=replica", "max_wal_senders=4"} {
		cmd.Args = append(cmd.Args, "-c", setting) // the last one counts
	}
	require.NoError(t, tether.Start(cmd, syscall.SIGQUIT))
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		_ = cmd.Wait()
	})
	return cmd
}

// ask gives the one value that a statement answers with, as a text; empty for none, and while the server does not answer.
func (p *pair) ask(t *testing.T, address, sql string) (answer string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		return ""
	}
	defer c.Close(t.Context())
	results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
	require.NoError(t, err, sql)
	for _, r := range results {
		for _, row := range r.Rows {
			answer = string(row[0])
		}
	}
	return answer
}

// promote ends the primary as a host that is lost, and makes its standby the server.
func (p *pair) promote(t *testing.T) {
	t.Helper()
	require.NoError(t, p.primary.Process.Kill())
	p.address.lead("127.0.0.1:1")
	require.Equal(t, "t", p.ask(t, p.direct, `select pg_promote()`))
	u, err := url.Parse(p.direct)
	require.NoError(t, err)
	p.address.lead(u.Host)
}

// The standby counts transactions on as the lost server did, but in another timeline: what it never got did not happen. Nothing of
// that was acknowledged.
func TestAStandbyIsPromoted(t *testing.T) {
	p := replicated(t)
	w := start(t, "DATABASE_URL="+p.URL)
	l := w.Load(t, 4, 8)
	time.Sleep(lasts(30*time.Second, 5*time.Second))
	changes := l.Acknowledged()
	began := time.Now()
	p.promote(t)
	until.Holds(t, func() bool { return l.Acknowledged() > changes+20 }, time.Minute, 50*time.Millisecond, "nothing is written any more")
	w.Recovered(t, time.Minute)
	took := time.Since(began)
	require.True(t, strings.HasPrefix(p.ask(t, p.direct, `select pg_walfile_name(pg_current_wal_lsn())`), "00000002"), "it is the second timeline")
	w.Report(t, "the database's host is lost, and its standby promoted", l, took)

	// The copy in memory by which contacts lists and searches is that of the new server.
	require.EqualValues(t, w.number(t, `select count(*) from contacts.contact where deleted_at is null`), w.Admin.Get(t, "/contacts?per_page=1").Is(200).Field("total"))
	require.EqualValues(t, len(w.stored(t, l.mark)), w.Admin.Get(t, "/contacts?per_page=1&search="+l.mark).Is(200).Field("total"))
}
