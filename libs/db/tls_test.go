package db_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/authority"
	"frontdesk/libs/db"
	"frontdesk/libs/db/pgserver"
)

func TestAServerIsVerifiedWhereTheAddressAsksForIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	server, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	plain, err := db.Open(t.Context(), server.URL(), "desk")
	require.NoError(t, err)
	t.Cleanup(plain.Close)

	// authorities are the files of ours, which signs the server's certificate for this address, and of a stranger's.
	var authorities [2]string
	for i := range authorities {
		a, err := authority.Open(t.TempDir())
		require.NoError(t, err)
		authorities[i] = filepath.Join(t.TempDir(), "ca.pem")
		require.NoError(t, os.WriteFile(authorities[i], a.PEM, 0o600))
		if i > 0 {
			continue
		}
		pair := filepath.Join(dir, "server.pem")
		require.NoError(t, a.Issue(pair, "postgres", "127.0.0.1"))
		owner, err := os.Stat(dir)
		require.NoError(t, err)
		id := owner.Sys().(*syscall.Stat_t)
		require.NoError(t, os.Chown(pair, int(id.Uid), int(id.Gid)))
		for _, sql := range []string{`alter system set ssl_cert_file = 'server.pem'`, `alter system set ssl_key_file = 'server.pem'`, `alter system set ssl = on`, `select pg_reload_conf()`} {
			_, err := plain.Pool.Exec(t.Context(), sql)
			require.NoError(t, err)
		}
	}

	for name, c := range map[string]struct {
		host, authority string
		refused         string
	}{
		"our authority and the right host": {host: "127.0.0.1", authority: authorities[0]},
		"a stranger's authority":           {host: "127.0.0.1", authority: authorities[1], refused: "unknown authority"},
		"another host":                     {host: "localhost", authority: authorities[0], refused: "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			address := url.URL{Scheme: "postgres", User: url.User(pgserver.Superuser), Host: c.host + ":" + strconv.Itoa(server.Port()), Path: "/postgres",
				RawQuery: url.Values{"sslmode": {"verify-full"}, "sslrootcert": {c.authority}}.Encode()}
			d, err := db.Open(t.Context(), address.String(), "desk")
			require.NoError(t, err)
			defer d.Close()
			var encrypted bool
			err = d.Pool.QueryRow(t.Context(), `select ssl from pg_stat_ssl where pid = pg_backend_pid()`).Scan(&encrypted)
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			require.True(t, encrypted)
		})
	}
}
