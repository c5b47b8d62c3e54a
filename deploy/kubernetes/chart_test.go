// Package kubernetes holds the tests of the chart beside it.
package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	cnpg "github.com/cloudnative-pg/api/pkg/api/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write files/rights.yaml")

var services = []string{"booking", "contacts", "forms", "settings", "webhooks"}

// rendered are the objects of one set of values, by kind and name, decoded strictly.
type rendered map[string]any

// kinds are the objects that the chart may make. Strimzi's types are Java's: their fields that the chart writes are in strimzi_test.go.
var kinds = map[string]func() any{
	"apps/v1 Deployment":                      func() any { return &apps.Deployment{} },
	"v1 Service":                              func() any { return &core.Service{} },
	"policy/v1 PodDisruptionBudget":           func() any { return &policy.PodDisruptionBudget{} },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() any { return &autoscaling.HorizontalPodAutoscaler{} },
	"batch/v1 Job":                            func() any { return &batch.Job{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return &networking.NetworkPolicy{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return &monitoring.ServiceMonitor{} },
	"monitoring.coreos.com/v1 PrometheusRule": func() any { return &monitoring.PrometheusRule{} },
	"postgresql.cnpg.io/v1 Cluster":           func() any { return &cnpg.Cluster{} },
	"kafka.strimzi.io/v1 Kafka":               func() any { return &kafka{} },
	"kafka.strimzi.io/v1 KafkaNodePool":       func() any { return &kafkaNodePool{} },
	"kafka.strimzi.io/v1 KafkaUser":           func() any { return &kafkaUser{} },
}

// oldClusters is the set of values that keeps the clusters of 1.0.
const oldClusters = "clusters of postgres with the names of 1.0"

// matrix are the sets of values that all tests look at.
func matrix(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{
		"least": {"publicURL": "http://localhost:8080", "kafka": map[string]any{"brokers": "kafka:9092"}},
		"a kafka without users, no policies, no jobs": {"publicURL": "http://localhost:8080", "kafka": map[string]any{"brokers": "kafka:9092", "users": false},
			"networkPolicies": map[string]any{"enabled": false}, "migrations": map[string]any{"enabled": false}},
		"a postgres by its operator, a kafka somewhere else": {"publicURL": "http://localhost:8080", "kafka": map[string]any{"brokers": "kafka:9092"},
			"cloudnativePG": map[string]any{"enabled": true}},
		oldClusters: {"publicURL": "http://localhost:8080", "kafka": map[string]any{"brokers": "kafka:9092"},
			"cloudnativePG": map[string]any{"enabled": true, "suffix": ""}},
		"https, and postgres with authorities of its own": {"publicURL": "https://localhost", "kafka": map[string]any{"brokers": "kafka:9092"},
			"gateway":  map[string]any{"tls": map[string]any{"secret": "desk-tls"}},
			"postgres": map[string]any{"ca": map[string]any{"secret": "postgres-ca"}},
			"services": map[string]any{"booking": map[string]any{"postgres": map[string]any{"ca": map[string]any{"secret": "booking-ca", "key": "root.pem"}}}}},
		"a kafka by its operator, a postgres somewhere else": {"publicURL": "http://localhost:8080", "strimzi": map[string]any{"enabled": true}},
		"traces, more variables, a node pool": {"publicURL": "http://localhost:8080", "kafka": map[string]any{"brokers": "a:9092,b:9093"}, "otlpEndpoint": "http://otel:4318",
			"env": map[string]any{"SVC_RATE_FACTOR": "2"}, "defaults": map[string]any{"nodeSelector": map[string]any{"pool": "desk"}},
			"image":   map[string]any{"pullSecrets": []any{map[string]any{"name": "registry"}}},
			"gateway": map[string]any{"tolerations": []any{map[string]any{"key": "edge", "operator": "Exists"}}}},
	}
	for _, name := range []string{"plain", "operators"} {
		text, err := os.ReadFile("examples/" + name + ".yaml")
		require.NoError(t, err)
		values := map[string]any{}
		require.NoError(t, yaml.UnmarshalStrict(text, &values))
		all[name] = values
	}
	return all
}

func each(t *testing.T, test func(t *testing.T, values map[string]any, objects rendered)) {
	t.Helper()
	for name, values := range matrix(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := render(values)
			require.NoError(t, err)
			test(t, values, objects)
		})
	}
}

// document is one object as the chart writes it.
type document struct {
	meta.PartialObjectMetadata
	file, text string
}

// documents are what `helm template desk .` makes of values.
func documents(values map[string]any) ([]document, error) {
	chart, err := loader.Load(".")
	if err != nil {
		return nil, err
	}
	all, err := util.ToRenderValues(chart, values, common.ReleaseOptions{Name: "desk", Namespace: "default", IsInstall: true, Revision: 1}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.RenderWithContext(context.Background(), chart, all)
	if err != nil {
		return nil, err
	}
	var made []document
	for _, file := range slices.Sorted(maps.Keys(files)) {
		for text := range strings.SplitSeq("\n"+files[file], "\n---") {
			if strings.TrimSpace(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(text, "")) == "" || strings.HasSuffix(file, ".tpl") {
				continue
			}
			d := document{file: file, text: text}
			if err := yaml.Unmarshal([]byte(text), &d.PartialObjectMetadata); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", file, err, text)
			}
			made = append(made, d)
		}
	}
	return made, nil
}

