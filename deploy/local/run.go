package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/freeport"
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
	kafka            kafkaAccess
	urls             map[string]string // service to database
	admin            string            // the administrator's URL of the database with all schemas
	apache           *apacheBroker
	traefik          string
	supervisor       *supervisor
	state            *stateFile
	started          time.Time
}

func run(ctx context.Context, args []string) error {
	// Tests start the launcher so: it ends when they do, however they end.
	withInput := slices.Equal(args, []string{"-with-input"})
	if len(args) > 0 && !withInput {
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
	if withInput {
		go endWith(os.Stdin, signals)
	}
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
	l.supervisor.stopAll(append([]string{"gateway"}, l.replicaNames()...), []string{"traefik"}, []string{"mail"}, []string{"kafka"}, []string{"postgres"})
	l.state.remove()
	if ctx.Err() != nil {
		l.say("stopped")
		return nil
	}
	return err
}

// endWith asks for a stop when nobody holds the other end of input any more.
func endWith(input io.Reader, signals chan<- os.Signal) {
	_, _ = io.Copy(io.Discard, input)
	signals <- syscall.SIGTERM
}

func (l *launch) say(format string, args ...any) {
	fmt.Printf("%6.1fs  "+format+"\n", append([]any{time.Since(l.started).Seconds()}, args...)...)
}

// choose settles the ports and the secrets, and writes the first run.json.
func (l *launch) choose() error {
	if l.HTTPPort == 0 {
		var err error
		if l.HTTPPort, err = freeport.Block(l.lastOffset() + 1); err != nil {
			return err
		}
	}
	if l.PublicURL == "" {
		l.PublicURL = "http://localhost:" + strconv.Itoa(l.HTTPPort)
	}
	if err := checkPorts(l.ports()); err != nil {
		return err
	}
	if err := l.learnSecrets(); err != nil {
		return err
	}
	l.kafka = l.accessKafka()
	s := state{
		PID: os.Getpid(), DataDir: l.DataDir, Gateway: "http://" + l.at(0), PublicURL: l.PublicURL,
		Dashboard: "http://" + l.at(controllerAdminOffset), Traefik: "http://" + l.at(traefikOffset),
		Kafka: l.kafka.admin, KafkaLogin: l.kafka.login, KafkaUsers: l.kafka.users, Admin: stateAdmin{Login: l.AdminLogin},
	}
	if l.own {
		s.Admin.Password = l.knobs.AdminPassword
	}
	if l.SMTPURL == "" {
		s.MailPage = "http://" + l.at(mailPageOffset)
	}
	l.state = newStateFile(l.DataDir, s)
	l.supervisor = newSupervisor(filepath.Join(l.DataDir, "log"), time.Duration(l.LogDays)*24*time.Hour, filepath.Join(l.DataDir, "hold"), l.say, func() {
		_ = l.state.change(func(s *state) { s.Processes = l.supervisor.processes() })
	})
	return l.state.change(func(*state) {})
}

// learnSecrets reads the secrets of the data folder, and makes those that are not there yet. Those of the environment count first.
func (l *launch) learnSecrets() (err error) {
	if l.secrets, err = loadSecrets(l.DataDir, services); err != nil {
		return err
	}
	if l.knobs.MasterKey == "" {
		l.knobs.MasterKey = l.secrets.MasterKey
	}
	if l.own = l.knobs.AdminPassword == ""; l.own {
		l.knobs.AdminPassword = l.secrets.AdminPassword
	}
	return nil
}

// at is the address at an offset from the gateway's port.
func (l *launch) at(offset int) string { return freeport.At(l.HTTPPort + offset) }

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
			ports = append(ports, port{apacheControlOffset, "Kafka's controller"}, port{apacheAdminOffset, "Kafka's port for administrators"})
		}
	}
	for _, r := range l.replicasOf(services...) {
		ports = append(ports, port{r.offset, r.name}, port{r.adminOffset, "health and metrics of " + r.name})
	}
	for i := range ports {
		ports[i].number += l.HTTPPort
	}
	return ports
}

