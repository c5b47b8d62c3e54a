package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"frontdesk/libs/bus"
	"frontdesk/libs/db/pgserver"
	"frontdesk/proto"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// services in the order of their ports, which is part of the addresses people keep.
var services = []string{"settings", "contacts", "booking", "forms", "webhooks"}

// patience is how long the processes may take to become ready on a busy machine.
const patience = 3 * time.Minute

// launch is one run of the whole system.
type launch struct {
	knobs
	secrets
	root, bin, tools string
	self             string
	own              bool // the administrator's password is ours, not given
	kafka            string
	urls             map[string]string // service to database
	apache           *apacheBroker
	traefik          string
	supervisor       *supervisor
	state            *stateFile
	started          time.Time
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		printKnobs()
		if a := strings.TrimLeft(args[0], "-"); a == "help" || a == "h" {
			return nil
		}
		return exitStatus(2)
	}
	k, err := readKnobs()
	if err != nil {
		return err
	}
	root, err := projectRoot()
	if err != nil {
		return err
	}
	for _, dir := range []string{k.DataDir, filepath.Join(k.DataDir, "log"), filepath.Join(root, ".run", "bin"), filepath.Join(root, ".run", "tools")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("the folder %s cannot be made: %w; choose another with SVC_DATA_DIR", dir, err)
		}
	}
	held, err := lock(k.DataDir)
	if err != nil {
		return err
	}
	defer held.Close()
	if err := checkSpace(k.DataDir, gigabyte/2, "a run"); err != nil {
		return err
	}
	l := &launch{knobs: k, root: root, bin: filepath.Join(root, ".run", "bin"), tools: filepath.Join(root, ".run", "tools"), self: "/proc/self/exe", started: time.Now()}
	if err := l.choose(); err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		fmt.Println()
		l.say("stopping; once more kills everything at once")
		stop()
		<-signals
		l.supervisor.kill()
	}()
	err = l.up(ctx)
	if err == nil {
		<-ctx.Done()
	}
	l.supervisor.stopAll(append([]string{"gateway"}, services...), []string{"traefik"}, []string{"mail"}, []string{"kafka"}, []string{"postgres"})
	l.state.remove()
	if ctx.Err() != nil {
		l.say("stopped")
		return nil
	}
	return err
}

func (l *launch) say(format string, args ...any) {
	fmt.Printf("%6.1fs  "+format+"\n", append([]any{time.Since(l.started).Seconds()}, args...)...)
}

// choose settles the ports and the secrets, and writes the first run.json.
func (l *launch) choose() error {
	if l.HTTPPort == 0 {
		var err error
		if l.HTTPPort, err = freeBase(); err != nil {
			return err
		}
	}
	if l.PublicURL == "" {
		l.PublicURL = "http://localhost:" + strconv.Itoa(l.HTTPPort)
	}
	if err := checkPorts(l.ports()); err != nil {
		return err
	}
	var err error
	if l.secrets, err = loadSecrets(l.DataDir, services); err != nil {
		return err
	}
	if l.knobs.MasterKey == "" {
		l.knobs.MasterKey = l.secrets.MasterKey
	}
	if l.own = l.knobs.AdminPassword == ""; l.own {
		l.knobs.AdminPassword = l.secrets.AdminPassword
	}
	if l.kafka = l.KafkaBrokers; l.kafka == "" {
		l.kafka = l.at(kafkaOffset)
	}
	s := state{
		PID: os.Getpid(), DataDir: l.DataDir, Gateway: "http://" + l.at(0), PublicURL: l.PublicURL,
		Dashboard: "http://" + l.at(controllerAdminOffset), Traefik: "http://" + l.at(traefikOffset),
		Kafka: l.kafka, Admin: stateAdmin{Login: l.AdminLogin},
	}
	if l.own {
		s.Admin.Password = l.knobs.AdminPassword
	}
	if l.SMTPURL == "" {
		s.MailPage = "http://" + l.at(mailPageOffset)
	}
	l.state = newStateFile(l.DataDir, s)
	l.supervisor = newSupervisor(filepath.Join(l.DataDir, "log"), l.say, func() {
		_ = l.state.change(func(s *state) { s.Processes = l.supervisor.processes() })
	})
	return l.state.change(func(*state) {})
}