// render decodes the documents of values strictly.
func render(values map[string]any) (rendered, error) {
	all, err := documents(values)
	if err != nil {
		return nil, err
	}
	objects := rendered{}
	for _, d := range all {
		made, known := kinds[d.APIVersion+" "+d.Kind]
		if !known {
			return nil, fmt.Errorf("%s: no type for %s %s", d.file, d.APIVersion, d.Kind)
		}
		object := made()
		if err := yaml.UnmarshalStrict([]byte(d.text), object); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w\n%s", d.file, d.Kind, d.Name, err, d.text)
		}
		key := d.Kind + " " + d.Name
		if objects[key] != nil {
			return nil, fmt.Errorf("%s is made twice", key)
		}
		objects[key] = object
	}
	return objects, nil
}

// of are the objects of one type.
func of[T any](objects rendered) (all []T) {
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if o, ok := objects[key].(T); ok {
			all = append(all, o)
		}
	}
	return all
}

// pods are the templates of all pods, by the name of their deployment or job.
func pods(objects rendered) map[string]core.PodTemplateSpec {
	all := map[string]core.PodTemplateSpec{}
	for _, d := range of[*apps.Deployment](objects) {
		all[d.Name] = d.Spec.Template
	}
	for _, j := range of[*batch.Job](objects) {
		all[j.Name] = j.Spec.Template
	}
	return all
}

// selected are the pods that a selector matches.
func selected(t *testing.T, objects rendered, s *meta.LabelSelector) (names []string) {
	t.Helper()
	selector, err := meta.LabelSelectorAsSelector(s)
	require.NoError(t, err)
	for name, pod := range pods(objects) {
		if selector.Matches(labels.Set(pod.Labels)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestTheChartIsOfThisVersion(t *testing.T) {
	source, err := os.ReadFile("../../libs/version/version.go")
	require.NoError(t, err)
	number := regexp.MustCompile(`const Number = "(.*)"`).FindStringSubmatch(string(source))
	require.NotNil(t, number)
	chart, err := loader.Load(".")
	require.NoError(t, err)
	require.Equal(t, number[1], chart.Metadata.Version)
	require.Equal(t, number[1], chart.Metadata.AppVersion)
	require.NoError(t, chart.Validate())
	compose, err := os.ReadFile("../../docker-compose.yml")
	require.NoError(t, err)
	require.Contains(t, string(compose), "image: "+chart.Values["traefik"].(map[string]any)["image"].(string)+"\n")
}

func TestEveryServiceHasWhatItNeedsToRun(t *testing.T) {
	each(t, func(t *testing.T, _ map[string]any, objects rendered) {
		for _, name := range append(slices.Clone(services), "gateway") {
			d, ok := objects["Deployment desk-"+name].(*apps.Deployment)
			require.True(t, ok, name)
			require.Equal(t, []string{d.Name}, selected(t, objects, d.Spec.Selector), "its replicas and no other pod, the migration neither")
			require.Equal(t, intstr.FromInt(0), *d.Spec.Strategy.RollingUpdate.MaxUnavailable)
			require.NotEmpty(t, d.Spec.Template.Spec.TopologySpreadConstraints)
			for _, s := range d.Spec.Template.Spec.TopologySpreadConstraints {
				require.Equal(t, []string{d.Name}, selected(t, objects, s.LabelSelector))
			}
			budget, ok := objects["PodDisruptionBudget desk-"+name+"-replicas"].(*policy.PodDisruptionBudget)
			require.True(t, ok, name)
			require.Equal(t, policy.AlwaysAllow, *budget.Spec.UnhealthyPodEvictionPolicy, "%s: a pod that is not ready would keep its node from being drained", name)
			require.Equal(t, []string{d.Name}, selected(t, objects, budget.Spec.Selector))
			for _, c := range d.Spec.Template.Spec.Containers {
				require.NotNil(t, c.LivenessProbe, c.Name)
				require.NotNil(t, c.ReadinessProbe, c.Name)
				for _, probe := range []*core.Probe{c.LivenessProbe, c.ReadinessProbe} {
					require.True(t, slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == probe.HTTPGet.Port.StrVal }), "%s: %v", c.Name, probe.HTTPGet.Port)
				}
			}
		}
		for _, h := range of[*autoscaling.HorizontalPodAutoscaler](objects) {
			d, ok := objects["Deployment "+h.Spec.ScaleTargetRef.Name].(*apps.Deployment)
			require.True(t, ok, h.Name)
			require.Nil(t, d.Spec.Replicas, "an upgrade would set the replicas back")
			require.LessOrEqual(t, *h.Spec.MinReplicas, h.Spec.MaxReplicas)
		}
		for _, d := range of[*apps.Deployment](objects) {
			if d.Spec.Replicas == nil {
				require.Contains(t, objects, "HorizontalPodAutoscaler "+d.Name)
			}
		}
	})
}

func TestBookingScalesByProcessorTimeAndByLag(t *testing.T) {
	objects, err := render(matrix(t)["plain"])
	require.NoError(t, err)
	h, ok := objects["HorizontalPodAutoscaler desk-booking"].(*autoscaling.HorizontalPodAutoscaler)
	require.True(t, ok)
	require.Len(t, h.Spec.Metrics, 2)
	require.Equal(t, core.ResourceCPU, h.Spec.Metrics[0].Resource.Name)
	lag := h.Spec.Metrics[1].External
	require.Equal(t, map[string]string{"service": "booking"}, lag.Metric.Selector.MatchLabels, "the label that Prometheus gives to what it reads")
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "| `"+lag.Metric.Name+"` |")
	adapter, err := os.ReadFile("examples/adapter.yaml")
	require.NoError(t, err)
	require.Contains(t, string(adapter), "name: {as: "+lag.Metric.Name+"}")
}

