package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// notRun are the commands of the runbook that no test runs, with the reason. A block has its heading and number, any other command the
// words that it begins with.
var notRun = map[string]string{
	"Measuring 1":   "compares with a checkout that the reader has",
	"Watching it 1": "pulls images of Prometheus, Grafana and Jaeger, which the machines of the tests cannot; make observe tries their files",

	"make test":              "is the tests",
	"make verify":            "is checks",
	"make observe":           "is a test",
	"make e2e-apache":        "is tests",
	"make compose-test":      "is a test",
	"make chart-server":      "is a test",
	"make bench":             "measures for many minutes",
	"go run ./deploy/bench/": "measures for many minutes",
	"make release":           "builds what deploy/release tests",
	"make launcher":          "is what builds it: a test has its own",
	"make kafka":             "runs until it is stopped; .ci/run starts what it starts",
	"make run":               "runs until it is stopped; each test of a whole system starts what it starts",
	"UPDATE_OBSERVE=1 go test ./deploy/observe": "writes files that the test of the same name compares",
	"kubectl ":   "needs a cluster",
	"local get ": "is the health check of the containers",
	"ssh ":       "needs two machines",
}

// A command is run as it stands by a test that asks for its block, or it is in notRun.
func TestEachCommandOfTheRunbookIsRunByATest(t *testing.T) {
	run := map[string]bool{}
	call := regexp.MustCompile(`\bCommands\(t, "([^"]+)", (\d)\)`)
	require.NoError(t, filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, c := range call.FindAllStringSubmatch(string(source), -1) {
			run[c[1]+" "+c[2]] = true
		}
		return err
	}))
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var lines []string
	blocks, excused := 0, map[string]bool{}
	for heading, all := range system.Blocks(string(readme)) {
		for i, block := range all {
			blocks++
			name := heading + " " + strconv.Itoa(i+1)
			if notRun[name] != "" {
				require.False(t, run[name], "%s is run: it needs no excuse", name)
				excused[name] = true
			} else {
				require.True(t, run[name], "no test runs these commands, the block %s of deploy/README.md:\n%s", name, block)
			}
			lines = append(lines, strings.Split(block, "\n")...)
		}
	}
	require.Equal(t, strings.Count(string(readme), "```sh"), blocks, "a block that begins at the start of a line, below a heading")

	prose := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(string(readme), "")
	programs := regexp.MustCompile(`^([A-Z_]+=\S+ )*(make|go|docker|kubectl|ssh|psql|pg_\w+|curl|(\.run/bin/)?local|settings|contacts|booking|forms|webhooks|<service>) `)
	for _, span := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(prose, -1) {
		command := span[1]
		if !programs.MatchString(command) {
			continue
		}
		begins := func(words string) bool { return strings.HasPrefix(command, words) }
		if slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line+" ", strings.TrimPrefix(command, ".run/bin/")+" ")
		}) {
			continue // stands in a block
		}
		found := false
		for words := range notRun {
			if begins(words) {
				excused[words], found = true, true
			}
		}
		require.True(t, found, "no test runs %q of deploy/README.md: put it into a block that one runs, or say why none can", command)
	}
	for name := range notRun {
		require.True(t, excused[name], "%q is not in deploy/README.md any more", name)
	}
}

// A file of variables has one a line: whatever stands behind the first = is its value.
func TestEveryVariableOfTheRecipesStandsOnALineOfItsOwn(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	compose, err := os.ReadFile("../docker-compose.yml")
	require.NoError(t, err)
	tls, err := os.ReadFile("compose.tls.yml")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```ini\n(.*?)^```$").FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			m := regexp.MustCompile(`^([A-Z_]+)=(\S+)\n$`).FindStringSubmatch(line)
			require.NotNil(t, m, "%q is not NAME=value", line)
			require.NotContains(t, m[2], "=", line)
			require.Contains(t, string(compose)+string(tls), "${"+m[1], "no compose file reads it")
		}
	}
}
