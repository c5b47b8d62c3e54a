package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// npm stands for the real one: it makes a package and writes down that it ran. BREAK makes it end in the middle.
const npm = `#!/bin/sh
echo "$PWD" >>"$RAN"
mkdir -p node_modules/one && cp package-lock.json node_modules/one/made-of
[ -z "$BREAK" ]
`

func TestNodeModulesAreMadeOnceForALockFile(t *testing.T) {
	dir := t.TempDir()
	bin, ran := filepath.Join(dir, "bin"), filepath.Join(dir, "ran")
	require.NoError(t, os.Mkdir(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte(npm), 0o755))
	folder := func(of, name, lock string) string {
		f := filepath.Join(dir, of, "deploy", name)
		require.NoError(t, os.MkdirAll(f, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(f, "package.json"), []byte(`{}`), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(f, "package-lock.json"), []byte(lock), 0o600))
		return f
	}
	tools := func(folder string, env ...string) error {
		cmd := exec.Command("./tools", "npm", folder)
		cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TOOLS="+filepath.Join(dir, "kept"), "RAN="+ran), env...)
		return cmd.Run()
	}
	times := func() int {
		text, err := os.ReadFile(ran)
		require.NoError(t, err)
		return strings.Count(string(text), "\n")
	}
	made := func(folder string) string {
		text, err := os.ReadFile(filepath.Join(folder, "node_modules/one/made-of"))
		require.NoError(t, err)
		return string(text)
	}

	one, other := folder("one checkout", "browser", "first"), folder("another one", "browser", "first")
	require.Error(t, tools(one, "BREAK=1"), "what was cut short is not kept")
	require.NoDirExists(t, filepath.Join(one, "node_modules"))
	var all errgroup.Group
	for range 4 {
		all.Go(func() error { return tools(one) })
		all.Go(func() error { return tools(other) })
	}
	require.NoError(t, all.Wait())
	require.Equal(t, 2, times(), "npm runs again after it was cut short, and then once for two checkouts")
	require.Equal(t, "first", made(one))
	require.Equal(t, "first", made(other))

	// A copy that was cut short is made anew, and so is one of another lock file.
	require.NoError(t, os.Remove(filepath.Join(one, "node_modules/.made-from")))
	require.NoError(t, os.Remove(filepath.Join(one, "node_modules/one/made-of")))
	require.NoError(t, tools(one))
	require.Equal(t, "first", made(one))
	require.Equal(t, 2, times())
	folder("one checkout", "browser", "second")
	require.NoError(t, tools(one))
	require.Equal(t, "second", made(one))
	require.Equal(t, "first", made(other))
	require.Equal(t, 3, times())
}
