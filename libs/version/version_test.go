package version

import (
	"os"
	"regexp"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABuildSaysItsNumberAndCommit(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for name, c := range map[string]struct {
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		"from a checkout":           {"", &debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "false"}}}, Number + " (0123456789ab)"},
		"from a changed checkout":   {"", &debug.BuildInfo{Settings: []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}}, Number + " (0123456789ab, changed)"},
		"told by the linker":        {"fedcba9876543210", &debug.BuildInfo{}, Number + " (fedcba987654)"},
		"from files without a past": {"", nil, Number},
	} {
		t.Run(name, func(t *testing.T) {
			revision = c.linked
			defer func() { revision = "" }()
			require.Equal(t, c.want, describe(c.info))
		})
	}
}

func TestTheChangelogEndsInThisVersion(t *testing.T) {
	log, err := os.ReadFile("../../deploy/CHANGELOG.md")
	require.NoError(t, err)
	releases := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+), \d{4}-\d{2}-\d{2}$`).FindAllStringSubmatch(string(log), -1)
	require.NotEmpty(t, releases)
	require.Equal(t, Number, releases[0][1])
}
