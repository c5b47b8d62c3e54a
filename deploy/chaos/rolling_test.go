package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/freeport"
)

// A new version comes while people work: a system of the version before runs, two replicas of each service are replaced one after the
// other by this version, with one more migration of a table in use, and then the controller is. No caller sees it, and no route goes.
// The first process of each service stays and continues to consume, so the version before works on the migrated schema.
func TestEveryServiceIsReplacedByANewVersion(t *testing.T) {
	before, commit := versionBefore(t)
	w := startCheckout(t, before, "SVC_TRAEFIK_BIN="+traefik(t))
	l := w.Load(t, 4, 10)
	routes := w.callEveryRoute(t)
	began := time.Now()
	for name, table := range map[string]string{"settings": "person", "contacts": "contact", "booking": "appointment", "forms": "submission", "webhooks": "delivery"} {
		next := system.NextVersion(t, name, table)
		from := time.Now()
		addresses := []string{freeport.Address(), freeport.Address()}
		var serving []string
		for _, a := range addresses {
			serving = append(serving, "http://"+a)
		}
		var replicas []*replica
		for i, a := range addresses {
			replicas = append(replicas, w.replica(t, name, how{address: a, serving: serving[:i+1]}))
		}
		w.routed(t, name, serving)
		time.Sleep(lasts(5*time.Second, time.Second))
		for i, old := range replicas {
			old.Stop(t)
			w.replica(t, name, how{address: addresses[i], serving: serving, binary: next})
			// One without the migration starts meanwhile, and publishes its routes after the new one has.
			if i == 0 {
				replicas[1].Stop(t)
				replicas[1] = w.replica(t, name, how{address: addresses[1], serving: serving, binary: system.Build(t, name)})
				time.Sleep(lasts(3*time.Second, time.Second))
			}
		}
		var migrated bool
		require.NoError(t, w.DB.QueryRow(t.Context(), `select exists (select from information_schema.columns where table_schema = $1 and column_name = 'next_version')`, name).Scan(&migrated))
		require.True(t, migrated, name)
		time.Sleep(lasts(5*time.Second, time.Second))
		assert.Empty(t, l.Failed(from, time.Now()), "while two replicas of %s came and were replaced", name)
	}
	controller := system.Build(t, "gateway")
	w.System.StandIn(t, "gateway")(controller)
	time.Sleep(lasts(5*time.Second, 2*time.Second))
	failed := l.Failed(began, time.Now())
	assert.Empty(t, failed)
	assert.Empty(t, routes())
	l.about += fmt.Sprintf(", %d failed requests", len(failed))
	w.Report(t, "every service of "+commit+" replaced by a version with a migration", l, w.Recovered(t, time.Minute))
}

// versionBefore is a checkout of the release before this one, as its last commit had it, and the words for it in the table. In a clone
// without that history it is this version, and the words say so; also before 1.0.0, whose versions are stopped ahead of an upgrade.
func versionBefore(t *testing.T) (dir, words string) {
	t.Helper()
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	release, err := git("log", "-1", "--format=%H", "--", "libs/version/version.go")
	require.NoError(t, err)
	commit, err := git("rev-parse", "--verify", "--quiet", release+"^")
	if err != nil {
		t.Log("This clone has no history: this version is its own version before. `git fetch --unshallow` gets the history.")
		return "", "this version itself (a clone without history)"
	}
	if _, err := git("cat-file", "-e", commit+":libs/version/version.go"); err != nil {
		return "", "this version itself (the one before is older than 1.0.0)"
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir = t.TempDir()
	unpack := exec.Command("bash", "-euo", "pipefail", "-c", `git -C "$1" archive "$2" | tar -x -C "$3"; mkdir -p "$1/.run/tools" "$3/.run"; ln -s "$1/.run/tools" "$3/.run/tools"`, "-", root, commit, dir)
	out, err := unpack.CombinedOutput()
	require.NoError(t, err, string(out))
	return dir, "the release before"
}

// traefik is the program of the launcher, so that another checkout does not build it again.
func traefik(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../.run/bin/traefik")
	require.NoError(t, err)
	require.FileExists(t, path, "make build makes it")
	return path
}

// callEveryRoute calls a GET of each path that the OpenAPI document has now, in turn, until gone is called. It answers those that were
// not there for some call, or had no replica.
func (w *world) callEveryRoute(t *testing.T) (gone func() []string) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(w.Admin.Get(t, "/openapi.json").Is(200).Body), &document))
	var paths []string
	for path, methods := range document.Paths {
		if get := string(methods["get"]); get != "" && !strings.Contains(get, "text/event-stream") {
			paths = append(paths, strings.TrimPrefix(regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "1"), "/v1"))
		}
	}
	require.Greater(t, len(paths), 50)
	slices.Sort(paths)
	ctx, stop := context.WithCancel(t.Context())
	missed := map[string]string{}
	var running sync.WaitGroup
	visitor := w.System.Visitor()
	running.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			path := paths[n%len(paths)]
			a, err := visitor.Try(ctx, http.MethodGet, path, nil)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				missed[path] = err.Error()
			case a.Status >= 500 || a.Status == http.StatusNotFound && strings.Contains(a.Body, "svc_no_route") || a.Status == http.StatusMethodNotAllowed:
				missed[path] = fmt.Sprint(a.Status, " ", a.Body)
			}
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return func() (all []string) {
		stop()
		running.Wait()
		for path, why := range missed {
			all = append(all, path+": "+why)
		}
		return all
	}
}

// routed waits until the gateway sends the requests of a service to these addresses and no others.
func (w *world) routed(t *testing.T, service string, serving []string) {
	t.Helper()
	system.Eventually(t, func() bool {
		res, err := http.Get(w.System.Now(t).Processes["traefik"].Admin + "/api/http/services/" + service + "@file")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		var known struct {
			LoadBalancer struct{ Servers []struct{ URL string } }
		}
		if json.NewDecoder(res.Body).Decode(&known) != nil {
			return false
		}
		var urls []string
		for _, s := range known.LoadBalancer.Servers {
			urls = append(urls, s.URL)
		}
		return strings.Join(urls, ",") == strings.Join(serving, ",")
	}, "the gateway does not route to the replicas of "+service)
}