func TestServicesMatchPodsAndPorts(t *testing.T) {
	each(t, func(t *testing.T, _ map[string]any, objects rendered) {
		byName := pods(objects)
		for _, s := range of[*core.Service](objects) {
			names := selected(t, objects, &meta.LabelSelector{MatchLabels: s.Spec.Selector})
			require.Len(t, names, 1, s.Name)
			for _, p := range s.Spec.Ports {
				require.NotZero(t, port(byName[names[0]], p.TargetPort), "%s: %s has no port %s", s.Name, names[0], p.TargetPort.String())
			}
		}
		for _, m := range of[*monitoring.ServiceMonitor](objects) {
			found := 0
			for _, s := range of[*core.Service](objects) {
				selector, err := meta.LabelSelectorAsSelector(&m.Spec.Selector)
				require.NoError(t, err)
				if !selector.Matches(labels.Set(s.Labels)) {
					continue
				}
				for _, e := range m.Spec.Endpoints {
					if slices.ContainsFunc(s.Spec.Ports, func(p core.ServicePort) bool { return p.Name == e.Port }) {
						found++
					}
				}
			}
			require.Equal(t, len(m.Spec.Endpoints), found, "%s finds each of its ports once", m.Name)
		}
		// Addresses of our own stand in variables.
		for name, pod := range byName {
			for variable, value := range variables(pod) {
				for _, m := range regexp.MustCompile(`https?://(desk-[a-z-]+):(\d+)`).FindAllStringSubmatch(value, -1) {
					s, ok := objects["Service "+m[1]].(*core.Service)
					require.True(t, ok, "%s: %s is %s", name, variable, value)
					require.True(t, slices.ContainsFunc(s.Spec.Ports, func(p core.ServicePort) bool { return fmt.Sprint(p.Port) == m[2] }), "%s: %s", variable, value)
				}
			}
		}
		hosts := variables(byName["desk-gateway"])["SVC_GATEWAY_HOSTS"]
		for _, name := range services {
			require.Contains(t, strings.Split(hosts, ","), name+"=desk-"+name)
			require.Equal(t, "http://desk-"+name+":8000", variables(byName["desk-"+name])["SVC_BASE_URL"])
		}
	})
}

// Rules and dashboards go by job and service, as the launcher's targets.json and the scrape configuration of Compose give them.
func TestMonitorsGiveTheLabelsOfOurScrapeConfigurations(t *testing.T) {
	want := []map[string]string{{"job": "traefik", "service": "traefik"}}
	for _, name := range append(slices.Clone(services), "gateway") {
		want = append(want, map[string]string{"job": "frontdesk", "service": name})
	}
	objects, err := render(matrix(t)["operators"])
	require.NoError(t, err)
	var have []map[string]string
	for _, m := range of[*monitoring.ServiceMonitor](objects) {
		for _, e := range m.Spec.Endpoints {
			require.False(t, e.HonorLabels, "a metric's own label would win")
			given := map[string]string{"job": m.Name, "service": m.Name} // by the operator, before relabelings
			for _, r := range e.RelabelConfigs {
				require.Equal(t, monitoring.RelabelConfig{TargetLabel: r.TargetLabel, Replacement: r.Replacement}, r, "%s sets a label to a word", m.Name)
				given[r.TargetLabel] = *r.Replacement
			}
			have = append(have, given)
		}
	}
	require.ElementsMatch(t, want, have)
}

func TestTheRulesOfTheChartAreThoseOfObserve(t *testing.T) {
	text, err := os.ReadFile("../observe/prometheus/rules.yml")
	require.NoError(t, err)
	var want monitoring.PrometheusRuleSpec
	require.NoError(t, yaml.UnmarshalStrict(text, &want))
	require.Len(t, want.Groups, 2)
	objects, err := render(matrix(t)["operators"])
	require.NoError(t, err)
	require.Equal(t, want, objects["PrometheusRule desk"].(*monitoring.PrometheusRule).Spec)
}

