package system

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	heading = regexp.MustCompile(`(?m)^#{2,} (.*)$`)
	block   = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
)

// Blocks returns the blocks of commands in a text, by the heading that they stand below.
func Blocks(text string) map[string][]string {
	all := map[string][]string{}
	// A comment in a block looks like a heading of the first level, which no section has.
	at := heading.FindAllStringSubmatchIndex(text, -1)
	for i, h := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		for _, b := range block.FindAllStringSubmatch(text[h[1]:end], -1) {
			all[text[h[2]:h[3]]] = append(all[text[h[2]:h[3]]], b[1])
		}
	}
	return all
}

// Commands returns a block of commands in deploy/README.md: the one with this number, from 1 on, below a heading. Both are literals at
// each call, by which TestEachCommandOfTheRunbookIsRunByATest (deploy) sees what is run.
func Commands(t testing.TB, below string, number int) string {
	t.Helper()
	root, err := Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "deploy/README.md"))
	require.NoError(t, err)
	all := Blocks(string(text))[below]
	require.GreaterOrEqual(t, len(all), number, "deploy/README.md has fewer blocks of commands below %q", below)
	return all[number-1]
}

// Elsewhere returns a new folder that has nothing but .run/bin/local, as a machine of operators may.
func Elsewhere(t testing.TB) string {
	t.Helper()
	root, err := Root()
	require.NoError(t, err)
	dir := t.TempDir()
	// What make has built needs no second link.
	build := exec.Command("sh", "-c", `go build -o .run/bin/local ./deploy/local && mkdir -p "$1/.run/bin" && cp .run/bin/local "$1/.run/bin"`, "-", dir)
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}

// Shell runs commands in a folder, in the environment of the test and with more variables, until one fails. It returns what they print.
func Shell(t testing.TB, folder, commands string, env ...string) string {
	t.Helper()
	var said strings.Builder
	cmd := exec.CommandContext(t.Context(), "bash", "-euxo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env, cmd.Stderr = folder, append(os.Environ(), env...), &said
	out, err := cmd.Output()
	require.NoError(t, err, "%s%s", said.String(), out)
	return string(out)
}
