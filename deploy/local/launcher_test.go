package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/bus"
)

// The launcher starts its own program for the broker and the mail sink; here that program is the test.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "kafka" || os.Args[1] == "mailsink" || os.Args[1] == "env" || os.Args[1] == "with" || os.Args[1] == "keys") {
		main()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "run" {
		os.Exit(standIn())
	}
	os.Exit(m.Run())
}

func newLaunch(t *testing.T) *launch {
	t.Helper()
	t.Setenv("SVC_HTTP_PORT", "0")
	t.Setenv("SVC_DATA_DIR", t.TempDir())
	k, err := readKnobs()
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(k.DataDir, "log"), 0o755))
	l := &launch{knobs: k, tools: filepath.Join(k.DataDir, "tools"), self: "/proc/self/exe", started: time.Now()}
	require.NoError(t, l.choose())
	t.Cleanup(func() { l.supervisor.stopAll([]string{"mail"}, []string{"kafka"}, []string{"postgres"}) })
	return l
}

func (l *launch) pid(name string) int { return l.supervisor.processes()[name].PID }

func TestWhatIsKilledComesBackWithItsData(t *testing.T) {
	l := newLaunch(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, l.upPostgres(ctx))
	require.NoError(t, l.upKafka(ctx))
	require.NoError(t, l.upMail())

	db, err := pgx.Connect(ctx, l.urls["contacts"])
	require.NoError(t, err)
	_, err = db.Exec(ctx, `CREATE TABLE contacts.kept AS SELECT 1 AS n`)
	require.NoError(t, err)
	login, err := bus.NewLogin(l.kafka.login)
	require.NoError(t, err)
	topics := &kafka.Client{Addr: kafka.TCP(l.kafka.admin), Transport: login.Transport()}
	made, err := topics.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: "kept", NumPartitions: 1, ReplicationFactor: 1}}})
	require.NoError(t, err)
	require.NoError(t, made.Errors["kept"])
	w := &kafka.Writer{Addr: kafka.TCP(l.kafka.admin), Transport: login.Transport(), Topic: "kept", RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond}
	require.NoError(t, w.WriteMessages(ctx, kafka.Message{Value: []byte("one")}))
	require.NoError(t, w.Close())

	for _, name := range []string{"postgres", "kafka", "mail"} {
		before := l.pid(name)
		require.NoError(t, syscall.Kill(before, syscall.SIGKILL))
		require.Eventually(t, func() bool { return l.pid(name) != before }, 20*time.Second, 10*time.Millisecond)
		require.NoError(t, l.supervisor.waitReady(ctx, name))
	}
	db, err = pgx.Connect(ctx, l.urls["contacts"])
	require.NoError(t, err)
	defer db.Close(ctx)
	var n int
	require.NoError(t, db.QueryRow(ctx, `SELECT n FROM kept`).Scan(&n))
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{l.kafka.admin}, Dialer: login.Dialer("", 10*time.Second), Topic: "kept", MaxWait: 50 * time.Millisecond})
	defer r.Close()
	m, err := r.ReadMessage(ctx)
	require.NoError(t, err)
	require.Equal(t, "one", string(m.Value))

	var s state
	b, err := os.ReadFile(filepath.Join(l.DataDir, "run.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &s))
	require.Equal(t, l.pid("kafka"), s.Processes["kafka"].PID)
	require.Equal(t, 1, s.Processes["postgres"].Restarts)
}

func TestATakenPortIsNamedWithWhatToDo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	err = checkPorts([]port{{l.Addr().(*net.TCPAddr).Port, "Kafka"}})
	require.ErrorContains(t, err, "(Kafka) is taken")
	require.ErrorContains(t, err, "SVC_HTTP_PORT")
}

