package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATraefikThatIsThereIsNotBuilt(t *testing.T) {
	says := func(version string) string {
		program := filepath.Join(t.TempDir(), "traefik")
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho 'Version:      "+version+"'\n"), 0o755))
		return program
	}
	for _, tt := range []struct {
		name, given, onPath, kept, say string
	}{
		{name: "one that is given", given: says("3.6.12")},
		{name: "one of another version that is given", given: says("3.5.0"), say: "Traefik v3.5.0 from SVC_TRAEFIK_BIN, not v3.6.12, with which everything was tested"},
		{name: "one on the PATH", onPath: says("3.6.12")},
		{name: "one that another checkout has built", onPath: says("3.5.0"), kept: "traefik-v3.6.12-1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", filepath.Dir(tt.onPath)+":/usr/bin:/bin")
			tools := t.TempDir()
			t.Setenv("FRONTDESK_TOOLS", tools)
			expected := tt.given + tt.onPath
			if tt.kept != "" {
				expected = filepath.Join(tools, tt.kept)
				require.NoError(t, os.WriteFile(expected, nil, 0o755))
			}
			var said string
			b := builder{bin: t.TempDir(), say: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
			program, err := b.traefik(t.Context(), tt.given)
			require.NoError(t, err)
			require.Equal(t, expected, program)
			require.Equal(t, tt.say, said)
			linked, err := filepath.EvalSymlinks(filepath.Join(b.bin, "traefik"))
			require.NoError(t, err)
			require.Equal(t, program, linked)
		})
	}
	_, err := builder{bin: t.TempDir()}.traefik(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "SVC_TRAEFIK_BIN is ")
}
