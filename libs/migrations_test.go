package libs

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// migrations are the files of libs/db and of all services, by their path from the root.
func migrations(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"../libs/db/migrations/*", "../services/*/internal/*/migrations/*"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.NotEmpty(t, files)
	for i, f := range files {
		files[i] = strings.TrimPrefix(f, "../")
	}
	slices.Sort(files)
	return files
}

func TestEveryMigrationHasANumberOfItsOwn(t *testing.T) {
	named := regexp.MustCompile(`^(\d{5})_[a-z][a-z0-9_]*\.sql$`)
	taken := map[string]string{}
	for _, file := range migrations(t) {
		m := named.FindStringSubmatch(filepath.Base(file))
		if m == nil {
			t.Errorf("%s: a migration is named like 00012_one_or_more_words.sql", file)
			continue
		}
		place := filepath.Dir(file) + "/" + m[1]
		if other := taken[place]; other != "" {
			t.Errorf("%s and %s have the same number: give one of them the next that is free", other, file)
		}
		taken[place] = file
	}
}

// migrations.sum has the SHA-256 of every migration of a release. A release adds its new ones, in the form of sha256sum:
//
//	sha256sum libs/db/migrations/*.sql services/*/internal/*/migrations/*.sql > libs/migrations.sum
func TestMigrationsOfReleasesStayAsTheyWere(t *testing.T) {
	last := map[string]string{} // by folder, the newest that was released
	old := released(t)
	for file := range old {
		last[filepath.Dir(file)] = max(last[filepath.Dir(file)], file)
	}
	for _, file := range migrations(t) {
		if !old[file] {
			require.Greater(t, file, last[filepath.Dir(file)], "%s would run on no installation that has later ones: give it a higher number", file)
		}
	}
}

// released are the files of releases, which have to be as migrations.sum says.
func released(t *testing.T) map[string]bool {
	t.Helper()
	sums, err := os.ReadFile("migrations.sum")
	require.NoError(t, err)
	all := map[string]bool{}
	for line := range strings.Lines(string(sums)) {
		sum, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, line)
		text, err := os.ReadFile(filepath.Join("..", file))
		require.NoError(t, err, "%s is in a release: installations have run it", file)
		is := sha256.Sum256(text)
		require.Equal(t, sum, hex.EncodeToString(is[:]), "%s is in a release: installations have run it as it was, so write a new migration", file)
		all[file] = true
	}
	return all
}
