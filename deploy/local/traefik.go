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
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Newer versions of Traefik replace modules by folders of its repository, which a build from outside does not have.
const (
	traefikModule  = "github.com/traefik/traefik/v3"
	traefikVersion = "v3.6.12"
	// traefikCut counts what is left out of it, so that another choice is another program.
	traefikCut = "1"
)

// sharedTools is the folder of the user for programs that are built once for all checkouts, as in the Makefile.
func sharedTools() (string, error) {
	if dir := os.Getenv("FRONTDESK_TOOLS"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "frontdesk"), err
}

// traefik is a Traefik of this version: given, on the PATH, built before, or built now. It answers the program's path.
func (b builder) traefik(ctx context.Context, given string) (string, error) {
	if given != "" {
		version, err := traefikVersionOf(ctx, given)
		if err != nil {
			return "", fmt.Errorf("SVC_TRAEFIK_BIN is %s, which does not run: %w", given, err)
		}
		if version != traefikVersion {
			b.say("Traefik %s from SVC_TRAEFIK_BIN, not %s, with which everything was tested", version, traefikVersion)
		}
		return given, b.link(given)
	}
	tools, err := sharedTools()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(tools, 0o755); err != nil {
		return "", err
	}
	program := filepath.Join(tools, "traefik-"+traefikVersion+"-"+traefikCut)
	if _, err := os.Stat(program); err == nil {
		return program, b.link(program)
	}
	if found, err := exec.LookPath("traefik"); err == nil {
		if version, err := traefikVersionOf(ctx, found); err == nil && version == traefikVersion {
			return found, b.link(found)
		}
	}
	if err := checkSpace(tools, 4*gigabyte, "building Traefik"); err != nil {
		return "", err
	}
	if err := b.buildTraefik(ctx, program); err != nil {
		return "", err
	}
	return program, b.link(program)
}

// traefikVersionOf is what the program says of itself, such as v3.6.12.
func traefikVersionOf(ctx context.Context, program string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "version").Output() //nolint:gosec // a program that the operator has named
	if err != nil {
		return "", withStderr(err)
	}
	for line := range strings.Lines(string(out)) {
		if version, ok := strings.CutPrefix(line, "Version:"); ok {
			return "v" + strings.TrimPrefix(strings.TrimSpace(version), "v"), nil
		}
	}
	return "", errors.New("it does not say its version")
}

