package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/durable"
)

// backupFile is the content of backup.json, which stands beside the dumps.
type backupFile struct {
	MadeAt   time.Time               `json:"made_at"`
	Services map[string]backedUpFile `json:"services"`
	// Keys tells whether keys are those that seal secrets in the dumps. It does not reveal them.
	Keys string `json:"keys_fingerprint"`
}

type backedUpFile struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// fingerprint names the keys of a launch.
func (l *launch) fingerprint() string {
	h := hmac.New(sha256.New, []byte(l.knobs.MasterKey))
	h.Write([]byte("frontdesk backup " + l.secrets.SharedKey))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// chosen parses the flags of backup and restore: which services, and the folder, which may be left out.
func chosen(command string, args []string) (names []string, dir string, err error) {
	flags := flag.NewFlagSet(command, flag.ExitOnError)
	only := flags.String("services", "", "services, separated by commas; all when empty")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: local %s [-services a,b] [folder]\n", command)
		flags.PrintDefaults()
		fmt.Fprintln(flags.Output(), "Environment: SVC_DATA_DIR and the others of 'local run'")
	}
	_ = flags.Parse(args)
	names, err = someServices(*only)
	return names, flags.Arg(0), err
}

// someServices are those of a list separated by commas, all of them if it is empty. The error names what is no service.
func someServices(list string) ([]string, error) {
	if list == "" {
		return services, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(services, name) {
			return nil, fmt.Errorf("%q is no service; there are %s", name, strings.Join(services, ", "))
		}
	}
	return names, nil
}

// backup dumps the schemas of services of the running system, all at the same time, into a new folder.
func backup(ctx context.Context, args []string) error {
	names, dir, err := chosen("backup", args)
	if err != nil {
		return err
	}
	k, err := readKnobs()
	if err != nil {
		return err
	}
	l, err := attach(ctx, k)
	if err != nil {
		return err
	}
	made := time.Now().UTC()
	if dir == "" {
		dir = filepath.Join(k.DataDir, "backup", made.Format("20060102T150405Z"))
	}
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("%s is there already: choose another folder", dir)
	}
	// A backup that was cut off is never taken for a whole one.
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := os.MkdirAll(part, 0o700); err != nil {
		return err
	}
	b := backupFile{MadeAt: made, Services: map[string]backedUpFile{}, Keys: l.fingerprint()}
	dumps, inner := errgroup.WithContext(ctx)
	for _, name := range names {
		dumps.Go(func() error { return l.dump(inner, name, filepath.Join(part, name+".dump")) })
	}
	if err := dumps.Wait(); err != nil {
		return err
	}
	for _, name := range names {
		f, err := measure(filepath.Join(part, name+".dump"))
		if err != nil {
			return err
		}
		b.Services[name] = f
	}
	listed, err := inJSON(b)
	if err != nil {
		return err
	}
	if err := durable.Write(filepath.Join(part, "backup.json"), listed); err != nil {
		return err
	}
	if err := os.Rename(part, dir); err != nil {
		return err
	}
	if err := durable.Sync(filepath.Dir(dir)); err != nil {
		return err
	}
	l.say("%s: %s. Keep %s apart from it: without the keys in there, the backup opens nothing",
		dir, strings.Join(names, ", "), filepath.Join(k.DataDir, "secrets.json"))
	return nil
}

// measure describes a file.
func measure(path string) (backedUpFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return backedUpFile{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return backedUpFile{File: filepath.Base(path), Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// attach makes a launch of the system that runs in the data folder.
func attach(ctx context.Context, k knobs) (*launch, error) {
	var s state
	b, err := os.ReadFile(filepath.Join(k.DataDir, "run.json"))
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("nothing runs in %s: start it with 'make run', or choose another folder with SVC_DATA_DIR", k.DataDir)
	}
	if err != nil {
		return nil, err
	}
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	l := &launch{knobs: k, root: root, bin: filepath.Join(root, ".run", "bin"), started: time.Now()}
	if err := l.learnSecrets(); err != nil {
		return nil, err
	}
	_, own := s.Processes["kafka"]
	l.kafka = kafkaAccess{own: own, users: s.KafkaUsers, admin: s.Kafka, login: s.KafkaLogin, passwords: l.KafkaPasswords}
	gateway, err := url.Parse(s.Gateway)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(gateway.Host)
	if err != nil {
		return nil, err
	}
	if l.HTTPPort, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	l.PublicURL, l.admin = s.PublicURL, s.Database
	l.urls, err = pgserver.Provision(ctx, s.Database, l.RolePasswords)
	return l, err
}

// dump writes the schema of a service into a file, as it is at one moment.
func (l *launch) dump(ctx context.Context, service, file string) error {
	return l.postgresProgram(ctx, service, "pg_dump", "--format=custom", "--schema="+service, "--no-unlogged-table-data", "--file="+file)
}

// postgresProgram runs a program of PostgreSQL in the database of a service, as its role. The password does not show in the
// list of processes.
func (l *launch) postgresProgram(ctx context.Context, service, name string, args ...string) error {
	conn, err := pgx.Connect(ctx, l.urls[service])
	if err != nil {
		return err
	}
	major, _ := strconv.Atoi(strings.SplitN(conn.PgConn().ParameterStatus("server_version"), ".", 2)[0])
	_ = conn.Close(ctx)
	program, err := pgserver.Program(name, major)
	if err != nil {
		return err
	}
	u, err := url.Parse(l.urls[service])
	if err != nil {
		return err
	}
	password, _ := u.User.Password()
	u.User = url.User(u.User.Username())
	cmd := exec.CommandContext(ctx, program, append(args, "--dbname="+u.String())...)
	cmd.Env = append(inherited(), "PGPASSWORD="+password)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s of %s: %w: %s", name, service, err, strings.TrimSpace(string(out)))
	}
	return nil
}