// up starts everything and returns when the gateway routes to every service. It starts database, broker and mail sink and
// builds the programs at the same time; then it starts all our processes at once, because each waits for what it needs. Traefik
// may still be compiling then, and is started last.
func (l *launch) up(ctx context.Context) error {
	b := builder{root: l.root, bin: l.bin, say: l.say}
	compiling, stop := context.WithCancel(ctx)
	var traefik errgroup.Group
	defer func() { stop(); _ = traefik.Wait() }()
	traefik.Go(func() (err error) {
		l.traefik, err = b.traefik(compiling, l.TraefikBin)
		return err
	})
	prepare, inner := errgroup.WithContext(ctx)
	prepare.Go(func() error { return l.upPostgres(inner) })
	prepare.Go(func() error { return l.upKafka(inner) })
	prepare.Go(l.upMail)
	prepare.Go(func() error { return b.ours(inner, services) })
	if err := prepare.Wait(); err != nil {
		return err
	}
	if err := l.supervisor.start(l.controller()); err != nil {
		return err
	}
	for _, r := range l.replicasOf(services...) {
		if err := l.supervisor.start(l.service(r)); err != nil {
			return err
		}
	}
	if err := traefik.Wait(); err != nil {
		return err
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
	if err := l.supervisor.waitReady(limited, append([]string{"traefik", "gateway"}, l.replicaNames()...)...); err != nil {
		return err
	}
	if err := l.supervisor.await(limited, "gateway", l.routed); err != nil {
		return err
	}
	if err := l.state.change(func(s *state) { s.Ready = true }); err != nil {
		return err
	}
	fmt.Print(l.screen())
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
	l.admin = inDatabase(admin, config.Database)
	return l.state.change(func(s *state) { s.Database = l.admin })
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

// replica is a process of a service, with its ports as offsets from the gateway's.
type replica struct {
	// name is that of the service for the first, and booking-2 for the second.
	name, service       string
	offset, adminOffset int
}

// replicasOf lists the processes of services.
func (l *launch) replicasOf(names ...string) (all []replica) {
	for _, name := range names {
		i := slices.Index(services, name)
		for n := range 1 + l.replicas[name] {
			all = append(all, replica{replicaName(name, n), name, serviceOffset + i + n*replicaOffset, serviceAdminOffset + i + n*replicaOffset})
		}
	}
	return all
}

// replicaName names a process of a service, from 0 on.
func replicaName(service string, n int) string {
	if n == 0 {
		return service
	}
	return service + "-" + strconv.Itoa(n+1)
}

func (l *launch) replicaNames() (names []string) {
	for _, r := range l.replicasOf(services...) {
		names = append(names, r.name)
	}
	return names
}

// addresses are those of all replicas of a service.
func (l *launch) addresses(service string) (all []string) {
	for _, r := range l.replicasOf(service) {
		all = append(all, "http://"+l.at(r.offset))
	}
	return all
}

func (l *launch) service(r replica) process {
	name, listen, admin := r.service, l.at(r.offset), l.at(r.adminOffset)
	smtp := l.SMTPURL
	if smtp == "" {
		smtp = "smtp://" + l.at(smtpOffset) + "?page=" + url.QueryEscape(l.mailPage())
	}
	variables := l.variables(name, listen, admin)
	variables = append(variables, "DATABASE_URL="+l.urls[name], "SVC_MASTER_KEY="+app.ServiceKey(l.knobs.MasterKey, name), "SVC_SHARED_KEY="+l.secrets.SharedKey,
		"SVC_TIMEZONE="+l.Timezone, "SVC_RATE_FACTOR="+formatFactor(l.RateFactor), "SVC_FETCH_ALLOW="+l.FetchAllow, "SVC_PPROF="+strconv.FormatBool(l.Pprof))
	if l.secrets.SharedKey == "" {
		// The services of this folder began with one key for all. What they stored under it stays readable.
		variables = append(variables, "SVC_SHARED_KEY="+l.knobs.MasterKey, "SVC_OLD_KEYS="+l.knobs.MasterKey)
	}
	switch name {
	case "settings":
		variables = append(variables, "SVC_SMTP_URL="+smtp, "SVC_ADMIN_LOGIN="+l.AdminLogin, "SVC_ADMIN_PASSWORD="+l.knobs.AdminPassword,
			"SVC_ADMIN_EMAIL="+l.AdminEmail, "SVC_MAIL_FROM="+l.MailFrom, "SVC_AUDIT_STREAM="+l.AuditStream, "SVC_SECURITY_CONTACT="+l.Security, "SVC_ROBOTS="+l.Robots,
			"SVC_OIDC_ISSUER="+l.OIDCIssuer, "SVC_OIDC_CLIENT_ID="+l.OIDCClient, "SVC_OIDC_CLIENT_SECRET="+l.OIDCSecret, "SVC_OIDC_NAME="+l.OIDCName,
			"SVC_OIDC_CLAIM="+l.OIDCClaim, "SVC_OIDC_ROLES="+l.OIDCRoles, "SVC_OIDC_MFA="+l.OIDCMFA, "SVC_OIDC_ONLY="+l.OIDCOnly, "SVC_GATEWAY_URL=http://"+l.at(0))
	case "webhooks":
		variables = append(variables, "SVC_WEBHOOK_LOCAL="+l.WebhookLocal)
	}
	// The gateway finds all replicas by the manifest, which any of them publishes.
	variables = append(variables, "SVC_BASE_URL="+strings.Join(l.addresses(name), ","))
	return l.ours(r.name, name, listen, admin, variables)
}

func (l *launch) controller() process {
	listen, admin := l.at(controllerOffset), l.at(controllerAdminOffset)
	return l.ours("gateway", "gateway", listen, admin, append(l.variables(proto.Gateway, listen, admin), "SVC_DATA_DIR="+l.DataDir,
		"SVC_HTTP_PORT="+strconv.Itoa(l.HTTPPort), "SVC_HTTP_LISTEN="+l.at(0), "SVC_TRAEFIK_API="+l.at(traefikOffset), "SVC_MEASURE_EVERY="+l.MeasureEvery))
}

// variables are those that every process of ours takes.
func (l *launch) variables(name, listen, admin string) []string {
	return append(l.kafka.variables(name), "SVC_LISTEN="+listen, "SVC_ADMIN_LISTEN="+admin, "SVC_BASE_URL=http://"+listen, "SVC_PUBLIC_URL="+l.PublicURL,
		"SVC_PUBLIC_KEYS="+publicKeys(func(name string) string { return app.ServiceKey(l.knobs.MasterKey, name) }),
		"SVC_TRUSTED_PROXIES="+l.Proxies, "SVC_KAFKA_PARTITIONS="+strconv.Itoa(l.Partitions), "OTEL_EXPORTER_OTLP_ENDPOINT="+l.OTLPEndpoint)
}

func (l *launch) ours(name, program, listen, admin string, variables []string) process {
	return process{
		name: name, ready: answers200("http://" + admin + "/readyz"), stop: syscall.SIGTERM, onDeath: syscall.SIGKILL,
		url: "http://" + listen, admin: "http://" + admin,
		command: func() *exec.Cmd {
			cmd := exec.Command(filepath.Join(l.bin, program))
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
	addresses := map[string][]string{}
	for _, s := range known {
		for _, server := range s.LoadBalancer.Servers {
			addresses[s.Name] = append(addresses[s.Name], server.URL)
		}
	}
	for _, name := range services {
		if !slices.Equal(slices.Sorted(slices.Values(addresses[name+"@file"])), slices.Sorted(slices.Values(l.addresses(name)))) {
			return fmt.Errorf("Traefik has no route to %s yet", name)
		}
	}
	return nil
}
