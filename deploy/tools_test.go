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

func TestACheckThatHasPassedRunsAgainOnlyForOtherFiles(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	tools, err := filepath.Abs("tools")
	require.NoError(t, err)
	write := func(checkout, name, content string) {
		file := filepath.Join(dir, checkout, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	once := func(checkout, command string, files ...string) error {
		cmd := exec.Command(tools, append([]string{"once", `echo ran >>"$RAN" && ` + command}, files...)...)
		cmd.Dir = filepath.Join(dir, checkout)
		cmd.Env = append(os.Environ(), "TOOLS="+filepath.Join(dir, "kept"), "RAN="+ran)
		return cmd.Run()
	}
	times := func() int {
		text, err := os.ReadFile(ran)
		require.NoError(t, err)
		return strings.Count(string(text), "\n")
	}
	for _, checkout := range []string{"one", "other"} {
		write(checkout, "a.ts", "first")
		write(checkout, "b.ts", "second")
	}

	require.Error(t, once("one", "false", "a.ts", "b.ts"))
	require.Error(t, once("one", "false", "a.ts", "b.ts"))
	require.Equal(t, 2, times(), "a check that failed runs again")
	require.NoError(t, once("one", "true", "a.ts", "b.ts"))
	require.Equal(t, 3, times(), "another command is another check")
	require.NoError(t, once("one", "true", "a.ts", "b.ts"))
	require.NoError(t, once("other", "true", "b.ts", "a.ts"))
	require.Equal(t, 3, times(), "the same files in another checkout have passed")

	write("other", "b.ts", "changed")
	require.NoError(t, once("other", "true", "a.ts", "b.ts"))
	require.Equal(t, 4, times())
	require.NoError(t, os.Rename(filepath.Join(dir, "one", "b.ts"), filepath.Join(dir, "one", "c.ts")))
	require.NoError(t, once("one", "true", "a.ts", "c.ts"))
	require.Equal(t, 5, times(), "a file of another name counts as another one")
	require.Error(t, once("one", "true", "a.ts", "b.ts"), "a file that is missing")
}
