package kubernetes

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// cluster is a kube-apiserver with an etcd and no controllers: it admits, validates and stores objects, and starts no pod.
type cluster struct {
	tools      string // the folder of apiserver/build
	url, token string
	client     *http.Client
	kubeconfig string
	resources  map[string]string // the path of a kind's collection, with %s for the namespace, by "apiVersion Kind"
}

// begin starts a cluster that knows the operators' kinds. It skips the test where `make chart-server` does not run it.
func begin(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{tools: os.Getenv("KUBERNETES"), token: rand.Text(), resources: map[string]string{}}
	if c.tools == "" {
		t.Skip("KUBERNETES is not set: run make chart-server")
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	signing := file("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	etcd, peers, port := "http://127.0.0.1:"+freePort(t), "http://127.0.0.1:"+freePort(t), freePort(t)
	c.url = "https://127.0.0.1:" + port

	c.run(t, dir, "etcd", "--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level", "warn", "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	c.run(t, dir, "kube-apiserver", "--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--secure-port", port, "--cert-dir", dir, "--service-cluster-ip-range", "10.96.0.0/16",
		"--authorization-mode", "RBAC", "--anonymous-auth=false", "--token-auth-file", file("tokens.csv", c.token+",admin,admin,system:masters\n"),
		"--service-account-issuer", c.url, "--service-account-key-file", signing, "--service-account-signing-key-file", signing)

	authority := filepath.Join(dir, "apiserver.crt")
	eventually(t, func() bool {
		text, err := os.ReadFile(authority)
		roots := x509.NewCertPool()
		if err != nil || !roots.AppendCertsFromPEM(text) {
			return false
		}
		c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
		a, err := c.try(t.Context(), "GET", "/readyz", nil)
		return err == nil && a.status == 200
	}, "kube-apiserver does not become ready")

	config, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []any{map[string]any{"name": "test", "cluster": map[string]any{"server": c.url, "certificate-authority": authority}}},
		"users":    []any{map[string]any{"name": "test", "user": map[string]any{"token": c.token}}},
		"contexts": []any{map[string]any{"name": "test", "context": map[string]any{"cluster": "test", "user": "test"}}}})
	require.NoError(t, err)
	c.kubeconfig = file("kubeconfig", string(config))

	definitions, err := filepath.Glob(filepath.Join(c.tools, "definitions", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, definitions, 6)
	for _, path := range definitions {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		c.call(t, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text).is(t, 201)
	}
	for kind := range kinds {
		eventually(t, func() bool { return c.learn(t, kind) }, "the server does not know "+kind)
	}
	return c
}

// run starts a program of the tools' folder. The end of the test stops it, and shows its log if the test has failed.
func (c *cluster) run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, name+".log"))
	require.NoError(t, err)
	cmd := exec.Command(filepath.Join(c.tools, name), args...)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		log.Close()
		if said, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s: …%s", name, said[max(0, len(said)-2000):])
		}
	})
}