func TestASecondRunOnTheSameDataIsRefused(t *testing.T) {
	dir := t.TempDir()
	first, err := lock(dir)
	require.NoError(t, err)
	_, err = lock(dir)
	require.ErrorContains(t, err, "in use by another run")
	require.NoError(t, first.Close())
	again, err := lock(dir)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func TestSecretsAreMadeOnceAndForTheOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	first, err := loadSecrets(dir, services)
	require.NoError(t, err)
	made, err := os.Stat(filepath.Join(dir, "secrets.json"))
	require.NoError(t, err)
	again, err := loadSecrets(dir, services)
	require.NoError(t, err)
	require.Equal(t, first, again)
	kept, err := os.Stat(filepath.Join(dir, "secrets.json"))
	require.NoError(t, err)
	require.True(t, os.SameFile(made, kept), "what has not changed is not written again: a loss of power meanwhile would take the only keys")
	require.Len(t, first.MasterKey, 64)
	require.Len(t, first.RolePasswords, len(services))
	info, err := os.Stat(filepath.Join(dir, "secrets.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.Mkdir(filepath.Join(dir, "postgres"), 0o700))
	require.NoError(t, os.Remove(filepath.Join(dir, "secrets.json")))
	_, err = loadSecrets(dir, services)
	require.ErrorContains(t, err, "put it back")
}

func TestEachKnobIsChecked(t *testing.T) {
	t.Run("a word for a number", func(t *testing.T) {
		t.Setenv("SVC_HTTP_PORT", "http")
		_, err := readKnobs()
		require.ErrorContains(t, err, "SVC_HTTP_PORT has to be a number")
	})
	for name, value := range map[string]string{
		"SVC_HTTP_PORT":     "65530",
		"SVC_RATE_FACTOR":   "-1",
		"SVC_WEBHOOK_LOCAL": "yes",
		"SVC_FETCH_ALLOW":   "http://crm/",
		"SVC_AUDIT_STREAM":  "file:audit.jsonl",
		"SVC_MASTER_KEY":    "short",
		"SVC_TIMEZONE":      "Europe/Nowhere",
		"SVC_SMTP_URL":      "http://mail",
		"DATABASE_URL":      "mysql://db",
		"KAFKA_BROKERS":     "kafka",
		"SVC_KAFKA":         "rabbit",
		"SVC_PUBLIC_URL":    "localhost",
		"SVC_LOG_DAYS":      "0",
		"SVC_MEASURE_EVERY": "11s",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := readKnobs()
			require.ErrorContains(t, err, name)
		})
	}
}

func TestOnlyErrorsReachTheTerminal(t *testing.T) {
	for line, want := range map[string]string{
		`{"time":"t","level":"INFO","msg":"hello"}`:                          "",
		`{"level":"WARN","msg":"slow"}`:                                      "",
		`{"level":"ERROR","msg":"relay stopped","err":"no broker"}`:          "relay stopped: no broker",
		`{"level":"error","error":"no file","message":"provider"}`:           "provider: no file",
		`2026-11-20 12:00:00 UTC FATAL:  password authentication`:            "FATAL:  password authentication",
		`2026-11-20 12:00:00 UTC FATAL:  the database system is starting up`: "",
		`2026-11-20 12:00:00 UTC ERROR:  duplicate key value violates`:       "",
		`panic: runtime error`:                                               "panic: runtime error",
		`ordinary`:                                                           "",
	} {
		t.Run(line, func(t *testing.T) {
			short, _ := problem(line)
			require.Equal(t, want, short)
		})
	}
}

func TestACommandGetsServersAndItsOwnExitStatus(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "env", "--", "sh", "-c", `echo "$TEST_DATABASE_URL $TEST_KAFKA_BROKERS"; exit 7`)
	cmd.Env = os.Environ()
	for i, v := range cmd.Env {
		if strings.HasPrefix(v, "TEST_DATABASE_URL=") || strings.HasPrefix(v, "TEST_KAFKA_BROKERS=") {
			cmd.Env[i] = "REPLACED="
		}
	}
	out, err := cmd.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.ExitCode())
	db, broker, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	require.Contains(t, db, "postgres://")
	_, _, err = net.SplitHostPort(broker)
	require.NoError(t, err)
}

func TestTheMailPageIsReadyWhenItAnswers(t *testing.T) {
	l := newLaunch(t)
	require.NoError(t, l.upMail())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	require.NoError(t, l.supervisor.waitReady(ctx, "mail"))
	resp, err := http.Get("http://" + l.at(mailPageOffset) + "/api/mails")
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

func TestALaunchWithInputStopsWhenItsInputEnds(t *testing.T) {
	read, write := io.Pipe()
	signals := make(chan os.Signal, 1)
	go endWith(read, signals)
	_, err := write.Write([]byte("a key was pressed\n"))
	require.NoError(t, err)
	require.Empty(t, signals)
	require.NoError(t, write.Close())
	require.Equal(t, syscall.SIGTERM, <-signals)
}

func TestPrometheusIsToldOfEveryProcessAndReplica(t *testing.T) {
	s := state{Processes: map[string]stateProcess{"postgres": {}, "booking": {Admin: "http://127.0.0.1:8103"}, "booking-2": {Admin: "http://127.0.0.1:8123"},
		"gateway": {Admin: "http://127.0.0.1:8087"}, "traefik": {Admin: "http://127.0.0.1:8085"}}}
	require.Equal(t, []target{
		{[]string{"127.0.0.1:8103"}, map[string]string{"job": "frontdesk", "service": "booking"}},
		{[]string{"127.0.0.1:8123"}, map[string]string{"job": "frontdesk", "service": "booking"}},
		{[]string{"127.0.0.1:8087"}, map[string]string{"job": "frontdesk", "service": "gateway"}},
		{[]string{"127.0.0.1:8085"}, map[string]string{"job": "traefik", "service": "traefik"}},
	}, s.targets())
}
