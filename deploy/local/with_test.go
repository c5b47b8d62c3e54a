package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/until"
)

// standIn is the launcher of these tests, which `local with` starts: it is ready at once and ends with its input or by a signal. STAND_IN names
// the file that it writes its data folder to, or is "broken" for one that ends before it is ready. STAND_IN_READY=never is one that goes on starting.
func standIn() int {
	data := os.Getenv("SVC_DATA_DIR")
	if err := os.MkdirAll(filepath.Join(data, "log"), 0o755); err != nil {
		return 1
	}
	to := os.Getenv("STAND_IN")
	if to == "broken" {
		_ = os.WriteFile(filepath.Join(data, "log", "booking.log"), []byte("booking has no database"), 0o600)
		fmt.Println("booking does not stay up")
		return 1
	}
	ready := fmt.Sprintf(`{"ready": %t}`, os.Getenv("STAND_IN_READY") != "never")
	if os.WriteFile(filepath.Join(data, "run.json"), []byte(ready), 0o600) != nil || os.WriteFile(to, []byte(data), 0o600) != nil {
		return 1
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT)
	go endWith(os.Stdin, signals)
	<-signals
	return 0
}

// with is `local with` of a script, and the file in which the stand-in leaves its data folder.
func with(t *testing.T, script string, env ...string) (cmd *exec.Cmd, file string, said *bytes.Buffer) {
	t.Helper()
	file, said = filepath.Join(t.TempDir(), "data"), &bytes.Buffer{}
	cmd = exec.Command("/proc/self/exe", "with", "--", "sh", "-c", script)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "E2E_DATA_DIR=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, "STAND_IN="+file), env...)
	cmd.Stdout, cmd.Stderr = said, said
	return cmd, file, said
}

// gone waits until nothing of the system is left whose folder the file names.
func gone(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err, "the system was not started")
	until.Holds(t, func() bool {
		_, err := os.Stat(filepath.Dir(string(data)))
		return errors.Is(err, fs.ErrNotExist)
	}, 10*time.Second, 10*time.Millisecond, "%s is left", data)
}

func TestACommandGetsASystemAndItsOwnExitStatus(t *testing.T) {
	for script, want := range map[string]int{"exit 7": 7, "exit 0": 0, "kill -KILL $$": 137} {
		t.Run(script, func(t *testing.T) {
			cmd, file, said := with(t, `test "$(cat "$STAND_IN")" = "$E2E_DATA_DIR" && test -s "$E2E_DATA_DIR/run.json" && test -n "$SVC_ADMIN_PASSWORD" || exit 99; `+script)
			_ = cmd.Run()
			require.Equal(t, want, cmd.ProcessState.ExitCode(), said.String())
			gone(t, file)
		})
	}
}

func TestACommandUsesTheSystemThatIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ state, given, want string }{
		"with a password of its own":                {`{"ready": true, "admin": {"password": "its own"}}`, "", "its own"},
		"with one that was given":                   {`{"ready": true}`, "given", "given"},
		"with one that was given, and is not known": {`{"ready": true}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(c.state), 0o600))
			cmd, file, said := with(t, `echo "$E2E_DATA_DIR $SVC_ADMIN_PASSWORD"`, "E2E_DATA_DIR="+dir, "SVC_ADMIN_PASSWORD="+c.given)
			err := cmd.Run()
			if c.want == "" {
				require.Error(t, err)
				require.Contains(t, said.String(), "SVC_ADMIN_PASSWORD is missing")
			} else {
				require.NoError(t, err)
				require.Equal(t, dir+" "+c.want+"\n", said.String())
			}
			require.NoFileExists(t, file, "no system is started")
		})
	}
	t.Run("where nothing runs", func(t *testing.T) {
		cmd, _, said := with(t, "true", "E2E_DATA_DIR="+t.TempDir())
		require.Error(t, cmd.Run())
		require.Contains(t, said.String(), "nothing runs in E2E_DATA_DIR")
	})
}

func TestASystemThatDoesNotStartShowsItsLogs(t *testing.T) {
	cmd, _, said := with(t, `echo the command runs`, "STAND_IN=broken", "TMPDIR="+t.TempDir())
	require.Error(t, cmd.Run())
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.Contains(t, said.String(), "--- booking.log\nbooking has no database")
	require.Contains(t, said.String(), "booking does not stay up")
	require.NotContains(t, said.String(), "the command runs")
	left, err := os.ReadDir(strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], "TMPDIR="))
	require.NoError(t, err)
	require.Empty(t, left, "its folder is deleted")
}

func TestASignalEndsTheCommandAndThenTheSystem(t *testing.T) {
	for _, by := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(by.String(), func(t *testing.T) {
			cmd, file, said := with(t, `echo runs >"$STAND_IN.runs"; exec sleep 60`)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does with a job on a terminal
			require.NoError(t, cmd.Start())
			until.Holds(t, func() bool { _, err := os.Stat(file + ".runs"); return err == nil }, 20*time.Second, 10*time.Millisecond, "the command does not start")
			to := cmd.Process.Pid
			if by == syscall.SIGINT {
				to = -to // a Ctrl-C reaches every process of the job
			}
			require.NoError(t, syscall.Kill(to, by))
			_ = cmd.Wait()
			require.Equal(t, 128+int(by), cmd.ProcessState.ExitCode(), said.String())
			gone(t, file)
		})
	}
}

func TestASignalEndsASystemThatStillStarts(t *testing.T) {
	cmd, file, said := with(t, `echo the command runs`, "STAND_IN_READY=never")
	require.NoError(t, cmd.Start())
	until.Holds(t, func() bool { b, err := os.ReadFile(file); return err == nil && len(b) > 0 }, 20*time.Second, 10*time.Millisecond, "the system does not start")
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	_ = cmd.Wait()
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), said.String())
	require.Empty(t, said.String())
	gone(t, file)
}

func TestASignalBeforeTheCommandStartsNothing(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGINT
	file := filepath.Join(t.TempDir(), "ran")
	require.Equal(t, exitStatus(130), toItsEnd([]string{"touch", file}, os.Environ(), signals))
	require.NoFileExists(t, file)
}

func TestASystemEndsWhenWhatStartedItIsKilled(t *testing.T) {
	cmd, file, _ := with(t, `echo $PPID >"$STAND_IN.runs"; exec sleep 60`)
	cmd.Stdout, cmd.Stderr = nil, nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // the command
	until.Holds(t, func() bool { _, err := os.Stat(file + ".runs"); return err == nil }, 20*time.Second, 10*time.Millisecond, "the command does not start")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(string(data))) })
	require.True(t, livesWith(string(data)))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	until.Holds(t, func() bool { return !livesWith(string(data)) }, 10*time.Second, 20*time.Millisecond, "the launcher lives on")
}

// livesWith reports whether a launcher runs on a data folder.
func livesWith(data string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte("SVC_DATA_DIR="+data+"\x00")) {
			return true
		}
	}
	return false
}
