package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsPrintedBeginsWithTheAddressOfTheTeam(t *testing.T) {
	l := &launch{knobs: knobs{HTTPPort: 8080, PublicURL: "http://localhost:8080", AdminLogin: "admin", AdminPassword: "a secret", DataDir: ".run"}, own: true}
	lines := strings.Split(strings.TrimSpace(l.screen()), "\n")
	require.Regexp(t, `^  The team +http://localhost:8080/team$`, lines[2])
	require.Regexp(t, `^  Administrator +admin +password +a secret$`, lines[3])
	require.Regexp(t, `(?m)^  A lost password +\.run/bin/local reset-password admin$`, l.screen())
	require.Contains(t, l.screen(), "http://localhost:8081")
}