// at is the address at an offset from the gateway's port.
func (l *launch) at(offset int) string { return loopback(l.HTTPPort + offset) }

func (l *launch) ports() []port {
	ports := []port{{0, "the gateway"}, {traefikOffset, "Traefik's API"}, {controllerOffset, "the gateway controller"}, {controllerAdminOffset, "the gateway's page"}}
	if l.SMTPURL == "" {
		ports = append(ports, port{mailPageOffset, "the mail page"}, port{smtpOffset, "the mail sink"})
	}
	if l.DatabaseURL == "" {
		ports = append(ports, port{postgresOffset, "PostgreSQL"})
	}
	if l.KafkaBrokers == "" {
		ports = append(ports, port{kafkaOffset, "Kafka"})
		if l.Kafka == "apache" {
			ports = append(ports, port{apacheControlOffset, "Kafka's controller"})
		}
	}
	for i, s := range services {
		ports = append(ports, port{serviceOffset + i, s}, port{serviceAdminOffset + i, "health and metrics of " + s})
	}
	for i := range ports {
		ports[i].number += l.HTTPPort
	}
	return ports
}

// up starts everything and returns when the gateway routes to every service. It starts database, broker and mail sink and
// builds the programs at the same time; then it starts all our processes at once, because each waits for what it needs.
func (l *launch) up(ctx context.Context) error {
	prepare, inner := errgroup.WithContext(ctx)
	prepare.Go(func() error { return l.upPostgres(inner) })
	prepare.Go(func() error { return l.upKafka(inner) })
	prepare.Go(l.upMail)
	prepare.Go(func() error {
		b := builder{root: l.root, bin: l.bin, say: l.say}
		if err := b.ours(inner, services); err != nil {
			return err
		}
		var err error
		l.traefik, err = b.traefik(inner)
		return err
	})
	if err := prepare.Wait(); err != nil {
		return err
	}
	if err := l.supervisor.start(l.controller()); err != nil {
		return err
	}
	for i, name := range services {
		if err := l.supervisor.start(l.service(i, name)); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// Alive is enough here: by then Traefik's files are written, and ready waits for Traefik itself.
	if err := l.supervisor.await(limited, "gateway", answers200("http://"+l.at(controllerAdminOffset)+"/livez")); err != nil {
		return err
	}
	if err := l.supervisor.start(l.proxy()); err != nil {
		return err
	}
	if err := l.supervisor.waitReady(limited, append([]string{"traefik", "gateway"}, services...)...); err != nil {
		return err
	}
	if err := l.supervisor.await(limited, "gateway", l.routed); err != nil {
		return err
	}
	if err := l.state.change(func(s *state) { s.Ready = true }); err != nil {
		return err
	}
	l.screen()
	return nil
}

func (l *launch) upPostgres(ctx context.Context) error {
	admin := l.DatabaseURL
	if admin == "" {
		cluster, err := pgserver.Open(ctx, pgserver.Options{
			Dir: filepath.Join(l.DataDir, "postgres"), Tools: l.tools, Port: l.HTTPPort + postgresOffset,
			Password: l.PostgresPassword, Durable: true, Progress: func(s string) { l.say("%s", s) },
		})
		if err != nil {
			return err
		}
		err = l.supervisor.start(process{
			name: "postgres", command: cluster.Command, ready: cluster.WaitReady,
			stop: syscall.SIGINT, onDeath: syscall.SIGQUIT, url: l.at(postgresOffset),
		})
		if err != nil {
			return err
		}
		if err := l.supervisor.waitReady(ctx, "postgres"); err != nil {
			return err
		}
		admin = cluster.URL()
	}
	urls, err := pgserver.Provision(ctx, admin, l.RolePasswords)
	if err != nil {
		const what = "the database cannot be prepared"
		if l.DatabaseURL != "" {
			return fmt.Errorf("%s; does DATABASE_URL name an administrator of a server that runs? %s", what, strings.Join(strings.Fields(err.Error()), " "))
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	l.urls = urls
	config, err := pgx.ParseConfig(urls[services[0]])
	if err != nil {
		return err
	}
	return l.state.change(func(s *state) { s.Database = inDatabase(admin, config.Database) })
}

func (l *launch) upKafka(ctx context.Context) error {
	if l.KafkaBrokers != "" {
		return l.dialKafka(ctx)
	}
	p := process{
		name: "kafka", ready: l.dialKafka, stop: syscall.SIGTERM, onDeath: syscall.SIGKILL, url: l.kafka,
		command: func() *exec.Cmd {
			return exec.Command(l.self, "kafka", "-dir", filepath.Join(l.DataDir, "kafka"), "-listen", l.kafka)
		},
	}
	if l.Kafka == "apache" {
		var err error
		if l.apache, err = newApacheBroker(ctx, l.tools, filepath.Join(l.DataDir, "apache-kafka"), l.HTTPPort+kafkaOffset, l.HTTPPort+apacheControlOffset, l.say); err != nil {
			return err
		}
		p.command = l.apache.command
	}
	if err := l.supervisor.start(p); err != nil {
		return err
	}
	if err := l.supervisor.waitReady(ctx, "kafka"); err != nil {
		return err
	}
	return l.supervisor.await(ctx, "kafka", l.topics)
}

// topics makes the topics before the services do, which would give busy ones the partitions of a cluster. On one machine,
// partitions beyond those that it works on at once cost more and smaller writes, each with a sync of its own.
func (l *launch) topics(ctx context.Context) error {
	most := l.Partitions
	if most == 0 {
		most = bus.AtOnce()
	}
	topics := slices.Clone(proto.Topics)
	for i := range topics {
		if topics[i].Partitions > 1 {
			topics[i].Partitions = most
		}
	}
	b := bus.New(l.kafka)
	defer func() { _ = b.Close() }()
	return b.Ensure(ctx, topics)
}

func (l *launch) dialKafka(ctx context.Context) error {
	var d net.Dialer
	for _, b := range strings.Split(l.kafka, ",") {
		c, err := d.DialContext(ctx, "tcp", strings.TrimSpace(b))
		if err == nil {
			return c.Close()
		}
		if l.KafkaBrokers == "" {
			return err
		}
	}
	return fmt.Errorf("KAFKA_BROKERS: nothing answers at %s: start it, or leave the variable empty to have a broker started", l.kafka)
}

func (l *launch) upMail() error {
	if l.SMTPURL != "" {
		return nil
	}
	return l.supervisor.start(process{
		name: "mail", ready: answers200("http://" + l.at(mailPageOffset)), stop: syscall.SIGTERM, onDeath: syscall.SIGKILL,
		url: "http://" + l.at(mailPageOffset),
		command: func() *exec.Cmd {
			return exec.Command(l.self, "mailsink", "-dir", filepath.Join(l.DataDir, "mail"), "-smtp", l.at(smtpOffset), "-page", l.at(mailPageOffset))
		},
	})
}

func (l *launch) service(i int, name string) process {
	listen, admin := l.at(serviceOffset+i), l.at(serviceAdminOffset+i)
	smtp := l.SMTPURL
	if smtp == "" {
		smtp = "smtp://" + l.at(smtpOffset)
	}
	variables := l.variables(listen, admin)
	variables = append(variables, "DATABASE_URL="+l.urls[name], "SVC_MASTER_KEY="+l.knobs.MasterKey, "SVC_TIMEZONE="+l.Timezone,
		"SVC_RATE_FACTOR="+formatFactor(l.RateFactor))
	switch name {
	case "settings":
		variables = append(variables, "SVC_SMTP_URL="+smtp, "SVC_ADMIN_LOGIN="+l.AdminLogin, "SVC_ADMIN_PASSWORD="+l.knobs.AdminPassword,
			"SVC_ADMIN_EMAIL="+l.AdminEmail, "SVC_MAIL_FROM="+l.MailFrom)
	case "webhooks":
		variables = append(variables, "SVC_WEBHOOK_LOCAL="+l.WebhookLocal)
	}
	return l.ours(name, listen, admin, variables)
}

func (l *launch) controller() process {
	listen, admin := l.at(controllerOffset), l.at(controllerAdminOffset)
	return l.ours("gateway", listen, admin, append(l.variables(listen, admin), "SVC_DATA_DIR="+l.DataDir,
		"SVC_HTTP_PORT="+strconv.Itoa(l.HTTPPort), "SVC_HTTP_LISTEN="+l.at(0), "SVC_TRAEFIK_API="+l.at(traefikOffset)))
}

// variables are those that every process of ours takes.
func (l *launch) variables(listen, admin string) []string {
	return []string{"SVC_LISTEN=" + listen, "SVC_ADMIN_LISTEN=" + admin, "SVC_BASE_URL=http://" + listen, "SVC_PUBLIC_URL=" + l.PublicURL,
		"KAFKA_BROKERS=" + l.kafka, "OTEL_EXPORTER_OTLP_ENDPOINT=" + l.OTLPEndpoint}
}

func (l *launch) ours(name, listen, admin string, variables []string) process {
	return process{
		name: name, ready: answers200("http://" + admin + "/readyz"), stop: syscall.SIGTERM, onDeath: syscall.SIGKILL,
		url: "http://" + listen, admin: "http://" + admin,
		command: func() *exec.Cmd {
			cmd := exec.Command(filepath.Join(l.bin, name))
			cmd.Dir = l.DataDir
			cmd.Env = append(inherited(), variables...)
			return cmd
		},
	}
}

func (l *launch) proxy() process {
	return process{
		name: "traefik", ready: answers200("http://" + l.at(traefikOffset) + "/ping"), stop: syscall.SIGTERM, onDeath: syscall.SIGKILL,
		url: "http://" + l.at(0), admin: "http://" + l.at(traefikOffset),
		command: func() *exec.Cmd {
			cmd := exec.Command(l.traefik, "--configFile="+filepath.Join(l.DataDir, "gateway", "traefik.yml"))
			cmd.Dir = l.DataDir
			// Collecting less often saves a fifth of its processor time.
			cmd.Env = append(inherited(), "GOGC=400", "GOMEMLIMIT=512MiB")
			return cmd
		},
	}
}

// inherited is our environment without the variables that the launcher sets for each process: a secret of one process must
// not reach the others. TRAEFIK_* are left out too, since Traefik takes them as settings.
func inherited() []string {
	var kept []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "SVC_") || strings.HasPrefix(name, "TRAEFIK_") || strings.HasPrefix(name, "PG") ||
			name == "DATABASE_URL" || name == "KAFKA_BROKERS" {
			continue
		}
		kept = append(kept, v)
	}
	return kept
}

// routed is nil once Traefik routes to every service at its present address, not at that of an earlier run.
func (l *launch) routed(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.at(traefikOffset)+"/api/http/services", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var known []struct {
		Name         string
		LoadBalancer struct{ Servers []struct{ URL string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&known); err != nil {
		return fmt.Errorf("Traefik's API: %w", err)
	}
	addresses := map[string]string{}
	for _, s := range known {
		for _, server := range s.LoadBalancer.Servers {
			addresses[s.Name] = server.URL
		}
	}
	for i, name := range services {
		if addresses[name+"@file"] != "http://"+l.at(serviceOffset+i) {
			return fmt.Errorf("Traefik has no route to %s yet", name)
		}
	}
	return nil
}