// eventually waits until ok returns true, and ends the test after a minute.
func eventually(t *testing.T, ok func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		require.True(t, time.Now().Before(end), what)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// answer is that of the server, with its warnings.
type answer struct {
	status   int
	body     []byte
	warnings []string
}

func (c *cluster) try(ctx context.Context, method, path string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/yaml")
	if method == "PATCH" {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	res, err := c.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, text, res.Header.Values("Warning")}, err
}

func (c *cluster) call(t *testing.T, method, path string, body []byte) answer {
	t.Helper()
	a, err := c.try(t.Context(), method, path, body)
	require.NoError(t, err)
	return a
}

func (a answer) is(t *testing.T, status int, what ...any) {
	t.Helper()
	require.Equal(t, status, a.status, "%s %s", fmt.Sprint(what...), a.body)
}

func (a answer) into(t *testing.T, value any) {
	t.Helper()
	a.is(t, 200)
	require.NoError(t, json.Unmarshal(a.body, value))
}

// learn looks up where the server has objects of a kind, "apiVersion Kind", and reports whether it serves them.
func (c *cluster) learn(t *testing.T, kind string) bool {
	t.Helper()
	version, name, _ := strings.Cut(kind, " ")
	root := "/apis/" + version
	if !strings.Contains(version, "/") {
		root = "/api/" + version
	}
	a, err := c.try(t.Context(), "GET", root, nil)
	var list meta.APIResourceList
	if err != nil || a.status != 200 || json.Unmarshal(a.body, &list) != nil {
		return false
	}
	for _, r := range list.APIResources {
		if r.Kind == name && !strings.Contains(r.Name, "/") {
			c.resources[kind] = root + "/namespaces/%s/" + r.Name
			a, err := c.try(t.Context(), "GET", fmt.Sprintf(c.resources[kind], "default"), nil)
			return err == nil && a.status == 200
		}
	}
	return false
}

// namespace makes one that admits pods of the level restricted only, with the account that a controller would make.
func (c *cluster) namespace(t *testing.T, name string) {
	t.Helper()
	const restricted = "labels: {pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/warn: restricted}"
	c.call(t, "POST", "/api/v1/namespaces", fmt.Appendf(nil, "metadata: {name: %s, %s}", name, restricted)).is(t, 201)
	c.call(t, "POST", "/api/v1/namespaces/"+name+"/serviceaccounts", []byte("metadata: {name: default}")).is(t, 201)
}

// create makes an object, refused if it has a field that the server does not know.
func (c *cluster) create(t *testing.T, namespace string, head meta.TypeMeta, text []byte) answer {
	t.Helper()
	return c.call(t, "POST", fmt.Sprintf(c.resources[head.APIVersion+" "+head.Kind], namespace)+"?fieldValidation=Strict", text)
}

// stored are the specs of the chart's objects in a namespace, by kind and name. They are without jobs, without the addresses and ports that
// the server chooses, and without the number of replicas where an autoscaler chooses it.
func (c *cluster) stored(t *testing.T, namespace string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for kind, path := range c.resources {
		var list struct {
			Items []struct {
				Metadata meta.ObjectMeta
				Spec     map[string]any
			}
		}
		c.call(t, "GET", fmt.Sprintf(path, namespace), nil).into(t, &list)
		for _, o := range list.Items {
			if strings.HasSuffix(kind, " Job") || o.Metadata.Labels["app.kubernetes.io/name"] != "frontdesk" {
				continue
			}
			if ip, ok := o.Spec["clusterIP"].(string); ok && ip != core.ClusterIPNone {
				maps.DeleteFunc(o.Spec, func(name string, _ any) bool {
					return slices.Contains([]string{"clusterIP", "clusterIPs", "healthCheckNodePort"}, name)
				})
				for _, port := range o.Spec["ports"].([]any) {
					delete(port.(map[string]any), "nodePort")
				}
			}
			_, kind, _ := strings.Cut(kind, " ")
			all[kind+" "+o.Metadata.Name] = o.Spec
		}
	}
	for key := range all {
		if name, ok := strings.CutPrefix(key, "HorizontalPodAutoscaler "); ok {
			delete(all["Deployment "+name].(map[string]any), "replicas")
		}
	}
	return all
}

// deployments are those of a namespace by name.
func (c *cluster) deployments(t *testing.T, namespace string) map[string]apps.Deployment {
	t.Helper()
	var list apps.DeploymentList
	c.call(t, "GET", "/apis/apps/v1/namespaces/"+namespace+"/deployments", nil).into(t, &list)
	all := map[string]apps.Deployment{}
	for _, d := range list.Items {
		all[d.Name] = d
	}
	return all
}

// helm runs a command of Helm on the release desk of a namespace, with values on standard input. It ends each job that the command
// starts, as if its pod had succeeded, and returns the names of these jobs.
func (c *cluster) helm(t *testing.T, namespace string, values map[string]any, args ...string) (jobs []string) {
	t.Helper()
	text, err := yaml.Marshal(values)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), filepath.Join(c.tools, "helm"), append(args, "--kubeconfig", c.kubeconfig, "--namespace", namespace)...)
	cmd.Stdin = bytes.NewReader(text)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	ctx, stop := context.WithCancel(t.Context())
	var controller sync.WaitGroup
	controller.Go(func() {
		done := map[string]bool{}
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			a, err := c.try(ctx, "GET", "/apis/batch/v1/namespaces/"+namespace+"/jobs", nil)
			var list batch.JobList
			if err != nil || json.Unmarshal(a.body, &list) != nil {
				continue
			}
			for _, j := range list.Items {
				if done[string(j.UID)] {
					continue
				}
				now := meta.Now()
				status, _ := json.Marshal(map[string]any{"status": batch.JobStatus{StartTime: &now, CompletionTime: &now, Succeeded: 1, Conditions: []batch.JobCondition{
					{Type: batch.JobSuccessCriteriaMet, Status: core.ConditionTrue, LastProbeTime: now, LastTransitionTime: now},
					{Type: batch.JobComplete, Status: core.ConditionTrue, LastProbeTime: now, LastTransitionTime: now}}}})
				if a, err := c.try(ctx, "PATCH", "/apis/batch/v1/namespaces/"+namespace+"/jobs/"+j.Name+"/status", status); err == nil && a.status == 200 {
					done[string(j.UID)], jobs = true, append(jobs, j.Name)
				}
			}
		}
	})
	said, err := cmd.CombinedOutput()
	stop()
	controller.Wait()
	require.NoError(t, err, "%s\n%s", cmd, said)
	slices.Sort(jobs)
	return jobs
}

func (c *cluster) install(t *testing.T, namespace string, values map[string]any) (jobs []string) {
	t.Helper()
	return c.helm(t, namespace, values, "install", "desk", ".", "--values", "-")
}

func (c *cluster) upgrade(t *testing.T, namespace string, values map[string]any) (jobs []string) {
	t.Helper()
	return c.helm(t, namespace, values, "upgrade", "desk", ".", "--values", "-")
}

// pod makes a pod of a template, as the controller of its owner would.
func (c *cluster) pod(t *testing.T, namespace, owner string, template core.PodTemplateSpec) answer {
	t.Helper()
	text, err := yaml.Marshal(core.Pod{ObjectMeta: meta.ObjectMeta{GenerateName: owner + "-", Labels: template.Labels}, Spec: template.Spec})
	require.NoError(t, err)
	return c.call(t, "POST", "/api/v1/namespaces/"+namespace+"/pods?fieldValidation=Strict", text)
}
