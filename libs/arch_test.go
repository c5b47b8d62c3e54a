// Package libs holds mechanism; its test holds the rules of the tree.
package libs

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// only names who may import what; everybody else may not.
var only = map[string][]string{
	"github.com/go-kit/":              {"frontdesk/libs/op"},
	"github.com/segmentio/kafka-go":   {"frontdesk/libs/bus", "frontdesk/libs/app/apptest", "frontdesk/deploy/"},
	"github.com/twmb/":                {"frontdesk/deploy/", "frontdesk/libs/app/apptest"},
	"github.com/wneessen/go-mail":     {"frontdesk/libs/mail"},
	"github.com/arran4/golang-ical":   {"frontdesk/libs/ics"},
	"code.dny.dev/ssrf":               {"frontdesk/libs/fetch"},
	"github.com/pressly/goose":        {"frontdesk/libs/db"},
	"github.com/getkin/kin-openapi":   {"frontdesk/libs/app/apptest"},
	"github.com/santhosh-tekuri/":     {"frontdesk/libs/app/apptest"},
	"github.com/riverqueue/":          {"frontdesk/services/webhooks/"},
	"github.com/alexedwards/argon2id": {"frontdesk/services/settings/"},
	"github.com/pquerna/otp":          {"frontdesk/services/settings/"},
	"github.com/boombuler/barcode":    {"frontdesk/services/settings/"},
	"github.com/nyaruka/phonenumbers": {"frontdesk/services/contacts/", "frontdesk/services/forms/"},
	"go.opentelemetry.io/":            {"frontdesk/libs/", "frontdesk/services/webhooks/", "frontdesk/services/contacts/internal/directory"},
	"github.com/prometheus/":          {"frontdesk/libs/app", "frontdesk/deploy/observe"},
	"github.com/grafana/":             {"frontdesk/deploy/observe"},
	"github.com/stretchr/testify":     {"frontdesk/libs/answer", "frontdesk/libs/app/apptest", "frontdesk/libs/db/dbtest", "frontdesk/deploy/system"},
	"github.com/compose-spec/":        {},
	"github.com/standard-webhooks/":   {"frontdesk/deploy/system", "frontdesk/services/settings/internal/settings/web/sample"},
	"pgregory.net/rapid":              {},
	"github.com/google/go-cmp":        {},
}

// pure packages compute: they touch no database, no network, no Kafka.
var pure = []string{
	"frontdesk/services/booking/internal/slots",
	"frontdesk/services/forms/internal/definition",
	"frontdesk/services/contacts/internal/person",
	"frontdesk/services/contacts/internal/csvfile",
	"frontdesk/services/contacts/internal/record",
	"frontdesk/services/webhooks/internal/signature",
	"frontdesk/libs/address",
	"frontdesk/libs/csvcell",
	"frontdesk/libs/form",
}

type listed struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
}

func packages(t *testing.T) (all []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		require.NoError(t, dec.Decode(&p))
		all = append(all, p)
	}
	require.NotEmpty(t, all)
	return all
}

func TestEverybodyImportsOnlyWhatIsTheirs(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			for what, who := range only {
				if strings.HasPrefix(imp, what) && !startsWithOneOf(p.ImportPath, who) {
					t.Errorf("%s imports %s, which is for %s", p.ImportPath, imp, strings.Join(who, ", "))
				}
			}
			if strings.HasPrefix(p.ImportPath, "frontdesk/libs/") && (strings.HasPrefix(imp, "frontdesk/services/") || strings.HasPrefix(imp, "frontdesk/deploy/")) {
				t.Errorf("%s imports %s: libs know no service", p.ImportPath, imp)
			}
			if service(p.ImportPath) != "" && service(imp) != "" && service(imp) != service(p.ImportPath) {
				t.Errorf("%s imports %s: services talk over Kafka", p.ImportPath, imp)
			}
			for _, name := range pure {
				if p.ImportPath == name && (strings.HasPrefix(imp, "github.com/jackc/") || imp == "net/http" || imp == "frontdesk/libs/db" || imp == "frontdesk/libs/bus") {
					t.Errorf("%s imports %s: it only computes", p.ImportPath, imp)
				}
			}
		}
	}
}

func TestPackagesAreNamedAfterWhatTheyHold(t *testing.T) {
	for _, p := range packages(t) {
		switch name := filepath.Base(p.ImportPath); name {
		case "util", "utils", "common", "models", "helpers", "misc", "shared":
			t.Errorf("%s: %q says nothing", p.ImportPath, name)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		said := false
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.PackageClauseOnly|parser.ParseComments)
			require.NoError(t, err)
			said = said || file.Doc != nil
		}
		if !said {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

func TestTheTopLevelIsWhatTheCardSays(t *testing.T) {
	allowed := []string{"services", "gateway", "libs", "deploy", "proto", "docker-compose.yml", "go.work", "go.work.sum", "go.mod", "go.sum", "Makefile", "README.md"}
	entries, err := os.ReadDir("..")
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !startsWithOneOf(e.Name(), allowed) {
			t.Errorf("%s does not belong at the top level", e.Name())
		}
	}
}

func service(path string) string {
	rest, ok := strings.CutPrefix(path, "frontdesk/services/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func startsWithOneOf(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
