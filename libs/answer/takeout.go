package answer

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"github.com/stretchr/testify/require"
)

// Takeout holds the files of a takeout against its manifest, and returns the rows of its lists by their names.
func (a *Answer) Takeout() map[string][]map[string]any {
	t := a.T
	t.Helper()
	require.Equal(t, "application/zip", a.Header.Get("Content-Type"))
	z, err := zip.NewReader(strings.NewReader(a.Body), int64(len(a.Body)))
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		require.NotContains(t, files, f.Name)
		files[f.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
	var m struct {
		Lists []struct {
			Name, SHA256 string
			Rows         int
		}
	}
	require.NoError(t, json.Unmarshal(files["manifest.json"], &m))
	require.Len(t, m.Lists, len(files)-1)
	lists := map[string][]map[string]any{}
	for _, l := range m.Lists {
		sum := sha256.Sum256(files[l.Name])
		require.Equal(t, l.SHA256, hex.EncodeToString(sum[:]), l.Name)
		if name, ok := strings.CutSuffix(l.Name, ".json"); ok {
			rows := []map[string]any{}
			require.NoError(t, json.Unmarshal(files[l.Name], &rows), l.Name)
			require.Len(t, rows, l.Rows, l.Name)
			lists[name] = rows
			continue
		}
		rows, err := csv.NewReader(bytes.NewReader(files[l.Name])).ReadAll()
		require.NoError(t, err, l.Name)
		require.Len(t, rows, l.Rows+1, l.Name)
	}
	return lists
}