// port is the number of a target port, 0 if no container has it.
func port(pod core.PodTemplateSpec, target intstr.IntOrString) int32 {
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == target.StrVal || p.ContainerPort == target.IntVal {
				return p.ContainerPort
			}
		}
	}
	return 0
}

// variables are those of all containers of a pod; one from a Secret has the value "secret/name/key".
func variables(pod core.PodTemplateSpec) map[string]string {
	all := map[string]string{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, v := range c.Env {
			all[v.Name] = v.Value
			if v.ValueFrom != nil {
				all[v.Name] = "secret/" + v.ValueFrom.SecretKeyRef.Name + "/" + v.ValueFrom.SecretKeyRef.Key
			}
		}
	}
	return all
}

func TestEveryPodIsConfined(t *testing.T) {
	each(t, func(t *testing.T, _ map[string]any, objects rendered) {
		for name, pod := range pods(objects) {
			require.True(t, *pod.Spec.SecurityContext.RunAsNonRoot, name)
			require.Equal(t, core.SeccompProfileTypeRuntimeDefault, pod.Spec.SecurityContext.SeccompProfile.Type)
			require.False(t, *pod.Spec.AutomountServiceAccountToken, name)
			volumes := map[string]bool{}
			for _, v := range pod.Spec.Volumes {
				volumes[v.Name] = true
			}
			for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
				require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
				require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, c.Name)
				require.Equal(t, []core.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
				require.NotZero(t, c.Resources.Requests.Cpu().MilliValue(), c.Name)
				require.NotZero(t, c.Resources.Limits.Memory().Value(), c.Name)
				for _, m := range c.VolumeMounts {
					require.True(t, volumes[m.Name], "%s mounts %s", c.Name, m.Name)
				}
			}
		}
	})
}

// Our image has programs, and no file that a variable could name.
func TestEveryPathThatAContainerIsToldLiesBelowOneOfItsMounts(t *testing.T) {
	each(t, func(t *testing.T, _ map[string]any, objects rendered) {
		for name, pod := range pods(objects) {
			for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
				for _, path := range paths(c) {
					require.True(t, slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return strings.HasPrefix(path+"/", m.MountPath+"/") }),
						"%s: %s is told of %s and mounts no folder above it", name, c.Name, path)
				}
			}
		}
	})
	objects, err := render(matrix(t)["operators"])
	require.NoError(t, err)
	require.Subset(t, paths(pods(objects)["desk-gateway"].Spec.InitContainers[0]), []string{"/tls/tls.crt", "/tls/tls.key", "/kafka/ca.crt", "/data"})
}

// paths are the absolute paths in the arguments and variables of a container.
func paths(c core.Container) (all []string) {
	said := slices.Concat(c.Command, c.Args)
	for _, v := range c.Env {
		said = append(said, v.Value)
	}
	for _, value := range said {
		for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '=' || r == ' ' }) {
			if strings.HasPrefix(part, "/") {
				all = append(all, part)
			}
		}
	}
	return all
}

// The kubelet evicts a pod that fills its node's disk; one that has asked for what it may write is not the first.
func TestEveryEmptyFolderHasASizeThatItsPodAsksFor(t *testing.T) {
	each(t, func(t *testing.T, _ map[string]any, objects rendered) {
		for name, pod := range pods(objects) {
			var most, asked int64
			for _, v := range pod.Spec.Volumes {
				if v.EmptyDir == nil {
					continue
				}
				require.NotNil(t, v.EmptyDir.SizeLimit, "%s: %s", name, v.Name)
				require.True(t, slices.ContainsFunc(pod.Spec.Containers, func(c core.Container) bool { return mounts(c, v.Name) }), "%s: nobody writes to %s", name, v.Name)
				most += v.EmptyDir.SizeLimit.Value()
			}
			for _, c := range pod.Spec.Containers {
				asked += c.Resources.Requests.StorageEphemeral().Value()
			}
			require.NotZero(t, most, name)
			require.GreaterOrEqual(t, asked, most, name)
			for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
				if slices.ContainsFunc(pod.Spec.Volumes, func(v core.Volume) bool { return v.EmptyDir != nil && mounts(c, v.Name) }) {
					require.NotZero(t, c.Resources.Requests.StorageEphemeral().Value(), "%s: %s", name, c.Name)
				}
			}
		}
	})
}

// mounts reports whether a container may write to a volume.
func mounts(c core.Container, volume string) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return m.Name == volume && !m.ReadOnly })
}

