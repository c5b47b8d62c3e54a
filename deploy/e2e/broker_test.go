package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// aboutBrokers recognises a file that works with the broker itself: it writes or reads messages, kills the broker, or reads what is parked.
var aboutBrokers = regexp.MustCompile(`kafka\.(Message|Writer|Reader|NewReader)|"kafka"[,}]|\+ "/parked"`)

// A test that may go another way on Apache Kafka has the directive //e2e:broker, by which deploy/e2e/apache runs it there too.
func TestWhatIsAboutBrokersRunsOnApacheKafka(t *testing.T) {
	out, err := exec.Command("./apache", "tests").Output()
	require.NoError(t, err)
	run := strings.Split(strings.TrimSpace(string(out)), "|")
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	directives := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		require.NoError(t, err)
		for _, group := range file.Comments {
			for _, c := range group.List {
				if c.Text == "//e2e:broker" {
					directives++
				}
			}
		}
		tests := 0
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && slices.Contains(run, f.Name.Name) {
				tests++
			}
		}
		if name != "broker_test.go" && aboutBrokers.Match(source) {
			require.NotZero(t, tests, "%s works with the broker, and no test of it runs on Apache Kafka: write //e2e:broker above one", name)
		}
	}
	require.Len(t, run, directives, "a directive does not stand right above a test: %s", run)
}
