package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// confined requires of each container that stays up that its first process has the rights of a user, that it cannot write to its image, and that
// its log is replaced before it is large. It reads /proc of this machine, on which the engine runs.
func (s stack) confined(t *testing.T) {
	for _, name := range containers {
		facts := strings.Fields(s.run(t, "inspect", "--format", `{{.State.Pid}} {{.HostConfig.ReadonlyRootfs}} {{json .HostConfig.LogConfig}}`, container(name, 1)))
		require.Equal(t, "true", facts[1], "%s may write to its image", name)
		// Docker's word and Podman's.
		require.Regexp(t, `"(max-size|Size)":"[1-9]`, strings.Join(facts[2:], ""), "the log of %s grows without end", name)

		status, err := os.ReadFile(filepath.Join("/proc", facts[0], "status"))
		require.NoError(t, err)
		of := map[string][]string{}
		for line := range strings.Lines(string(status)) {
			key, values, _ := strings.Cut(line, ":")
			of[key] = strings.Fields(values)
		}
		require.NotContains(t, of["Uid"], "0", "%s runs as root", name)
		require.Equal(t, []string{"1"}, of["NoNewPrivs"], name)
		for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			require.Equal(t, []string{"0000000000000000"}, of[set], "%s: %s", name, set)
		}
		if name == "traefik" {
			require.Equal(t, []string{"65534", "65534", "65534", "65534"}, of["Uid"], "Traefik is nobody")
		}
	}
}
