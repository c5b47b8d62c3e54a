//go:build podman

package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// podman runs a command of podman and returns what it prints.
func podman(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := tryPodman(input, args...)
	require.NoError(t, err, "podman %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(out)
}

func tryPodman(input string, args ...string) (string, error) {
	cmd := exec.Command("podman", args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// answers waits until an address answers 200 inside a container of our image.
func answers(t *testing.T, container, url string) {
	t.Helper()
	var said string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		var err error
		if said, err = tryPodman("", "exec", container, "local", "get", url); err == nil {
			return
		}
	}
	logs, _ := tryPodman("", "logs", "--tail", "20", container)
	require.Fail(t, container+" does not answer "+url, "%s\n%s", said, logs)
}

// The pods of all deployments run with podman beside a PostgreSQL and a Kafka in containers. README.md says what podman leaves out.
func TestPodmanRunsTheWorkloads(t *testing.T) {
	const network, secret, password = "desk-test", "desk-test", "0123456789abcdef"
	compose, err := os.ReadFile("../../docker-compose.yml")
	require.NoError(t, err)
	imageOf := func(name string) string {
		found := regexp.MustCompile(`image: ((?:apache/)?` + name + `:\S+)`).FindStringSubmatch(string(compose))
		require.NotNil(t, found, name)
		return found[1]
	}
	podman(t, "", "network", "create", network)
	t.Cleanup(func() { podman(t, "", "network", "rm", "--force", network) })
	runs := func(name string, args ...string) {
		podman(t, "", append([]string{"run", "--detach", "--rm", "--network", network, "--name", "desk-test-" + name, "--network-alias", name}, args...)...)
		t.Cleanup(func() { podman(t, "", "rm", "--force", "--volumes", "desk-test-"+name) })
	}
	runs("postgres", "--env", "POSTGRES_PASSWORD="+password, "--env", "POSTGRES_INITDB_ARGS=--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8",
		imageOf("postgres"), "postgres", "-c", "max_connections=300")
	runs("kafka", "--env", "KAFKA_NODE_ID=1", "--env", "KAFKA_PROCESS_ROLES=broker,controller", "--env", "KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:9093",
		"--env", "KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER", "--env", "KAFKA_LISTENERS=USERS://:9092,CONTROLLER://localhost:9093",
		"--env", "KAFKA_ADVERTISED_LISTENERS=USERS://kafka:9092", "--env", "KAFKA_INTER_BROKER_LISTENER_NAME=USERS",
		"--env", "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=USERS:PLAINTEXT,CONTROLLER:PLAINTEXT", "--env", "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1",
		"--env", "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR=1", "--env", "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=1", imageOf("kafka"))

	// The secret is a map in JSON here, because podman 4.3 cannot read the Secrets that it makes of YAML.
	values := map[string][]byte{"SVC_ADMIN_PASSWORD": []byte("correct horse battery staple")}
	for line := range strings.Lines(podman(t, "", "run", "--rm", "frontdesk", "local", "keys")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = []byte(value)
	}
	provision := []string{"run", "--rm", "--network", network, "--env", "DATABASE_URL=postgres://postgres:" + password + "@postgres:5432/postgres?sslmode=disable"}
	for _, name := range services {
		provision = append(provision, "--env", strings.ToUpper(name)+"_DB_PASSWORD="+password)
		values[strings.ToUpper(name)+"_DATABASE_URL"] = fmt.Appendf(nil, "postgres://frontdesk_%s:%s@postgres:5432/frontdesk?sslmode=disable", name, password)
	}
	require.Eventually(t, func() bool {
		_, err := tryPodman("", append(provision, "frontdesk", "local", "provision")...)
		return err == nil
	}, time.Minute, time.Second, "PostgreSQL does not answer")
	text, err := json.Marshal(values)
	require.NoError(t, err)
	podman(t, string(text), "secret", "create", secret, "-")
	t.Cleanup(func() { podman(t, "", "secret", "rm", secret) })

	objects, err := render(map[string]any{
		"publicURL": "http://localhost:8080", "secret": secret, "kafka": map[string]any{"brokers": "kafka:9092", "users": false},
		"image": map[string]any{"repository": "frontdesk", "tag": "latest", "pullPolicy": "Never"}})
	require.NoError(t, err)
	played := map[string]bool{}
	for _, d := range of[*apps.Deployment](objects) {
		*d.Spec.Replicas = 1
		for i := range d.Spec.Template.Spec.Containers {
			c := &d.Spec.Template.Spec.Containers[i]
			// podman asks by curl inside of the container, where none is, and publishes every port on this machine.
			c.LivenessProbe, c.ReadinessProbe, c.Ports = nil, nil, nil
		}
		// Otherwise podman 4.3 removes the first one while it still ends.
		d.Annotations = map[string]string{"io.podman.annotations.init.container.type": "always"}
		// Volumes without a name are volumes of podman's by theirs: each pod gets its own.
		for i, v := range d.Spec.Template.Spec.Volumes {
			d.Spec.Template.Spec.Volumes[i].Name = d.Name + "-" + v.Name
		}
		for _, containers := range [][]core.Container{d.Spec.Template.Spec.InitContainers, d.Spec.Template.Spec.Containers} {
			for _, c := range containers {
				for i, m := range c.VolumeMounts {
					c.VolumeMounts[i].Name = d.Name + "-" + m.Name
				}
			}
		}
		text, err := yaml.Marshal(d)
		require.NoError(t, err)
		t.Cleanup(func() { podman(t, string(text), "kube", "down", "-") })
		// The name of its Service.
		podman(t, string(text), "kube", "play", "--network", network+":alias="+d.Name, "-")
		played[d.Name] = true
	}
	require.Len(t, played, len(services)+1)

	for _, name := range services {
		answers(t, "desk-"+name+"-pod-0-"+name, "http://127.0.0.1:9000/readyz")
	}
	const controller = "desk-gateway-pod-0-controller"
	answers(t, controller, "http://127.0.0.1:9000/readyz")
	// Through Traefik, which is in the same pod.
	answers(t, controller, "http://127.0.0.1:8080/v1/booking/services")
	for _, container := range []string{"desk-booking-pod-0-booking", controller, "desk-gateway-pod-0-traefik"} {
		require.Equal(t, "true []", podman(t, "", "inspect", "--format", "{{.HostConfig.ReadonlyRootfs}} {{.BoundingCaps}}", container), container)
	}
}
