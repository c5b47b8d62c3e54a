package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batch "k8s.io/api/batch/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestAServerTakesTheChart(t *testing.T) {
	c := begin(t)
	sets := matrix(t)
	names := slices.Sorted(maps.Keys(sets))
	fresh := map[string]map[string]any{}

	t.Run("each object of each set of values is accepted without a warning, and so are the pods", func(t *testing.T) {
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				namespace := fmt.Sprintf("fresh-%d", i)
				c.namespace(t, namespace)
				all, err := documents(sets[name])
				require.NoError(t, err)
				for _, d := range all {
					a := c.create(t, namespace, d.TypeMeta, []byte(d.text))
					a.is(t, 201, d.Kind, " ", d.Name)
					require.Empty(t, a.warnings, "%s %s", d.Kind, d.Name)
				}
				objects, err := render(sets[name])
				require.NoError(t, err)
				for owner, template := range pods(objects) {
					c.pod(t, namespace, owner, template).is(t, 201, owner)
				}
				fresh[name] = c.stored(t, namespace)
			})
		}
	})

	t.Run("one wrong thing is refused, in each kind", func(t *testing.T) {
		const namespace = "wrong"
		c.namespace(t, namespace)
		refused := map[string]bool{}
		for _, name := range names {
			all, err := documents(sets[name])
			require.NoError(t, err)
			for _, d := range all {
				var object map[string]any
				require.NoError(t, yaml.Unmarshal([]byte(d.text), &object))
				object["spec"].(map[string]any)["notAField"] = true
				text, err := yaml.Marshal(object)
				require.NoError(t, err)
				a := c.create(t, namespace, d.TypeMeta, text)
				a.is(t, 400, d.Kind, " ", d.Name)
				require.Contains(t, string(a.body), "notAField")
				refused[d.APIVersion+" "+d.Kind] = true
			}
		}
		require.Len(t, refused, len(kinds))
		objects, err := render(sets["plain"])
		require.NoError(t, err)
		pod := pods(objects)["desk-booking"]
		text, err := yaml.Marshal(map[string]any{"metadata": map[string]any{"name": "other"}, "spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]string{"of": "another"}}, "template": pod}})
		require.NoError(t, err)
		a := c.create(t, namespace, meta.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, text)
		a.is(t, 422)
		require.Contains(t, string(a.body), "selector")
		pod.Spec.Containers[0].SecurityContext.Capabilities.Drop = nil
		a = c.pod(t, namespace, "desk-booking", pod)
		a.is(t, 403)
		require.Contains(t, string(a.body), "unrestricted capabilities")
	})

	t.Run("Helm installs each set of values, and upgrades it to each other one", func(t *testing.T) {
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				namespace := fmt.Sprintf("install-%d", i)
				c.namespace(t, namespace)
				require.Equal(t, hooks(t, sets[name], "pre-install"), c.install(t, namespace, sets[name]))
				require.Equal(t, fresh[name], c.stored(t, namespace))
			})
		}
		const namespace = "install-0"
		stays := map[string]any{}
		// Clusters of 1.0 stay, and beside them no others are made.
		way := walk(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == oldClusters }))
		for i, name := range way[1:] {
			t.Run(fmt.Sprintf("%s, then %s", way[i], name), func(t *testing.T) {
				before := c.stored(t, namespace)
				require.Equal(t, hooks(t, sets[name], "pre-upgrade"), c.upgrade(t, namespace, sets[name]))
				for key := range before {
					if kind, _, _ := strings.Cut(key, " "); slices.Contains([]string{"Cluster", "Kafka", "KafkaNodePool"}, kind) {
						stays[key] = before[key]
					}
				}
				expected := maps.Clone(stays)
				maps.Copy(expected, fresh[name])
				require.Equal(t, expected, c.stored(t, namespace))
				for _, d := range c.deployments(t, namespace) {
					require.Equal(t, int32(2), *d.Spec.Replicas, "%s had two replicas, and nothing has scaled it", d.Name)
				}
			})
		}
		c.helm(t, namespace, nil, "uninstall", "desk")
		require.Equal(t, stays, c.stored(t, namespace))
	})

	t.Run("an upgrade with the same values changes no pod, and leaves the number of replicas to the autoscaler", func(t *testing.T) {
		const namespace, booking = "scaled", "desk-booking"
		c.namespace(t, namespace)
		c.install(t, namespace, sets["plain"])
		for _, autoscaled := range []int32{5, 3} {
			c.call(t, "PATCH", "/apis/apps/v1/namespaces/"+namespace+"/deployments/"+booking+"/scale?fieldManager=kube-controller-manager",
				fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, autoscaled)).is(t, 200)
			before := c.deployments(t, namespace)
			c.upgrade(t, namespace, sets["plain"])
			for name, d := range c.deployments(t, namespace) {
				require.Equal(t, before[name].Generation, d.Generation, name)
			}
			require.Equal(t, autoscaled, *c.deployments(t, namespace)[booking].Spec.Replicas)
		}
	})

	t.Run("replicas that run when autoscaling is switched on run on", func(t *testing.T) {
		const namespace = "switched"
		c.namespace(t, namespace)
		c.install(t, namespace, sets["least"])
		for range 2 {
			c.upgrade(t, namespace, sets["plain"])
			require.Equal(t, int32(2), *c.deployments(t, namespace)["desk-booking"].Spec.Replicas)
		}
	})
}

// hooks are the names of the jobs that run at an event.
func hooks(t *testing.T, values map[string]any, event string) (names []string) {
	t.Helper()
	objects, err := render(values)
	require.NoError(t, err)
	for _, j := range of[*batch.Job](objects) {
		if slices.Contains(strings.Split(j.Annotations["helm.sh/hook"], ","), event) {
			names = append(names, j.Name)
		}
	}
	return names
}

// walk goes from the first name to the first name, and from each to each other one once.
func walk(names []string) (way []string) {
	for i, name := range names {
		way = append(way, name)
		for _, far := range names[min(i+2, len(names)):] {
			way = append(way, far, name)
		}
	}
	for _, name := range slices.Backward(names[:len(names)-1]) {
		way = append(way, name)
	}
	return way
}
