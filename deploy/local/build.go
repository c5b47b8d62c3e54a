package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	_, err = b.traefik(ctx, os.Getenv("SVC_TRAEFIK_BIN"))
	return err
}

// ours builds the services and the controller. It is fast if nothing has changed.
func (b builder) ours(ctx context.Context, services []string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("Go is missing: install Go 1.26 or newer from https://go.dev/dl and start again")
	}
	args := []string{"build", "-trimpath", "-o", b.bin + string(filepath.Separator)}
	for _, s := range services {
		args = append(args, "./services/"+s)
	}
	started := time.Now()
	slow := time.AfterFunc(5*time.Second, func() { b.say("building the services (a minute or two the first time)") })
	defer slow.Stop()
	if err := b.goTool(ctx, b.root, args...); err != nil {
		return err
	}
	if err := b.goTool(ctx, b.root, "build", "-trimpath", "-o", filepath.Join(b.bin, "gateway"), "./gateway"); err != nil {
		return err
	}
	if took := time.Since(started); took > 5*time.Second {
		b.say("built in %s", took.Round(time.Second))
	}
	return nil
}

// goTool runs go. Builds are told -trimpath, so that every checkout finds in Go's cache what another one has compiled, and do without C as make's do, so
// that whoever starts a system by hand does not link all programs anew, and make again after that.
func (b builder) goTool(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("go %s failed: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return err
}