// buildTraefik builds Traefik in its own module, with the versions that its authors chose but without the providers that nobody here
// uses: of routes for other platforms, and of DNS challenges. They are two thirds of its packages.
func (b builder) buildTraefik(ctx context.Context, program string) error {
	started := time.Now()
	b.say("building Traefik %s, once; this takes a minute or two", traefikVersion)
	scratch, err := os.MkdirTemp(filepath.Dir(program), "traefik-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	dir, err := withoutProviders(ctx, scratch)
	if err != nil {
		return fmt.Errorf("Traefik %s could not be fetched: %w", traefikVersion, err)
	}
	const pkg = "./cmd/traefik"
	all, err := inModule(ctx, dir, "list", "-deps", pkg).Output()
	if err != nil {
		return fmt.Errorf("Traefik's modules could not be fetched: %w", withStderr(err))
	}
	total := bytes.Count(all, []byte("\n"))
	b.say("Traefik: modules fetched in %s, compiling %d packages", time.Since(started).Round(time.Second), total)

	cmd := inModule(ctx, dir, "build", "-v", "-trimpath", "-o", program+".new",
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
		return fmt.Errorf("Traefik does not build: %w: %s", err, strings.Join(last, " / "))
	}
	b.say("Traefik built in %s", time.Since(started).Round(time.Second))
	return os.Rename(program+".new", program)
}

const acmeModule = "github.com/go-acme/lego/v4"

// noChallenges takes the place of a package that imports 180 others. Certificates are had by HTTP and TLS challenges.
const noChallenges = `package dns

import (
	"errors"

	"github.com/go-acme/lego/v4/challenge"
)

func NewDNSChallengeProviderByName(string) (challenge.Provider, error) {
	return nil, errors.New("this Traefik was built without DNS challenges")
}
`

// noProvider takes the place of each provider of routes for a platform: their clients are half of Traefik. It has the names that
// Traefik's configuration uses of any of them.
const noProvider = `package %s

import (
	"errors"

	"github.com/traefik/paerser/types"
	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/safe"
)

type Provider struct {
	HTTPClientTimeout, RefreshSeconds                         types.Duration
	EntryPoints                                               map[string]Entrypoint
	NonTLSEntryPoints                                         []string
	DefaultRuleSyntax, WatchNamespace, WatchNamespaceSelector string
}

type Entrypoint struct {
	Address        string
	HasHTTPTLSConf bool
}

type SwarmProvider = Provider

type ProviderBuilder struct{}

func (*Provider) Init() error { return errors.New("this Traefik was built without " + %[1]q) }

func (*Provider) Provide(chan<- dynamic.Message, *safe.Pool) error { return nil }

func (*Provider) FillExtensionBuilderRegistry(any) {}

func (*ProviderBuilder) BuildProviders() []*Provider { return []*Provider{{}} }
`

// noPod takes the place of the look for the pod in which Traefik runs, by Kubernetes' client.
const noPod = `package types

import (
	"context"

	"go.opentelemetry.io/otel/sdk/resource"
)

type K8sAttributesDetector struct{}

func (K8sAttributesDetector) Detect(context.Context) (*resource.Resource, error) { return resource.Empty(), nil }
`

// withoutProviders writes copies of Traefik and of its ACME client to scratch, both without the providers. It answers Traefik's folder.
func withoutProviders(ctx context.Context, scratch string) (string, error) {
	from, err := moduleDir(ctx, os.TempDir(), traefikModule+"@"+traefikVersion)
	if err != nil {
		return "", err
	}
	acmeFrom, err := moduleDir(ctx, from, acmeModule)
	if err != nil {
		return "", err
	}
	traefik, acme := filepath.Join(scratch, "traefik"), filepath.Join(scratch, "lego")
	if err := errors.Join(os.CopyFS(traefik, os.DirFS(from)), os.CopyFS(acme, os.DirFS(acmeFrom))); err != nil {
		return "", err
	}
	mod, err := os.ReadFile(filepath.Join(traefik, "go.mod"))
	if err != nil {
		return "", err
	}
	replaced := map[string]string{
		filepath.Join(traefik, "go.mod"):                   fmt.Sprintf("%s\nreplace %s => %s\n", mod, acmeModule, acme),
		filepath.Join(traefik, "pkg/types/k8sdetector.go"): noPod,
		filepath.Join(acme, "providers/dns/none.go"):       noChallenges,
	}
	for _, p := range []string{
		"consulcatalog", "docker", "ecs", "nomad", "kv/consul", "kv/etcd", "kv/redis", "kv/zk",
		"kubernetes/crd", "kubernetes/gateway", "kubernetes/ingress", "kubernetes/ingress-nginx", "kubernetes/knative",
	} {
		replaced[filepath.Join(traefik, "pkg/provider", p, "none.go")] = fmt.Sprintf(noProvider, strings.ReplaceAll(path.Base(p), "-", ""))
	}
	for name, text := range replaced {
		if path.Base(name) == "none.go" {
			err = errors.Join(os.RemoveAll(filepath.Dir(name)), os.Mkdir(filepath.Dir(name), 0o755))
		}
		if err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644)); err != nil {
			return "", err
		}
	}
	return traefik, nil
}

// link makes bin/traefik point to the program, for callers that do not name a version.
func (b builder) link(program string) error {
	name := filepath.Join(b.bin, "traefik")
	if to, err := os.Readlink(name); err == nil && to == program {
		return nil
	}
	if err := os.RemoveAll(name); err != nil {
		return err
	}
	return os.Symlink(program, name)
}

// moduleDir fetches a module and returns its folder; without a version it is the one that the module at dir requires.
func moduleDir(ctx context.Context, dir, module string) (string, error) {
	out, err := inModule(ctx, dir, "mod", "download", "-json", module).Output()
	if err != nil {
		return "", withStderr(err)
	}
	var fetched struct{ Dir string }
	return fetched.Dir, json.Unmarshal(out, &fetched)
}

func inModule(ctx context.Context, dir string, args ...string) *exec.Cmd {
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