// An operator takes over an object that has the name of one of its own.
func TestNoObjectHasANameThatAnOperatorGives(t *testing.T) {
	each(t, func(t *testing.T, _ map[string]any, objects rendered) {
		given := map[string]string{}
		give := func(of, kind string, names ...string) {
			for _, name := range names {
				require.Empty(t, given[kind+" "+name], "%s: %s %s", of, kind, name)
				given[kind+" "+name] = of
			}
		}
		for _, c := range of[*cnpg.Cluster](objects) {
			n := c.Name
			give(n, "PodDisruptionBudget", n, n+"-primary")
			give(n, "Service", n+"-rw", n+"-ro", n+"-r", n+"-any")
			give(n, "Secret", n+"-app", n+"-superuser", n+"-ca", n+"-server", n+"-replication", n+"-pull")
			give(n, "Job", n+"-1-initdb", n+"-2-join", n+"-3-join")
			for _, kind := range []string{"ServiceAccount", "Role", "RoleBinding", "PodMonitor"} {
				give(n, kind, n)
			}
		}
		for _, k := range of[*kafka](objects) {
			n := k.Metadata.Name
			give(n, "PodDisruptionBudget", n+"-kafka")
			give(n, "Service", n+"-kafka-bootstrap", n+"-kafka-brokers")
			give(n, "Secret", n+"-cluster-ca", n+"-cluster-ca-cert", n+"-clients-ca", n+"-clients-ca-cert", n+"-kafka-brokers", n+"-cluster-operator-certs",
				n+"-entity-user-operator-certs", n+"-entity-topic-operator-certs")
			give(n, "Deployment", n+"-entity-operator")
			give(n, "NetworkPolicy", n+"-network-policy-kafka", n+"-entity-operator")
			give(n, "ServiceAccount", n+"-kafka", n+"-entity-operator")
		}
		for _, u := range of[*kafkaUser](objects) {
			give("user "+u.Metadata.Name, "Secret", u.Metadata.Name)
		}
		for key := range objects {
			require.Empty(t, given[key], "%s is a name that the operator of %s gives", key, given[key])
		}
	})
}

// sslrootcert in the address of a database is the file that README.md names.
func TestAPostgresOfOnesOwnHasItsAuthority(t *testing.T) {
	const file = "/postgres/ca.crt"
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "sslmode=verify-full&sslrootcert="+file)
	objects, err := render(matrix(t)["https, and postgres with authorities of its own"])
	require.NoError(t, err)
	for _, name := range services {
		want := &core.SecretVolumeSource{SecretName: "postgres-ca", Items: []core.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}
		if name == "booking" {
			want = &core.SecretVolumeSource{SecretName: "booking-ca", Items: []core.KeyToPath{{Key: "root.pem", Path: "ca.crt"}}}
		}
		for _, of := range []string{"desk-" + name, "desk-" + name + "-migrate"} {
			pod := pods(objects)[of]
			require.Contains(t, pod.Spec.Volumes, core.Volume{Name: "postgres", VolumeSource: core.VolumeSource{Secret: want}}, of)
			require.Contains(t, pod.Spec.Containers[0].VolumeMounts, core.VolumeMount{Name: "postgres", MountPath: filepath.Dir(file), ReadOnly: true}, of)
		}
	}
	gateway := pods(objects)["desk-gateway"]
	require.False(t, slices.ContainsFunc(gateway.Spec.Volumes, func(v core.Volume) bool { return v.Name == "postgres" }), "the gateway has no database")
}

