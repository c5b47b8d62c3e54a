package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"frontdesk/libs/db/pgserver/tether"
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
	port, control   int
	java, configure string
}

// newApacheBroker fetches the jars into tools and formats dir, each if that was not done before. It starts nothing.
func newApacheBroker(ctx context.Context, tools, dir string, port, control int, say func(string, ...any)) (*apacheBroker, error) {
	b := &apacheBroker{jars: filepath.Join(tools, "kafka-"+apacheVersion), dir: dir, port: port, control: control, configure: filepath.Join(dir, "server.properties")}
	var err error
	if b.java, err = exec.LookPath("java"); err != nil {
		return nil, errors.New("Apache Kafka needs Java 17 or newer, which is missing: install it, for instance with 'apt-get install default-jre-headless'")
	}
	if err := b.fetch(ctx, say); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // it holds people's data
		return nil, err
	}
	lines := []string{
		"process.roles=broker,controller",
		"node.id=1",
		fmt.Sprintf("controller.quorum.voters=1@127.0.0.1:%d", control),
		"controller.listener.names=CONTROLLER",
		fmt.Sprintf("listeners=PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", port, control),
		fmt.Sprintf("advertised.listeners=PLAINTEXT://127.0.0.1:%d", port),
		"listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
		"log.dirs=" + filepath.Join(dir, "data"),
		"auto.create.topics.enable=false",
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

// apacheKafka runs a node until it is told to stop.
func apacheKafka(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("apache-kafka", flag.ExitOnError)
	port := flags.Int("port", 9092, "port of the broker on 127.0.0.1, 0 for a free one; its controller takes the next one")
	dir := flags.String("dir", filepath.Join(".run", "apache-kafka"), "folder of the data")
	_ = flags.Parse(args)
	root, err := projectRoot()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	data, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	if *port == 0 {
		if *port, err = freeBase(); err != nil {
			return err
		}
	}
	for n, of := range map[int]string{*port: "Kafka", *port + 1: "Kafka's controller"} {
		if free(n) != nil {
			return fmt.Errorf("port %d (%s) is taken: stop the program that listens there, or choose another, for instance make kafka KAFKA_PORT=19092", n, of)
		}
	}
	say := func(format string, a ...any) { fmt.Printf(format+"\n", a...) }
	b, err := newApacheBroker(ctx, filepath.Join(root, ".run", "tools"), data, *port, *port+1, say)
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
	go func() {
		for ctx.Err() == nil {
			if c, err := net.DialTimeout("tcp", loopback(*port), time.Second); err == nil {
				c.Close()
				say("Apache Kafka %s listens on %s; Ctrl-C stops it\nTo use it: KAFKA_BROKERS=%[2]s make run", apacheVersion, loopback(*port))
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	select {
	case <-ended:
		return fmt.Errorf("Apache Kafka ended by itself: %s", cmd.ProcessState)
	case <-ctx.Done():
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
