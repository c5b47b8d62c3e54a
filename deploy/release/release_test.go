// Package release holds the test of the programs that make release builds.
package release

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/version"
)

var programs = []string{"booking", "contacts", "forms", "gateway", "local", "settings", "webhooks"}

// Two folders, each with a cache of its own, so that the second build compiles everything again: some minutes.
func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	var sums []string
	for _, name := range []string{"first", "a-longer-name/second"} {
		source, cache, to := filepath.Join(t.TempDir(), name), t.TempDir(), t.TempDir()
		checkout(t, source)
		build := exec.Command(filepath.Join(source, "deploy/release/build"), to)
		build.Env = append(os.Environ(), "GOCACHE="+cache, "REVISION=0123456789abcdef0123")
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
		require.NoError(t, os.RemoveAll(cache))
		text, err := os.ReadFile(filepath.Join(to, "SHA256SUMS"))
		require.NoError(t, err)
		sums = append(sums, string(text))
		for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
			require.Equal(t, programs, names(t, filepath.Join(to, arch)))
			for _, p := range programs {
				file := filepath.Join(to, arch, p)
				require.Contains(t, string(text), arch+"/"+p+"\n")
				f, err := elf.Open(file)
				require.NoError(t, err)
				require.Equal(t, machine, f.Machine, file)
				for _, s := range f.Progs {
					require.NotEqual(t, elf.PT_INTERP, s.Type, "%s runs in an image that has nothing else", file)
				}
				require.NoError(t, f.Close())
				binary, err := os.ReadFile(file)
				require.NoError(t, err)
				require.NotContains(t, string(binary), source, "%s holds the folder that it was built in", file)
			}
		}
	}
	require.Equal(t, sums[0], sums[1])
}

// The packages need a system, whose document they are made of, and the registries that what they use comes from.
func TestThePackagesAreTheSameBytesAndAreInstalledIntoEmptyProjects(t *testing.T) {
	require.NotEmpty(t, os.Getenv("OAPI_CODEGEN"), "it names the generator of the Go client: start make release-test")
	clients := func(arguments ...string) {
		out, err := exec.Command("../clients/run", arguments...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	var sums []string
	var folder string
	for range 2 {
		folder = t.TempDir()
		clients("pack", folder)
		text, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
		require.NoError(t, err)
		sums = append(sums, string(text))
	}
	require.Equal(t, sums[0], sums[1])
	for _, file := range []string{"frontdesk-sdk-" + version.Number + ".tgz", "frontdesk_sdk-" + version.Number + ".tar.gz", "frontdesk_sdk-" + version.Number + "-py3-none-any.whl",
		"go/frontdesk.internal/sdk/@v/v" + version.Number + ".zip"} {
		require.Contains(t, sums[0], "  "+file+"\n")
	}
	clients("install", folder)
}

// checkout copies the files of this checkout, with the browser code that make ui has built.
func checkout(t *testing.T, to string) {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others")
	list.Dir = "../.."
	out, err := list.Output()
	require.NoError(t, err)
	for f := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if strings.HasPrefix(f, ".run/") || strings.Contains(f, "node_modules/") {
			continue
		}
		from, err := os.Stat(filepath.Join("../..", f))
		if os.IsNotExist(err) {
			continue // deleted, and not committed
		}
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join("../..", f))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(to, filepath.Dir(f)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(to, f), text, from.Mode().Perm()))
	}
}

func TestEachProgramSaysItsVersion(t *testing.T) {
	to := t.TempDir()
	build := exec.Command("./build", to)
	build.Env = append(os.Environ(), "ARCH="+goarch(t), "REVISION=0123456789abcdef0123")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, programs, names(t, filepath.Join(to, goarch(t))))
	for _, p := range programs {
		for _, flag := range []string{"-version", "--version"} {
			out, err := exec.Command(filepath.Join(to, goarch(t), p), flag).CombinedOutput()
			require.NoError(t, err, string(out))
			require.Equal(t, p+" "+version.Number+" (0123456789ab)\n", string(out))
		}
	}
}

func goarch(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOARCH").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// names are those of a folder's files, sorted.
func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}
