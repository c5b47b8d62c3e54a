package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/trust"
)

func TestNewKeysOfAnInstallationThatHadOneKeyKeepItsHashesAndSignatures(t *testing.T) {
	const master = "the key of all services of this installation"
	printed := func(args ...string) (map[string]string, error) {
		out, err := exec.Command("/proc/self/exe", append([]string{"keys"}, args...)...).CombinedOutput()
		all := map[string]string{}
		for line := range strings.Lines(string(out)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			all[name] = value
		}
		return all, err
	}
	first, err := printed()
	require.NoError(t, err)
	require.Len(t, first["SVC_SHARED_KEY"], 64)

	_, err = printed("-shared", "", "-public", "")
	require.Error(t, err, "a random one would find nobody")

	next, err := printed("-shared", master, "-public", "")
	require.NoError(t, err)
	require.Equal(t, master, next["SVC_SHARED_KEY"])
	ring, err := trust.Parse(strings.Split(next["SVC_PUBLIC_KEYS"], ","))
	require.NoError(t, err)
	for _, name := range services {
		require.True(t, ring.Has(master, name), "what was signed before")
		require.True(t, ring.Has(next[strings.ToUpper(name)+"_KEY"], name))
	}
}
