package durable

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileIsReplacedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secrets.json")
	require.NoError(t, Write(path, []byte("first, which is longer")))
	require.NoError(t, Write(path, []byte("second")))
	// The disk is full, for instance.
	full := errors.New("full")
	require.ErrorIs(t, replace(path, []byte("third"), func(*os.File) error { return full }), full)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "second", string(content))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no half of a file is left behind")
}
