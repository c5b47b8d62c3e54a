package system

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Build builds a service or the gateway of this checkout, with more flags of go build, and returns the path of the program, which has
// the name of its process.
func Build(t testing.TB, name string, flags ...string) (program string) {
	t.Helper()
	root, err := Root()
	require.NoError(t, err)
	from := "./services/" + name
	if name == "gateway" {
		from = "./gateway"
	}
	program = filepath.Join(t.TempDir(), name)
	build := exec.Command("go", slices.Concat([]string{"build"}, flags, []string{"-o", program, from})...)
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// NextVersion builds a service of this checkout with one more migration, which adds the column next_version to a table.
func NextVersion(t testing.TB, service, table string) (program string) {
	t.Helper()
	root, err := Root()
	require.NoError(t, err)
	dir := t.TempDir()
	migration := filepath.Join(dir, "migration.sql")
	require.NoError(t, os.WriteFile(migration, []byte(`-- +goose Up
alter table `+table+` add column next_version text not null default 'there';
create index next_version_of_`+table+` on `+table+` (next_version);
-- +goose Down
alter table `+table+` drop column next_version;
`), 0o644))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "services", service, "internal", service, "migrations", "99999_next_version.sql"): migration}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644))
	return Build(t, service, "-overlay", filepath.Join(dir, "overlay.json"))
}
