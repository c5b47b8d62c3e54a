package pgserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake puts a PostgreSQL of a version first on the PATH, as far as find looks at one.
func fake(t *testing.T, major int) (bin string) {
	t.Helper()
	bin, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "initdb"), nil, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "postgres"), fmt.Appendf(nil, "#!/bin/sh\necho 'postgres (PostgreSQL) %d.1'\n", major), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("PG_BIN", "")
	return bin
}

// A system that gets a newer PostgreSQL, or one of its own behind a fetched one, still opens the data that is there.
func TestTheVersionThatMadeTheDataOpensIt(t *testing.T) {
	older, newer := 97, 98
	first := fake(t, older)
	t.Setenv("PATH", first+":/usr/bin:/bin")
	b, err := find(t.Context(), t.TempDir(), 0, nil)
	require.NoError(t, err)
	require.Equal(t, older, b.major, "the newest makes new data")
	require.Equal(t, first, b.dir)

	_, err = find(t.Context(), t.TempDir(), newer, nil)
	require.ErrorContains(t, err, "it was made by PostgreSQL 98, and only PostgreSQL ")
	require.ErrorContains(t, err, " is there: ")
	require.ErrorContains(t, err, "install PostgreSQL 98, or name its bin folder in PG_BIN")

	for _, other := range installed() {
		b, err := find(t.Context(), t.TempDir(), other.major, nil)
		require.NoError(t, err)
		require.Equal(t, other.major, b.major, "not the newest, but the one that made it")
	}
}

func TestWhoHasNoProgramsForABackupIsToldWhereTheyAre(t *testing.T) {
	t.Setenv("PG_BIN", t.TempDir())
	_, err := Program("pg_dump", 99)
	require.ErrorContains(t, err, "pg_dump 99 or newer is needed and not found")
	require.ErrorContains(t, err, "deploy/README.md, Backup and restore,")
	readme, err := os.ReadFile("../../../deploy/README.md")
	require.NoError(t, err)
	_, section, there := strings.Cut(string(readme), "\n## Backup and restore\n")
	require.True(t, there)
	section, _, _ = strings.Cut(section, "\n## ")
	require.Contains(t, section, fmt.Sprintf("PostgreSQL has made are of version %d", npmMajor))
	require.True(t, strings.HasPrefix(npmVersion, fmt.Sprint(npmMajor, ".")), "both are one version")
}
