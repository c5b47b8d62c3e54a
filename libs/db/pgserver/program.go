package pgserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// Program finds a program of PostgreSQL, such as pg_dump, that is as new as a server of this major version: in PG_BIN, on the
// system, or on the PATH.
func Program(name string, major int) (string, error) {
	dirs := folders()
	if dir := os.Getenv("PG_BIN"); dir != "" {
		dirs = slices.Insert(dirs, 0, dir)
	}
	if p, err := exec.LookPath(name); err == nil {
		dirs = append(dirs, filepath.Dir(p))
	}
	for _, dir := range dirs {
		p := filepath.Join(dir, name)
		out, err := exec.Command(p, "--version").Output() //nolint:gosec // a program of PostgreSQL that this package has found
		if err != nil {
			continue
		}
		if m := version.FindSubmatch(out); m != nil {
			if found, _ := strconv.Atoi(string(m[1])); found >= major {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("%s %d or newer is needed and not found: install PostgreSQL's client programs (postgresql-client-%d) or set PG_BIN to their folder; deploy/README.md, Backup and restore, says what has them where Debian has not", name, major, major)
}
