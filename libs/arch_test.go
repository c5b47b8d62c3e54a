// Package libs holds mechanism; its test holds the rules of the tree.
package libs

import (
	"go/ast"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
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
	"github.com/alexedwards/argon2id": {"frontdesk/services/settings/"},
	"github.com/pquerna/otp":          {"frontdesk/services/settings/"},
	"github.com/boombuler/barcode":    {"frontdesk/services/settings/"},
	"github.com/nyaruka/phonenumbers": {"frontdesk/services/contacts/", "frontdesk/services/forms/"},
	"go.opentelemetry.io/":            {"frontdesk/libs/", "frontdesk/services/webhooks/", "frontdesk/services/contacts/internal/directory"},
	"github.com/prometheus/":          {"frontdesk/libs/app", "frontdesk/deploy/observe"},
	"github.com/grafana/":             {"frontdesk/deploy/observe"},
	"github.com/stretchr/testify":     {"frontdesk/libs/answer", "frontdesk/libs/app/apptest", "frontdesk/libs/db/dbtest", "frontdesk/libs/caldavtest", "frontdesk/deploy/system"},
	"github.com/compose-spec/":        {},
	"github.com/standard-webhooks/":   {"frontdesk/deploy/system", "frontdesk/services/settings/internal/settings/web/sample"},
	"pgregory.net/rapid":              {},
	"golang.org/x/tools":              {"frontdesk/deploy/dead"},
	"github.com/google/go-cmp":        {},
	"os/exec":                         {"frontdesk/libs/db/pgserver", "frontdesk/libs/caldavtest", "frontdesk/deploy/"},
	"unsafe":                          {"frontdesk/proto", "frontdesk/services/contacts/internal/directory"},
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
	"frontdesk/libs/look",
}

// mainModule are the packages of the main module; the gateway is one of its own, with versions of its own.
func mainModule(t *testing.T) tree {
	t.Helper()
	return loaded(t).below("frontdesk/services/", "frontdesk/libs/", "frontdesk/proto", "frontdesk/deploy/")
}

func TestEverybodyImportsOnlyWhatIsTheirs(t *testing.T) {
	left, all := slices.Clone(pure), mainModule(t)
	for _, p := range all {
		left = slices.DeleteFunc(left, func(name string) bool { return name == p.PkgPath })
		for imp := range p.Imports {
			for what, who := range only {
				tests := (what == "github.com/stretchr/testify" || what == "pgregory.net/rapid") && service(p.PkgPath) != "" && forTests(p)
				if strings.HasPrefix(imp, what) && !startsWithOneOf(p.PkgPath, who) && !tests {
					t.Errorf("%s imports %s, which is for %s", p.PkgPath, imp, strings.Join(who, ", "))
				}
			}
			if strings.HasPrefix(p.PkgPath, "frontdesk/libs/") && (strings.HasPrefix(imp, "frontdesk/services/") || strings.HasPrefix(imp, "frontdesk/deploy/")) {
				t.Errorf("%s imports %s: libs know no service", p.PkgPath, imp)
			}
			if i := slices.IndexFunc(all, func(i *packages.Package) bool { return i.PkgPath == imp }); i >= 0 && service(imp) != "" && forTests(all[i]) && !forTests(p) {
				t.Errorf("%s imports %s, which is for tests", p.PkgPath, imp)
			}
			if service(p.PkgPath) != "" && service(imp) != "" && service(imp) != service(p.PkgPath) {
				t.Errorf("%s imports %s: services talk over Kafka", p.PkgPath, imp)
			}
			for _, name := range pure {
				if p.PkgPath == name && (strings.HasPrefix(imp, "github.com/jackc/") || imp == "net/http" || imp == "frontdesk/libs/db" || imp == "frontdesk/libs/bus") {
					t.Errorf("%s imports %s: it only computes", p.PkgPath, imp)
				}
			}
		}
	}
	require.Empty(t, left, "pure names what is not there")
}

func TestPackagesAreNamedAfterWhatTheyHold(t *testing.T) {
	for _, p := range mainModule(t) {
		switch name := path.Base(p.PkgPath); name {
		case "util", "utils", "common", "base", "model", "models", "helper", "helpers", "type", "types", "misc", "shared":
			t.Errorf("%s: %q says nothing", p.PkgPath, name)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range mainModule(t) {
		if !slices.ContainsFunc(p.Syntax, func(f *ast.File) bool { return f.Doc != nil }) {
			t.Errorf("%s has no package comment", p.PkgPath)
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
