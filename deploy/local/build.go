package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// builder makes the programs of this checkout, all in bin, which every data folder shares.
type builder struct {
	root, bin string
	say       func(format string, args ...any)
}

// build builds all that run starts.
func build(ctx context.Context, _ []string) error {
	root, err := projectRoot()
	if err != nil {
		return err
	}
	b := builder{root: root, bin: filepath.Join(root, ".run", "bin"), say: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }}
	if err := os.MkdirAll(b.bin, 0o755); err != nil {
		return err
	}
	if err := b.ours(ctx, services); err != nil {
		return err
	}
	_, err = b.traefik(ctx)
	return err
}

// ours builds the services and the controller. It is fast if nothing has changed.
func (b builder) ours(ctx context.Context, services []string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("Go is missing: install Go 1.26 or newer from https://go.dev/dl and start again")
	}
	args := []string{"build", "-o", b.bin + string(filepath.Separator)}
	for _, s := range services {
		args = append(args, "./services/"+s)
	}
	started := time.Now()
	slow := time.AfterFunc(5*time.Second, func() { b.say("building the services (a minute or two the first time)") })
	defer slow.Stop()
	if err := b.goTool(ctx, b.root, args...); err != nil {
		return err
	}
	if err := b.goTool(ctx, b.root, "build", "-o", filepath.Join(b.bin, "gateway"), "./gateway"); err != nil {
		return err
	}
	if took := time.Since(started); took > 5*time.Second {
		b.say("built in %s", took.Round(time.Second))
	}
	return nil
}

func (b builder) goTool(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("go %s failed: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return err
}

// Newer versions of Traefik replace modules by folders of its repository, which a build from outside does not have.
const (
	traefikModule  = "github.com/traefik/traefik/v3"
	traefikVersion = "v3.6.12"
)

// traefik builds Traefik in its own module, with the versions that its authors chose, unless this version was built before. It
// answers the program's path.
func (b builder) traefik(ctx context.Context) (string, error) {
	program := filepath.Join(b.bin, "traefik-"+traefikVersion)
	if _, err := os.Stat(program); err == nil {
		return program, b.link(program)
	}
	if err := checkSpace(b.bin, 4*gigabyte, "building Traefik"); err != nil {
		return "", err
	}
	started := time.Now()
	b.say("building Traefik %s, once; this takes minutes", traefikVersion)
	dir, err := b.moduleDir(ctx)
	if err != nil {
		return "", err
	}
	const pkg = "./cmd/traefik"
	all, err := b.inModule(ctx, dir, "list", "-deps", pkg).Output()
	if err != nil {
		return "", fmt.Errorf("Traefik's modules could not be fetched: %w", withStderr(err))
	}
	total := bytes.Count(all, []byte("\n"))
	b.say("Traefik: modules fetched in %s, compiling %d packages", time.Since(started).Round(time.Second), total)

	cmd := b.inModule(ctx, dir, "build", "-v", "-trimpath", "-o", program+".new",
		"-ldflags", "-s -w -X "+traefikModule+"/pkg/version.Version="+strings.TrimPrefix(traefikVersion, "v"), pkg)
	lines, w := io.Pipe()
	cmd.Stderr = w
	var last []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		told, n := time.Now(), 0
		for s := bufio.NewScanner(lines); s.Scan(); n++ {
			last = append(last[max(0, len(last)-2):], s.Text())
			if time.Since(told) > 10*time.Second {
				told = time.Now()
				b.say("Traefik: %d of %d packages", n, total)
			}
		}
	}()
	err = cmd.Run()
	w.Close()
	<-done
	if err != nil {
		return "", fmt.Errorf("Traefik does not build: %w: %s", err, strings.Join(last, " / "))
	}
	b.say("Traefik built in %s", time.Since(started).Round(time.Second))
	if err := os.Rename(program+".new", program); err != nil {
		return "", err
	}
	return program, b.link(program)
}

// link makes bin/traefik point to the program, for callers that do not name a version.
func (b builder) link(program string) error {
	name := filepath.Join(b.bin, "traefik")
	if to, err := os.Readlink(name); err == nil && to == filepath.Base(program) {
		return nil
	}
	if err := os.RemoveAll(name); err != nil {
		return err
	}
	return os.Symlink(filepath.Base(program), name)
}

func (b builder) moduleDir(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", traefikModule+"@"+traefikVersion)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("Traefik %s could not be fetched: %w", traefikVersion, withStderr(err))
	}
	var module struct{ Dir string }
	return module.Dir, json.Unmarshal(out, &module)
}

func (b builder) inModule(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly -buildvcs=false")
	return cmd
}

// withStderr adds what a program wrote about its failure.
func withStderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		return fmt.Errorf("%w: %s", err, strings.Join(lines[max(0, len(lines)-3):], " / "))
	}
	return err
}