// help is what -help of a program lists: the variables, and whether one is required.
var help = sync.OnceValues(func() (map[string]map[string]bool, error) {
	all := map[string]map[string]bool{}
	for _, name := range append(slices.Clone(services), "gateway") {
		program := "./services/" + name
		if name == "gateway" {
			program = "./gateway"
		}
		cmd := exec.Command("go", "run", program, "-help")
		cmd.Dir = "../.."
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOWORK=") })
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", program, err, out)
		}
		all[name] = map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^  ([A-Z][A-Z_]+) +(.*)$`).FindAllStringSubmatch(string(out), -1) {
			all[name][m[1]] = strings.Contains(m[2], "required")
		}
	}
	return all, nil
})

func TestEveryVariableIsOneThatTheProgramTakes(t *testing.T) {
	known, err := help()
	require.NoError(t, err)
	each(t, func(t *testing.T, _ map[string]any, objects rendered) {
		for name, pod := range pods(objects) {
			for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
				if c.Name == "traefik" {
					continue
				}
				program := c.Command[0]
				require.NotEmpty(t, known[program], program)
				set := map[string]bool{}
				for _, v := range c.Env {
					require.Contains(t, known[program], v.Name, "%s: %s does not take it", name, program)
					require.False(t, set[v.Name], "%s: %s is set twice", name, v.Name)
					set[v.Name] = true
				}
				for variable, required := range known[program] {
					require.True(t, set[variable] || !required, "%s: %s is required", name, variable)
				}
				// Beside a key of its own a service needs those that all share.
				require.True(t, set["SVC_PUBLIC_KEYS"])
				require.Equal(t, program != "gateway", set["SVC_SHARED_KEY"])
				require.Equal(t, set["SVC_KAFKA_USER"], set["SVC_KAFKA_PASSWORD"])
			}
		}
	})
}

func TestSecretsComeByReferenceOnly(t *testing.T) {
	named := regexp.MustCompile(`(PASSWORD|KEY|KEYS|DATABASE_URL|SMTP_URL)$`)
	each(t, func(t *testing.T, _ map[string]any, objects rendered) {
		for name, pod := range pods(objects) {
			for variable, value := range variables(pod) {
				if named.MatchString(variable) && variable != "SVC_TLS_KEY" {
					require.True(t, strings.HasPrefix(value, "secret/"), "%s: %s", name, variable)
				}
			}
			service := strings.TrimSuffix(strings.TrimPrefix(name, "desk-"), "-migrate")
			for variable, value := range variables(pod) {
				for _, other := range services {
					if other != service {
						require.NotContains(t, value, "/"+strings.ToUpper(other)+"_", "%s holds %s of another", name, variable)
						require.NotContains(t, value, "secret/desk-"+other, "%s holds %s of another", name, variable)
					}
				}
			}
		}
	})
}

func TestASchemaIsMigratedAheadOfItsReplicas(t *testing.T) {
	each(t, func(t *testing.T, values map[string]any, objects rendered) {
		operators := values["cloudnativePG"] != nil || values["strimzi"] != nil
		for _, name := range services {
			j, ok := objects["Job desk-"+name+"-migrate"].(*batch.Job)
			if values["migrations"] != nil {
				require.False(t, ok)
				continue
			}
			require.True(t, ok, name)
			require.Equal(t, !operators, strings.Contains(j.Annotations["helm.sh/hook"], "pre-install"), "what the operators make is not there before an installation")
			require.Contains(t, j.Annotations["helm.sh/hook"], "pre-upgrade")
			c, replica := j.Spec.Template.Spec.Containers[0], pods(objects)["desk-"+name].Spec.Containers[0]
			require.Equal(t, []string{name, "migrate"}, c.Command)
			require.Equal(t, replica.Env, c.Env)
			require.Equal(t, replica.Image, c.Image)
		}
	})
}

// A process reaches its own PostgreSQL, Kafka and names, and is reached by the gateway.
func TestPoliciesLetThroughWhatIsNeededAndNothingElse(t *testing.T) {
	objects, err := render(matrix(t)["plain"])
	require.NoError(t, err)
	for _, name := range services {
		p, ok := objects["NetworkPolicy desk-"+name].(*networking.NetworkPolicy)
		require.True(t, ok, name)
		require.Equal(t, []string{"desk-" + name, "desk-" + name + "-migrate"}, selected(t, objects, &p.Spec.PodSelector))
		require.Equal(t, []networking.PolicyType{"Ingress", "Egress"}, p.Spec.PolicyTypes)
		require.Equal(t, []string{"desk-gateway"}, selected(t, objects, p.Spec.Ingress[0].From[0].PodSelector))
		require.Nil(t, p.Spec.Ingress[0].From[0].NamespaceSelector, "of this namespace")
		require.Equal(t, []int32{8000, 9000}, numbers(p.Spec.Ingress[0].Ports))
		for _, rule := range p.Spec.Ingress {
			require.NotEmpty(t, rule.From, "%s is open to everybody", name)
		}
		server := "10.1.3.10/32"
		if name == "booking" {
			server = "10.1.3.20/32"
		}
		want := map[string][]int32{"names": {53, 53}, "10.1.2.0/24": {9093}, server: {5432}}
		switch name {
		case "settings":
			want["desk-gateway"], want["mail"], want["0.0.0.0/0"] = []int32{8080}, []int32{587}, []int32{443}
		case "webhooks":
			want["0.0.0.0/0"] = []int32{1}
		}
		got := map[string][]int32{}
		for _, rule := range p.Spec.Egress {
			switch {
			case len(rule.To) == 0:
				got["mail"] = numbers(rule.Ports)
			case rule.To[0].IPBlock != nil:
				got[rule.To[0].IPBlock.CIDR] = numbers(rule.Ports)
				if rule.To[0].IPBlock.CIDR == "0.0.0.0/0" {
					require.Contains(t, rule.To[0].IPBlock.Except, "10.0.0.0/8")
				}
			case rule.To[0].NamespaceSelector != nil:
				got["names"] = numbers(rule.Ports)
			default:
				got[strings.Join(selected(t, objects, rule.To[0].PodSelector), " ")] = numbers(rule.Ports)
			}
		}
		require.Equal(t, want, got, name)
	}
	g := objects["NetworkPolicy desk-gateway"].(*networking.NetworkPolicy)
	require.Equal(t, []string{"desk-gateway"}, selected(t, objects, &g.Spec.PodSelector))
	last := g.Spec.Egress[len(g.Spec.Egress)-1]
	require.Equal(t, []string{"desk-booking", "desk-contacts", "desk-forms", "desk-settings", "desk-webhooks"}, selected(t, objects, last.To[0].PodSelector))
	require.Equal(t, []int32{8000, 9000}, numbers(last.Ports))
}

func TestAReceiverThatTheOperatorAllowsIsReachedThroughThePolicy(t *testing.T) {
	values := matrix(t)["plain"]
	values["fetchAllow"] = []any{"10.9.0.0/16", "10.8.0.1:8080", "crm.example.com", "[fd00::1]:80"}
	objects, err := render(values)
	require.NoError(t, err)
	for name, reaches := range map[string]bool{"webhooks": true, "settings": true, "booking": false} {
		got := map[string][]int32{}
		for _, rule := range objects["NetworkPolicy desk-"+name].(*networking.NetworkPolicy).Spec.Egress {
			if len(rule.To) > 0 && rule.To[0].IPBlock != nil {
				got[rule.To[0].IPBlock.CIDR] = numbers(rule.Ports)
			}
		}
		if reaches {
			require.Equal(t, []int32{1}, got["10.9.0.0/16"])
			require.Equal(t, []int32{8080}, got["10.8.0.1/32"])
		} else {
			require.NotContains(t, got, "10.9.0.0/16")
		}
	}
	require.Contains(t, objects["Deployment desk-webhooks"].(*apps.Deployment).Spec.Template.Spec.Containers[0].Env,
		core.EnvVar{Name: "SVC_FETCH_ALLOW", Value: "10.9.0.0/16,10.8.0.1:8080,crm.example.com,[fd00::1]:80"})
}

func TestTheAuditStreamReachesItsServerFromSettingsOnly(t *testing.T) {
	values := matrix(t)["plain"]
	values["auditStream"] = "syslog+tls://logs.example.com"
	objects, err := render(values)
	require.NoError(t, err)
	for _, name := range []string{"settings", "webhooks"} {
		reached := false
		for _, rule := range objects["NetworkPolicy desk-"+name].(*networking.NetworkPolicy).Spec.Egress {
			reached = reached || slices.Contains(numbers(rule.Ports), 6514)
		}
		require.Equal(t, name == "settings", reached)
		stream := core.EnvVar{Name: "SVC_AUDIT_STREAM", Value: "syslog+tls://logs.example.com"}
		require.Equal(t, name == "settings", slices.Contains(objects["Deployment desk-"+name].(*apps.Deployment).Spec.Template.Spec.Containers[0].Env, stream))
	}
}

func TestTheProviderOfSignInsIsKnownToSettingsOnly(t *testing.T) {
	values := matrix(t)["plain"]
	values["oidc"] = map[string]any{"issuer": "https://login.example.com", "clientID": "desk", "roles": "desk=staff", "only": true}
	objects, err := render(values)
	require.NoError(t, err)
	for name, v := range pods(objects) {
		got := variables(v)
		if !strings.HasPrefix(name, "desk-settings") {
			require.NotContains(t, got, "SVC_OIDC_ISSUER", name)
			continue
		}
		require.Equal(t, []string{"https://login.example.com", "desk", "desk=staff", "true", "groups", "mfa"},
			[]string{got["SVC_OIDC_ISSUER"], got["SVC_OIDC_CLIENT_ID"], got["SVC_OIDC_ROLES"], got["SVC_OIDC_ONLY"], got["SVC_OIDC_CLAIM"], got["SVC_OIDC_MFA"]})
		require.True(t, strings.HasSuffix(got["SVC_OIDC_CLIENT_SECRET"], "/SVC_OIDC_CLIENT_SECRET"), got["SVC_OIDC_CLIENT_SECRET"])
	}
}

func numbers(ports []networking.NetworkPolicyPort) (all []int32) {
	for _, p := range ports {
		all = append(all, p.Port.IntVal)
	}
	return all
}

func TestWithOperatorsEachServiceHasItsOwnPostgresAndUser(t *testing.T) {
	objects, err := render(matrix(t)["operators"])
	require.NoError(t, err)
	for _, name := range services {
		c, ok := objects["Cluster desk-"+name+"-postgres"].(*cnpg.Cluster)
		require.True(t, ok, name)
		v := variables(pods(objects)["desk-"+name])
		require.Equal(t, "secret/"+c.Name+"-app/uri", v["DATABASE_URL"], "the operator makes it")
		u, ok := objects["KafkaUser "+v["SVC_KAFKA_USER"]].(*kafkaUser)
		require.True(t, ok, name)
		require.Equal(t, "secret/"+u.Metadata.Name+"/password", v["SVC_KAFKA_PASSWORD"])
		require.Equal(t, "desk", u.Metadata.Labels["strimzi.io/cluster"])
		p := objects["NetworkPolicy desk-"+name].(*networking.NetworkPolicy)
		require.True(t, slices.ContainsFunc(p.Spec.Egress, func(r networking.NetworkPolicyEgressRule) bool {
			return len(r.To) == 1 && r.To[0].PodSelector != nil && r.To[0].PodSelector.MatchLabels["cnpg.io/cluster"] == c.Name
		}), "%s reaches its own server", name)
	}
	k, ok := objects["Kafka desk"].(*kafka)
	require.True(t, ok)
	v := variables(pods(objects)["desk-gateway"])
	require.Equal(t, fmt.Sprintf("desk-kafka-bootstrap:%d", k.Spec.Kafka.Listeners[0].Port), v["KAFKA_BROKERS"])
	require.True(t, k.Spec.Kafka.Listeners[0].TLS)
}

// New clusters beside those of 1.0 would be empty, and services would start on them.
func TestClustersOfBeforeAreKeptOrRefused(t *testing.T) {
	chart, err := loader.Load(".")
	require.NoError(t, err)
	for name, refused := range map[string]bool{"operators": true, oldClusters: false} {
		values, err := util.ToRenderValues(chart, matrix(t)[name], common.ReleaseOptions{Name: "desk", Namespace: "here"}, common.DefaultCapabilities)
		require.NoError(t, err)
		_, err = engine.RenderWithClientProvider(chart, values, installed{"postgresql.cnpg.io/v1 Cluster here/desk-contacts"})
		if !refused {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, `the cluster desk-contacts of an earlier version is there, and a new one would be empty: set cloudnativePG.suffix to "" to keep it`)
	}
}

// installed are the objects of a cluster as a template looks them up, each as "group/version Kind namespace/name".
type installed []string

// GetClientFor is that of engine.ClientProvider.
func (i installed) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return lookup{objects: i, kind: apiVersion + " " + kind}, true, nil
}

type lookup struct {
	dynamic.NamespaceableResourceInterface
	objects         installed
	kind, namespace string
}

func (l lookup) Namespace(namespace string) dynamic.ResourceInterface {
	l.namespace = namespace
	return l
}

func (l lookup) Get(_ context.Context, name string, _ meta.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	if !slices.Contains(l.objects, l.kind+" "+l.namespace+"/"+name) {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, name)
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}, nil
}

// The statements of a cluster are those that `local provision` runs.
func TestAClusterIsSetUpAsProvisionDoes(t *testing.T) {
	source, err := os.ReadFile("../../libs/db/pgserver/provision.go")
	require.NoError(t, err)
	objects, err := render(matrix(t)["operators"])
	require.NoError(t, err)
	statements := objects["Cluster desk-booking-postgres"].(*cnpg.Cluster).Spec.Bootstrap.InitDB.PostInitApplicationSQL
	general := strings.NewReplacer("frontdesk_booking", "{role}", "DATABASE frontdesk", "DATABASE {db}", "SCHEMA booking", "SCHEMA {schema}", "search_path = booking", "search_path = {schema}")
	for _, s := range statements {
		s = strings.ReplaceAll(general.Replace(s), "CREATE SCHEMA ", "CREATE SCHEMA IF NOT EXISTS ")
		if e, ok := strings.CutPrefix(s, "CREATE EXTENSION "); ok {
			name, _, _ := strings.Cut(e, " ")
			binaries, err := os.ReadFile("../../libs/db/pgserver/binaries.go")
			require.NoError(t, err)
			require.Regexp(t, `extensions = \[\]string\{.*"`+name+`"`, string(binaries))
			continue
		}
		require.True(t, strings.Contains(string(source), "`"+s+"`"), "provision.go has no %s", s)
	}
	// Each statement there, but for those that make the role and the database.
	require.Len(t, statements, 3+4+6)
}

// files/rights.yaml are the rights that `local provision-kafka` gives; -update writes them.
func TestUsersOfStrimziHaveTheRightsThatFollowFromTheTopics(t *testing.T) {
	cmd := exec.Command("go", "run", "./deploy/local", "provision-kafka", "-print")
	cmd.Dir = "../.."
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOWORK=") })
	out, err := cmd.Output()
	require.NoError(t, err)
	rights := map[string][]right{}
	for _, m := range regexp.MustCompile(`(?m)--add --allow-principal User:(\S+) --(\S+) (\S+)((?: --operation \S+)+)$`).FindAllStringSubmatch(string(out), -1) {
		r := right{Resource: m[2], Name: m[3], Operations: strings.Split(strings.TrimPrefix(m[4], " --operation "), " --operation ")}
		rights[m[1]] = append(rights[m[1]], r)
	}
	require.Len(t, rights, 6)
	var text bytes.Buffer
	text.WriteString("# Written by go test -run Strimzi -update, from `local provision-kafka -print`.\n")
	for _, user := range slices.Sorted(maps.Keys(rights)) {
		fmt.Fprintf(&text, "%s:\n", user)
		for _, r := range rights[user] {
			line, err := json.Marshal(r)
			require.NoError(t, err)
			fmt.Fprintf(&text, "  - %s\n", line)
		}
	}
	file := filepath.Join("files", "rights.yaml")
	if *update {
		require.NoError(t, os.WriteFile(file, text.Bytes(), 0o644))
	}
	is, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text.String(), string(is), "go test -run Strimzi -update")
	objects, err := render(matrix(t)["operators"])
	require.NoError(t, err)
	for user, all := range rights {
		require.Len(t, objects["KafkaUser desk-"+user].(*kafkaUser).Spec.Authorization.ACLs, len(all))
	}
}

type right struct {
	Resource   string   `json:"resource"`
	Name       string   `json:"name"`
	Operations []string `json:"operations"`
}

func TestWhatCannotWorkIsRefused(t *testing.T) {
	for say, values := range map[string]map[string]any{
		"publicURL":     {"kafka": map[string]any{"brokers": "kafka:9092"}},
		"kafka.brokers": {"publicURL": "http://localhost:8080"},
		"more than 50 letters": {"publicURL": "http://localhost:8080", "strimzi": map[string]any{"enabled": true},
			"cloudnativePG": map[string]any{"enabled": true, "suffix": "-postgres-of-the-whole-house-and-garden"}},
	} {
		_, err := render(values)
		require.ErrorContains(t, err, say)
	}
}
