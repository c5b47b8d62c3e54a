//go:build squawk

package libs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Replicas of the old version work on while a migration runs and after it (deploy/README.md, Migrations). These files break the rules
// of today; nobody can change them any more.
const first = "before 1.0.0, the first release: it ran on tables of test installations"

var broken = map[string]struct {
	rules, reason string
}{
	"libs/db/migrations/00010_published.sql":                                         {"require-concurrent-index-creation", first},
	"libs/db/migrations/00016_outbox_key.sql":                                        {"require-concurrent-index-deletion require-concurrent-index-creation", first},
	"services/booking/internal/booking/migrations/00003_provisional.sql":             {"require-concurrent-index-creation", first},
	"services/booking/internal/booking/migrations/00004_clients.sql":                 {"require-concurrent-index-creation", first},
	"services/contacts/internal/contacts/migrations/00002_directory.sql":             {"ban-drop-table require-concurrent-index-deletion require-concurrent-index-creation", first},
	"services/contacts/internal/contacts/migrations/00006_erasing.sql":               {"require-concurrent-index-creation", first},
	"services/contacts/internal/contacts/migrations/00008_tags.sql":                  {"adding-not-nullable-field constraint-missing-not-valid disallowed-unique-constraint rows", first + "; a business has few tags"},
	"services/contacts/internal/contacts/migrations/00009_merged.sql":                {"rows", first},
	"services/contacts/internal/contacts/migrations/00011_tag_names.sql":             {"ban-drop-column", first},
	"services/forms/internal/forms/migrations/00004_people.sql":                      {"require-concurrent-index-creation require-concurrent-index-deletion", first},
	"services/forms/internal/forms/migrations/00005_unanswered.sql":                  {"require-concurrent-index-creation", first},
	"services/settings/internal/settings/migrations/00002_forget.sql":                {"require-concurrent-index-creation", first},
	"services/settings/internal/settings/migrations/00003_forgotten.sql":             {"ban-drop-table", first},
	"services/settings/internal/settings/migrations/00004_door.sql":                  {"adding-field-with-default require-concurrent-index-creation", first},
	"services/settings/internal/settings/migrations/00005_mail_sending.sql":          {"constraint-missing-not-valid require-concurrent-index-creation", first},
	"services/webhooks/internal/webhooks/migrations/00002_first_of_each_record.sql":  {"require-concurrent-index-creation", first},
	"services/webhooks/internal/webhooks/migrations/00003_people.sql":                {"require-concurrent-index-creation", first},
	"services/webhooks/internal/webhooks/migrations/00006_old_secret_and_replay.sql": {"constraint-missing-not-valid", first},
	"services/webhooks/internal/webhooks/migrations/00007_events.sql":                {"adding-field-with-default adding-not-nullable-field require-concurrent-index-creation rows", first},
}

func TestNoMigrationStopsTheVersionBeforeIt(t *testing.T) {
	left := map[string]bool{}
	for file := range broken {
		left[file] = true
	}
	for _, file := range migrations(t) {
		text, err := os.ReadFile(filepath.Join("..", file))
		require.NoError(t, err)
		found := lint(t, string(text))
		allowed := strings.Fields(broken[file].rules)
		for _, f := range found {
			if !slices.Contains(allowed, f.Rule) {
				t.Errorf("%s:%d: %s: %s", file, f.Line, f.Rule, f.Message)
			}
		}
		for _, rule := range allowed {
			require.True(t, slices.ContainsFunc(found, func(f finding) bool { return f.Rule == rule }), "%s does not break %s: take it from the list", file, rule)
		}
		delete(left, file)
	}
	require.Empty(t, left, "the list names files that are not there")
}

// A version of a release works beside the next one. So a file that takes something away was in the first release, or an earlier release
// than its own has stopped using what goes.
func TestWhatAVersionTakesAwayTheReleaseBeforeDoesNotUse(t *testing.T) {
	changes, err := os.ReadFile("../deploy/CHANGELOG.md")
	require.NoError(t, err)
	for file, b := range broken {
		if strings.Contains(b.rules, "ban-drop-") {
			require.NoError(t, mayTake(file, b.reason, string(changes), released(t)[file]))
		}
	}

	const file, log = "services/shelf/internal/shelf/migrations/00002_label.sql", "# Changes\n\n## To come\n\n## 1.1.0, 2026-12-01\n\n## 1.0.0, 2026-11-22\n\n00001 of shelf\n"
	for name, c := range map[string]struct {
		file, reason string
		released     bool
		allowed      bool
	}{
		"a release has stopped using it":           {file, "unused since 1.1.0: the label is in board", false, true},
		"and it was released after that one":       {file, "unused since 1.1.0: the label is in board", true, true},
		"the version to come stops using it":       {file, "unused since 1.2.0: the label is in board", false, false},
		"nothing is said of a release":             {file, "nobody reads it", false, false},
		"it was there in the first release":        {strings.Replace(file, "00002", "00001", 1), first, true, true},
		"it claims to have been there":             {strings.Replace(file, "00002", "00001", 1), first, false, false},
		"it is not named for those that come anew": {file, first, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.allowed, mayTake(c.file, c.reason, log, c.released) == nil)
		})
	}
}

var unusedSince = regexp.MustCompile(`^unused since (\d+\.\d+\.\d+)\b`)

