package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// System is the whole system behind its gateway, as `make run` starts it. Calls go through the gateway.
type System struct {
	API
	closers
	Dir      string        // is gone after Close
	DB       *pgxpool.Pool // as the database's administrator
	Kafka    string
	Database string
	data     string
}

// Process is one of the system's, as run.json names it.
type Process struct {
	PID int
	URL string
}

type runFile struct {
	Ready          bool
	Gateway, Kafka string
	Database       string `json:"database_url"`
	Admin          struct{ Login, Password string }
	Processes      map[string]Process
}

// StartSystem starts a system from the checkout in the current folder, with data of its own on free ports and without
// rate limits. If data names the data folder of a running system it uses that one: its administrator's password is
// in run.json or in SVC_ADMIN_PASSWORD, and it should run with SVC_RATE_FACTOR=0.
func StartSystem(ctx context.Context, data string) (s *System, err error) {
	s = &System{data: data}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.Dir, err = s.folder(); err != nil {
		return s, err
	}
	admin := os.Getenv("SVC_ADMIN_PASSWORD")
	if s.data == "" {
		s.data, admin = filepath.Join(s.Dir, "data"), password
		if err := s.launch(ctx); err != nil {
			return s, fmt.Errorf("start the system: %w", err)
		}
	}
	r, err := s.runFile()
	if err != nil {
		return s, fmt.Errorf("is the system running? %w", err)
	}
	if r.Admin.Password == "" {
		r.Admin.Password = admin
	}
	s.Kafka, s.Database = r.Kafka, r.Database
	s.API = API{URL: r.Gateway, Login: r.Admin.Login, Client: newClient()}
	if s.Password, err = s.signIn(r.Admin.Password); err != nil {
		return s, fmt.Errorf("sign in: %w", err)
	}
	s.DB, err = s.pool(ctx, r.Database, "public")
	return s, err
}

func (s *System) launch(ctx context.Context) error {
	launcher := filepath.Join(s.Dir, "local")
	if err := build(launcher, "frontdesk/deploy/local"); err != nil {
		return err
	}
	cmd := exec.Command(launcher, "run")
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "DATABASE_URL" && name != "KAFKA_BROKERS" {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "SVC_HTTP_PORT=0", "SVC_DATA_DIR="+s.data, "SVC_ADMIN_PASSWORD="+password, "SVC_RATE_FACTOR=0")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s.Defer(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case err := <-ended:
			fmt.Fprintln(&log, "ended:", err)
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			fmt.Fprintln(&log, "killed:", <-ended)
		}
	})
	for {
		if r, err := s.runFile(); err == nil && r.Ready {
			return nil
		}
		select {
		case err := <-ended:
			ended <- err
			return errors.Join(fmt.Errorf("it ended: %s", log.String()), err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond): // the first start builds Traefik, which takes minutes
		}
	}
}

func (s *System) runFile() (r runFile, err error) {
	raw, err := os.ReadFile(filepath.Join(s.data, "run.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(raw, &r)
}

// Process is one of the system's processes as it runs now. It is another one after a crash.
func (s *System) Process(name string) (Process, error) {
	r, err := s.runFile()
	if err != nil {
		return Process{}, err
	}
	p, ok := r.Processes[name]
	if !ok {
		return p, fmt.Errorf("no process %s", name)
	}
	return p, nil
}

// signIn answers a new application password of the administrator.
func (s *System) signIn(password string) (string, error) {
	body, err := json.Marshal(map[string]string{"login": s.Login, "password": password})
	if err != nil {
		return "", err
	}
	res, err := s.Client.Post(s.URL+"/v1/auth/login", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", errors.New(res.Status)
	}
	req, err := http.NewRequest(http.MethodPost, s.URL+"/v1/me/application-passwords", strings.NewReader(`{"name":"bench"}`))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	for _, c := range res.Cookies() {
		req.AddCookie(c)
	}
	var made struct{ Password string }
	_, err = answer(s.Client, req, &made)
	return made.Password, err
}
