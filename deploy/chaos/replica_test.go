package chaos

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/db/pgserver/tether"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

// replica is one more process of a service, beside that of the launcher.
type replica struct {
	Name       string
	URL, Admin string
	PID        int

	cmd   *exec.Cmd
	ended chan struct{}
	wire  *wire // of a far replica
}

// how a replica differs from the launcher's process of its service.
type how struct {
	binary  string   // another build; empty for the launcher's
	serving []string // all the addresses at which the gateway finds the service; empty leaves the gateway with those it has
	wire    *wire    // the network that it lives behind; nil for none
	env     []string
	address string // where it listens; empty takes free ports
}

// Replica starts one more process of a service and waits until it is ready. It reads topics and takes leases like the launcher's; the
// gateway sends it no requests.
func (w *world) Replica(t *testing.T, name string) *replica {
	t.Helper()
	return w.replica(t, name, how{})
}

// Far is Replica in a network of its own, which can be cut off. It skips the test where that is not possible.
func (w *world) Far(t *testing.T, name string) *replica {
	t.Helper()
	return w.replica(t, name, how{wire: w.newWire(t)})
}

func (w *world) replica(t *testing.T, name string, h how) *replica {
	t.Helper()
	first := w.System.Now(t).Processes[name]
	program, env := w.System.Program(t, name)
	if h.binary != "" {
		program = h.binary
	}
	r := &replica{Name: name, wire: h.wire, ended: make(chan struct{})}
	listen, admin := h.address, freeport.Address()
	if listen == "" {
		listen = freeport.Address()
	}
	if h.wire != nil {
		listen, admin = h.wire.far+":8000", h.wire.far+":8001"
	}
	r.URL, r.Admin = "http://"+listen, "http://"+admin
	base := first.URL
	if len(h.serving) > 0 {
		base = strings.Join(h.serving, ",")
	}
	env = append(env, "SVC_LISTEN="+listen, "SVC_ADMIN_LISTEN="+admin, "SVC_BASE_URL="+base)
	if h.wire != nil {
		r.cmd = exec.Command("ip", "netns", "exec", h.wire.space, program)
	} else {
		r.cmd = exec.Command(program)
	}
	r.cmd.Env = slices.Concat(env, h.env)
	log, err := os.OpenFile(filepath.Join(w.System.Data, "log", fmt.Sprintf("%s-%s.log", name, strings.ReplaceAll(listen, ":", "-"))), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	defer log.Close()
	r.cmd.Stdout, r.cmd.Stderr = log, log
	require.NoError(t, tether.Start(r.cmd, syscall.SIGKILL))
	r.PID = r.cmd.Process.Pid // ip netns exec becomes the program
	go func() { _ = r.cmd.Wait(); close(r.ended) }()
	t.Cleanup(r.Kill)
	until.Holds(t, r.ready, 30*time.Second, 20*time.Millisecond, "a replica of %s is not ready", name)
	return r
}

// impatient calls do not outlast the check that makes them: a process may be cut off.
var impatient = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// ready reports whether the process says that it can work.
func (r *replica) ready() bool {
	res, err := impatient.Get(r.Admin + "/readyz")
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// Freeze stops the process without ending it; Thaw lets it go on.
func (r *replica) Freeze(t *testing.T) {
	t.Helper()
	system.Freeze(t, r.cmd.Process.Pid)
}

func (r *replica) Thaw(t *testing.T) {
	t.Helper()
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGCONT))
}

// Kill ends the process as a crash would.
func (r *replica) Kill() {
	_ = r.cmd.Process.Kill()
	<-r.ended
}

// Stop asks the process to end in good order, and waits until it has.
func (r *replica) Stop(t *testing.T) {
	t.Helper()
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-r.ended:
	case <-time.After(15 * time.Second):
		require.Fail(t, "a replica does not stop", r.Name)
	}
}

// CutOff drops every packet from and to the process, without a word to either side; Connect ends that.
func (r *replica) CutOff(t *testing.T) { t.Helper(); r.wire.cut(t, true) }

// Connect ends CutOff.
func (r *replica) Connect(t *testing.T) { t.Helper(); r.wire.cut(t, false) }

// wire is a network namespace whose processes reach the servers of the system over a pair of virtual interfaces.
type wire struct {
	space, nearDevice, farDevice string
	near, far                    string
}

var wires atomic.Int32

// newWire makes a network of its own. The servers listen on 127.0.0.1 and say so to their clients, so 127.0.0.1 is routed out of
// the namespace to them; route_localnet makes the kernel take such packets.
func (w *world) newWire(t *testing.T) *wire {
	t.Helper()
	n := int(wires.Add(1))
	id := fmt.Sprintf("%x%x", os.Getpid()&0xffff, n)
	net := fmt.Sprintf("10.%d.%d.", 200+n%50, os.Getpid()%250)
	v := &wire{space: "chaos" + id, nearDevice: "cn" + id, farDevice: "cf" + id, near: net + "1", far: net + "2"}
	if os.Geteuid() != 0 || exec.Command("ip", "netns", "add", v.space).Run() != nil {
		t.Skip("network namespaces need root and ip")
	}
	t.Cleanup(func() {
		_ = exec.Command("ip", "link", "del", v.nearDevice).Run()
		_ = exec.Command("ip", "netns", "del", v.space).Run()
	})
	inside := []string{"netns", "exec", v.space}
	for _, args := range [][]string{
		{"link", "add", v.nearDevice, "type", "veth", "peer", "name", v.farDevice, "netns", v.space},
		{"addr", "add", v.near + "/30", "dev", v.nearDevice},
		{"link", "set", v.nearDevice, "up"},
		append(inside, "ip", "addr", "add", v.far+"/30", "dev", v.farDevice),
		append(inside, "ip", "link", "set", v.farDevice, "up"),
		append(inside, "ip", "route", "add", "127.0.0.1/32", "dev", v.farDevice, "src", v.far),
		append(inside, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/conf/"+v.farDevice+"/route_localnet"),
	} {
		out, err := exec.Command("ip", args...).CombinedOutput()
		require.NoError(t, err, "ip %v: %s", args, out)
	}
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/conf/"+v.nearDevice+"/route_localnet", []byte("1"), 0o644))
	// Postgres asks strangers for a password as well.
	hba := filepath.Join(w.System.Data, "postgres", "pg_hba.conf")
	f, err := os.OpenFile(hba, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, "host all all %s/32 scram-sha-256\n", v.far)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = w.DB.Exec(t.Context(), `select pg_reload_conf()`)
	require.NoError(t, err)
	return v
}

// cut makes both sides send their packets to nobody, or ends that. An interface that is down would tell them.
func (v *wire) cut(t *testing.T, off bool) {
	t.Helper()
	for _, side := range []struct {
		where           []string
		address, device string
	}{
		{nil, v.far, v.nearDevice},
		{[]string{"-n", v.space}, v.near, v.farDevice},
		{[]string{"-n", v.space}, "127.0.0.1", v.farDevice},
	} {
		args := slices.Concat(side.where, []string{"neigh", "del", side.address, "dev", side.device})
		if off {
			args = slices.Concat(side.where, []string{"neigh", "replace", side.address, "lladdr", "02:00:00:00:00:01", "dev", side.device, "nud", "permanent"})
		}
		out, err := exec.Command("ip", args...).CombinedOutput()
		require.NoError(t, err, "ip %v: %s", args, out)
	}
}
