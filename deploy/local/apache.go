package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"frontdesk/libs/bus"
	"frontdesk/libs/db/pgserver/tether"
	"frontdesk/libs/durable"
	"frontdesk/libs/freeport"
)

const (
	apacheVersion = "4.4.0"
	// apachePOM leaves out kafka-tools-api, which Maven Central lacks for this version; only command line tools load it.
	apachePOM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>frontdesk</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>` + apacheVersion + `</version>
      <exclusions><exclusion><groupId>org.apache.kafka</groupId><artifactId>kafka-tools-api</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`
	copyDependencies = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
)

// apacheBroker is one node of Apache Kafka, broker and controller in one.
type apacheBroker struct {
	jars, dir       string
	java, configure string
}

// apachePorts are those of a node on this machine: for users with passwords, and for administrators and for the node itself,
// who have certificates.
type apachePorts struct{ users, admin, control int }

// newApacheBroker fetches the jars into sharedTools, makes certificates and formats dir, each if that was not done before. It starts
// nothing.
func newApacheBroker(ctx context.Context, dir string, ports apachePorts, say func(string, ...any)) (*apacheBroker, error) {
	tools, err := sharedTools()
	if err != nil {
		return nil, err
	}
	b := &apacheBroker{jars: filepath.Join(tools, "kafka-"+apacheVersion), dir: dir, configure: filepath.Join(dir, "server.properties")}
	if b.java, err = exec.LookPath("java"); err != nil {
		return nil, errors.New("Apache Kafka needs Java 17 or newer, which is missing: install it, for instance with 'apt-get install default-jre-headless'")
	}
	if err := b.fetch(ctx, say); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // it holds people's data
		return nil, err
	}
	if err := issueKafka(dir, dir, dir, "127.0.0.1", "localhost"); err != nil {
		return nil, err
	}
	lines := []string{
		"process.roles=broker,controller",
		"node.id=1",
		fmt.Sprintf("controller.quorum.voters=1@127.0.0.1:%d", ports.control),
		"controller.listener.names=CONTROLLER",
		fmt.Sprintf("listeners=USERS://127.0.0.1:%d,ADMIN://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", ports.users, ports.admin, ports.control),
		fmt.Sprintf("advertised.listeners=USERS://127.0.0.1:%d,ADMIN://127.0.0.1:%d", ports.users, ports.admin),
		"listener.security.protocol.map=USERS:SASL_SSL,ADMIN:SSL,CONTROLLER:SSL",
		"inter.broker.listener.name=ADMIN",
		"listener.name.admin.ssl.client.auth=required",
		"listener.name.controller.ssl.client.auth=required",
		"ssl.keystore.type=PEM",
		"ssl.keystore.location=" + filepath.Join(dir, "broker.pem"),
		"ssl.truststore.type=PEM",
		"ssl.truststore.location=" + filepath.Join(dir, "ca.pem"),
		"sasl.enabled.mechanisms=SCRAM-SHA-512",
		"listener.name.users.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
		"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users=User:CN=broker;User:CN=" + administrator + ";User:" + administrator,
		"log.dirs=" + filepath.Join(dir, "data"),
		"auto.create.topics.enable=false",
		// One broker has no replica: what it has acknowledged survives a loss of power only if it is on the disk.
		"log.flush.interval.messages=1",
		// The defaults expect three nodes.
		"offsets.topic.replication.factor=1",
		"offsets.topic.num.partitions=4",
		"share.coordinator.state.topic.replication.factor=1",
		"share.coordinator.state.topic.min.isr=1",
		"transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1",
		"group.initial.rebalance.delay.ms=0",
		// A node that was killed registers again only after its former session has expired, by default after 9 s. With
		// much less than 5 s a busy machine loses its broker.
		"broker.session.timeout.ms=5000",
		"broker.heartbeat.interval.ms=1000",
	}
	if err := os.WriteFile(b.configure, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return nil, err
	}
	const cluster = "ZnJvbnRkZXNrLWthZmthLQ" // any 22 characters of base64 will do
	out, err := b.run(ctx, "kafka.tools.StorageTool", "format", "--cluster-id", cluster, "--config", b.configure, "--ignore-formatted").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("Apache Kafka could not format %s: %w: %s", dir, err, clip(string(out)))
	}
	return b, nil
}

func (b *apacheBroker) fetch(ctx context.Context, say func(string, ...any)) error {
	if _, err := os.Stat(b.jars); err == nil {
		return nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return errors.New("fetching Apache Kafka needs Maven, which is missing: install it, for instance with 'apt-get install maven'")
	}
	say("fetching Apache Kafka %s from Maven Central (43 MB, once)", apacheVersion)
	work := b.jars + ".new"
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	pom := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(pom, []byte(apachePOM), 0o644); err != nil {
		return err
	}
	lib := filepath.Join(work, "lib")
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-ntp", "-f", pom, copyDependencies, "-DincludeScope=runtime", "-DoutputDirectory="+lib)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("Maven could not fetch Apache Kafka: %w: %s", err, clip(strings.TrimSpace(string(out))))
	}
	return os.Rename(lib, b.jars)
}

func (b *apacheBroker) run(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, b.java, append([]string{"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-cp", filepath.Join(b.jars, "*")}, args...)...)
}

func (b *apacheBroker) command() *exec.Cmd {
	return b.run(context.Background(), "kafka.Kafka", b.configure)
}

// apacheLogin is the administrator's at a node with this folder.
func apacheLogin(dir string) bus.LoginOptions {
	pair := filepath.Join(dir, "administrator.pem")
	return bus.LoginOptions{CA: filepath.Join(dir, "ca.pem"), Cert: pair, Key: pair}
}

// grantApache waits for a node and gives its administrator a password, which a file in dir keeps.
func grantApache(ctx context.Context, dir string, ports apachePorts) error {
	path := filepath.Join(dir, "password")
	password, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		password = []byte(rand.Text())
		err = durable.Write(path, password)
	}
	if err != nil {
		return err
	}
	k := kafkaAccess{own: true, admin: freeport.At(ports.admin), login: apacheLogin(dir)}
	b, err := k.connect()
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	for {
		if err = b.Grant(ctx, map[string]string{administrator: string(password)}); err == nil || ctx.Err() != nil {
			return err
		}
		if _, refused := errors.AsType[bus.Refused](err); refused {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// apacheKafka runs a node until it is told to stop.
func apacheKafka(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("apache-kafka", flag.ExitOnError)
	port := flags.Int("port", 9092, "port of the broker on 127.0.0.1, 0 for a free one; administrators and its controller take the next two")
	dir := flags.String("dir", filepath.Join(".run", "apache-kafka"), "folder of the data, certificates and passwords")
	_ = flags.Parse(args)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	data, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	if *port == 0 {
		if *port, err = freeport.Block(3); err != nil {
			return err
		}
	}
	ports := apachePorts{users: *port, admin: *port + 1, control: *port + 2}
	for n, of := range map[int]string{ports.users: "Kafka", ports.admin: "Kafka's port for administrators", ports.control: "Kafka's controller"} {
		if freeport.Check(n) != nil {
			return fmt.Errorf("port %d (%s) is taken: stop the program that listens there, or choose another, for instance make kafka KAFKA_PORT=19092", n, of)
		}
	}
	say := func(format string, a ...any) { fmt.Printf(format+"\n", a...) }
	b, err := newApacheBroker(ctx, data, ports, say)
	if err != nil {
		return err
	}
	cmd := b.command()
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := tether.Start(cmd, syscall.SIGKILL); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	granted := make(chan error, 1)
	go func() { granted <- grantApache(ctx, data, ports) }()
	for waits := true; waits; {
		select {
		case <-ended:
			return fmt.Errorf("Apache Kafka ended by itself: %s", cmd.ProcessState)
		case err := <-granted:
			if err != nil {
				_ = cmd.Process.Kill()
				return err
			}
			granted = nil
			say("Apache Kafka %s listens on %s; Ctrl-C stops it\nFor administrators, with the certificate %s: %s", apacheVersion, freeport.At(ports.users),
				filepath.Join(data, "administrator.pem"), freeport.At(ports.admin))
			say("To use it: KAFKA_BROKERS=%s SVC_KAFKA_CA=%s SVC_KAFKA_USER=%s SVC_KAFKA_PASSWORD=$(cat %s) make run", freeport.At(ports.users),
				filepath.Join(data, "ca.pem"), administrator, filepath.Join(data, "password"))
		case <-ctx.Done():
			waits = false
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
	}
	return nil
}
