package libs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheMapOfLibsShowsThePackagesOnTheirFloors(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(raw), "\n## Floors\n")
	require.True(t, found)
	floors, life, found := strings.Cut(text, "\n## ")
	require.True(t, found)
	var order []string
	for _, line := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(floors, -1) {
		for _, name := range strings.Split(line[1], ", ") {
			order = append(order, strings.Trim(name, "`"))
		}
	}
	all := mainModule(t).below("frontdesk/libs/")
	for _, p := range all {
		name := strings.TrimPrefix(p.PkgPath, "frontdesk/libs/")
		at := slices.Index(order, name)
		if !assert.GreaterOrEqual(t, at, 0, "libs/README.md leaves %s out", name) {
			continue
		}
		for imported := range p.Imports {
			if below, of := strings.CutPrefix(imported, "frontdesk/libs/"); of {
				assert.Contains(t, order[:at], below, "%s imports %s, which does not stand before it in libs/README.md", name, below)
			}
		}
	}
	assert.Len(t, order, len(all), "libs/README.md names a package twice, or one that does not exist: %v", order)
	for _, name := range regexp.MustCompile("`([a-z/_]+/[a-z_]+\\.go)`").FindAllStringSubmatch(life, -1) {
		assert.FileExists(t, name[1], "libs/README.md names it")
	}
}
