package world

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"frontdesk/deploy/client"
	"frontdesk/deploy/system"
	"frontdesk/libs/bus"
)

// System is the whole system behind its gateway, as `make run` starts it. Calls go through the gateway.
type System struct {
	client.API
	closers
	Dir        string        // is gone after Close
	DB         *pgxpool.Pool // as the database's administrator
	Kafka      string
	KafkaLogin bus.Login // the administrator's, at Kafka
	Database   string
	system     *system.System
}

// StartSystem starts a system from the checkout in the current folder, with data of its own on free ports and without
// rate limits. If data names the data folder of a running system it uses that one: its administrator's password is
// in run.json or in SVC_ADMIN_PASSWORD, and it should run with SVC_RATE_FACTOR=0. env are more variables of one that is started.
func StartSystem(ctx context.Context, data string, env ...string) (s *System, err error) {
	s = &System{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.Dir, err = s.folder(); err != nil {
		return s, err
	}
	admin := os.Getenv("SVC_ADMIN_PASSWORD")
	if data == "" {
		admin = system.Password
	}
	// As many partitions as this machine can work on.
	if s.system, err = system.Start(ctx, system.Options{Data: data, Env: append([]string{"SVC_KAFKA_PARTITIONS=0"}, env...)}); err != nil {
		return s, err
	}
	s.Defer(s.system.Stop)
	r, err := s.system.State()
	if err != nil {
		return s, err
	}
	if r.Admin.Password == "" {
		r.Admin.Password = admin
	}
	s.Kafka, s.Database = r.Kafka, r.Database
	if _, s.KafkaLogin, err = r.Broker(); err != nil {
		return s, err
	}
	if s.API, err = client.New(r.Gateway); err != nil {
		return s, err
	}
	if err := s.SignIn(r.Admin.Login, r.Admin.Password); err != nil {
		return s, fmt.Errorf("sign in: %w", err)
	}
	var key struct{ Password string }
	if _, err := s.Call(http.MethodPost, "/me/application-passwords", map[string]string{"name": "bench"}, &key); err != nil {
		return s, fmt.Errorf("make a key: %w", err)
	}
	s.Login, s.Password, s.Client.Jar = r.Admin.Login, key.Password, nil
	s.DB, err = s.pool(ctx, r.Database, "public")
	return s, err
}

// Process is one of the system's processes as it runs now. It is another one after a crash.
func (s *System) Process(name string) (system.Process, error) {
	r, err := s.system.State()
	if err != nil {
		return system.Process{}, err
	}
	p, ok := r.Processes[name]
	if !ok {
		return p, fmt.Errorf("no process %s", name)
	}
	return p, nil
}