// mayTake returns nil if a migration may take a column, table or name away for this reason. changes is the text of the changelog; inRelease
// says that the file is in a release.
func mayTake(file, reason, changes string, inRelease bool) error {
	if m := unusedSince.FindStringSubmatch(reason); m != nil {
		if !strings.Contains(changes, "\n## "+m[1]+", ") {
			return fmt.Errorf("%s: %s is no release yet: the next one may take away what it does not use", file, m[1])
		}
		return nil
	}
	if !strings.HasPrefix(reason, first) {
		return fmt.Errorf("%s: the reason of a file that takes something away is `unused since 1.2.3`, a release", file)
	}
	_, service, _ := strings.Cut(file, "services/")
	service, _, _ = strings.Cut(service, "/")
	number, _, _ := strings.Cut(filepath.Base(file), "_")
	if _, section, _ := strings.Cut(changes, "\n## 1.0.0, "); !inRelease || !strings.Contains(section, number+" of "+service) {
		return fmt.Errorf("%s: the first release has no such file, or its changelog does not name it", file)
	}
	return nil
}

func TestWhatBlocksOrBreaksTheVersionBeforeIsFound(t *testing.T) {
	for sql, rule := range map[string]string{
		"create index i on shelf (label);":                                          "require-concurrent-index-creation",
		"drop index i;":                                                             "require-concurrent-index-deletion",
		"create index concurrently i on shelf (label);":                             "index",
		"alter table shelf alter column label type bigint;":                         "changing-column-type",
		"alter table shelf alter column label set not null;":                        "adding-not-nullable-field",
		"alter table shelf add label text not null;":                                "adding-required-field",
		"alter table shelf add at timestamptz not null default clock_timestamp();":  "adding-field-with-default",
		"alter table shelf add constraint short check (length(label) < 9);":         "constraint-missing-not-valid",
		"alter table shelf add constraint room foreign key (room) references room;": "adding-foreign-key-constraint",
		"alter table shelf add constraint one unique (label);":                      "disallowed-unique-constraint",
		"alter table shelf drop column label;":                                      "ban-drop-column",
		"alter table shelf rename column label to name;":                            "renaming-column",
		"alter table shelf rename to board;":                                        "renaming-table",
		"drop table shelf;":                                                         "ban-drop-table",
		"update shelf set label = '';":                                              "rows",
		"with old as (select 1) delete from shelf using old;":                       "rows",
		"-- squawk-ignore ban-drop-table\ndrop table shelf;":                        "ignored",
		"create index concurrently if not exists i on shelf (label);":               "index",
	} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			var rules []string
			for _, f := range lint(t, "-- +goose Up\n"+sql+"\n-- +goose Down\nselect 1;\n") {
				rules = append(rules, f.Rule)
			}
			require.Contains(t, rules, rule)
		})
	}
	for name, text := range map[string]string{
		"a column":            "-- +goose Up\nalter table shelf add label text not null default '';\n",
		"a table":             "-- +goose Up\ncreate table room (id int primary key, name text not null unique);\ncreate index room_name on room (name);\n",
		"an index, in use":    "-- +goose NO TRANSACTION\n-- +goose Up\nset lock_timeout = 0;\ndrop index concurrently if exists i;\ncreate index concurrently i on shelf (label);\n",
		"a check, in two":     "-- +goose Up\nalter table shelf add constraint short check (length(label) < 9) not valid;\n",
		"and its second half": "-- +goose Up\nalter table shelf validate constraint short;\n",
		"down is as it likes": "-- +goose Up\nselect 1;\n-- +goose Down\ndrop table shelf;\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, lint(t, text))
		})
	}
}

type finding struct {
	Line    int    `json:"line"`
	Rule    string `json:"rule_name"`
	Message string `json:"message"`
}

var (
	rows  = regexp.MustCompile(`(?mi)^(update|delete|truncate|with|lock|cluster|vacuum)\b`)
	index = regexp.MustCompile(`(?i)create (?:unique )?index concurrently (\w+)`)
)

// lint checks the way up of a migration by Squawk (the program $SQUAWK), and by rules that it does not have.
func lint(t *testing.T, text string) (found []finding) {
	t.Helper()
	up, _, _ := strings.Cut(text, "-- +goose Down")
	args := []string{"--reporter", "json", "--pg-version", "18",
		// How large a number gets, a migration cannot say. Time-outs are libs/db's; an index that is made again is ruled below.
		"--exclude", "prefer-bigint-over-int,prefer-bigint-over-smallint,require-lock-timeout,require-statement-timeout,prefer-robust-stmts"}
	inTransaction := !strings.Contains(up, "-- +goose NO TRANSACTION")
	if inTransaction {
		args = append(args, "--assume-in-transaction")
	}
	squawk := exec.Command(os.Getenv("SQUAWK"), args...)
	squawk.Stdin = strings.NewReader(up)
	out, err := squawk.Output()
	if _, refused := errors.AsType[*exec.ExitError](err); !refused {
		require.NoError(t, err, "SQUAWK is the program that make migrations fetches")
	}
	require.NoError(t, json.Unmarshal(out, &found), string(out))
	add := func(at int, rule, message string) {
		found = append(found, finding{1 + strings.Count(up[:at], "\n"), rule, message})
	}
	for _, m := range rows.FindAllStringIndex(up, -1) {
		add(m[0], "rows", "rows that are there are changed in slices, by a job of the service")
	}
	if at := strings.Index(up, "squawk-ignore"); at >= 0 {
		add(at, "ignored", "an exception stands in libs/migrations_lint_test.go, with its reason")
	}
	for _, m := range index.FindAllStringSubmatchIndex(up, -1) {
		name := up[m[2]:m[3]]
		if inTransaction || !strings.Contains(up[:m[0]], "set lock_timeout = 0;") || !strings.Contains(up[:m[0]], fmt.Sprintf("drop index concurrently if exists %s;", name)) {
			add(m[0], "index", "waits without a time-out, and first drops what an earlier try left: see deploy/README.md")
		}
	}
	return found
}
