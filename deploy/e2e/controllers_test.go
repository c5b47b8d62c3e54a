package e2e

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"frontdesk/deploy/system"
	"frontdesk/libs/db/pgserver/tether"
	"frontdesk/libs/freeport"
)

// secondGateway starts one more controller with a Traefik of its own, and returns where visitors and operators find it. stop ends both in
// good order.
func secondGateway(t *testing.T) (site, page string, stop func()) {
	t.Helper()
	controller, env := sys.Program(t, "gateway")
	proxy, _ := sys.Program(t, "traefik")
	dir, listens, api, answers, admin := t.TempDir(), freeport.Address(), freeport.Address(), freeport.Address(), freeport.Address()
	_, port, err := net.SplitHostPort(listens)
	require.NoError(t, err)
	env = append(env, "SVC_DATA_DIR="+dir, "SVC_HTTP_PORT="+port, "SVC_HTTP_LISTEN="+listens, "SVC_GATEWAY_URL=http://"+listens,
		"SVC_TRAEFIK_API="+api, "SVC_LISTEN="+answers, "SVC_BASE_URL=http://"+answers, "SVC_ADMIN_LISTEN="+admin)
	begin := func(cmd *exec.Cmd) (end func()) {
		t.Helper()
		require.NoError(t, tether.Start(cmd, syscall.SIGKILL))
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		end = func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				_ = cmd.Process.Kill()
				<-ended
			}
		}
		t.Cleanup(end)
		return end
	}
	first := exec.Command(controller)
	first.Env, first.Stderr = env, os.Stderr
	end := begin(first)
	file := filepath.Join(dir, "gateway", "traefik.yml")
	system.Eventually(t, func() bool { _, err := os.Stat(file); return err == nil && answers200(admin, "/livez") }, "the second controller does not start")
	second := exec.Command(proxy, "--configFile="+file)
	second.Env = env
	endProxy := begin(second)
	system.Eventually(t, func() bool { return answers200(admin, "/readyz") }, "the second gateway is not ready")
	return "http://" + listens, "http://" + admin, func() { end(); endProxy() }
}

func answers200(address, path string) bool {
	res, err := http.Get("http://" + address + path)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// headings are the first cells of the rows on a page, sorted.
func headings(page *html.Node) (all []string) {
	for n := range page.Descendants() {
		if n.Data == "tbody" {
			for tr := range n.ChildNodes() {
				if tr.FirstChild != nil {
					all = append(all, text(tr.FirstChild))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

func TestTwoControllersShowTheSameFacts(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	one := sys.Now(t).Processes["gateway"].Admin
	site, two, stop := secondGateway(t)
	names := map[string]string{}
	for _, base := range []string{one, two} {
		system.Eventually(t, func() bool {
			r := row(panelOf(t, base, "/"), "gateway")
			return len(r) == 11 && r.at(1) == "well" && r.at(2) == "2 of 2" && r.at(3) == "2"
		}, base+" does not show two controllers that are well")
		for _, path := range []string{"/", "/services/booking", "/parked-messages"} {
			page := text(panelOf(t, base, path))
			require.Contains(t, page, "2 controllers run, and each keeps its own hour. This is the hour of gateway@", path)
			_, name, _ := strings.Cut(page, "This is the hour of ")
			names[base], _, _ = strings.Cut(name, " ,")
		}
	}
	require.NotEqual(t, names[one], names[two], "each names itself")
	same := func(path string) {
		t.Helper()
		system.Eventually(t, func() bool {
			return slices.Equal(headings(panelOf(t, one, path)), headings(panelOf(t, two, path)))
		}, "the controllers differ in "+path)
	}
	same("/instances")
	require.Subset(t, headings(panelOf(t, two, "/instances")), []string{names[one], names[two]})
	same("/routes")
	require.Greater(t, len(headings(panelOf(t, two, "/routes"))), 100)

	// The answer to the switch comes when both gateways serve it.
	toggle := func(on bool) {
		t.Helper()
		d.Admin.Call(t, http.MethodPatch, "/apps/booking", map[string]any{"enabled": on}).Is(200)
	}
	t.Cleanup(func() { toggle(true) })
	for _, on := range []bool{false, true} {
		toggle(on)
		for base, gateway := range map[string]string{one: sys.Now(t).Gateway, two: site} {
			require.Equal(t, map[bool]string{true: "on", false: "off"}[on], row(panelOf(t, base, "/apps"), "Booking").at(2), base)
			a, err := visitor.TryAt(t.Context(), gateway, http.MethodGet, "/booking/services", nil)
			require.NoError(t, err)
			require.Equal(t, map[bool]int{true: 200, false: 404}[on], a.Status, base)
		}
		same("/routes")
	}

	stop()
	system.Eventually(t, func() bool { return row(panelOf(t, one, "/"), "gateway").at(2) == "1 of 1" }, "the controller that has left is still shown")
}
