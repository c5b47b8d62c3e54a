package contacts

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/record"
)

// Tag is a word that contacts are grouped by.
type Tag struct {
	Name string `json:"name"`
	Slug string `json:"slug"`

	status int
}

// StatusCode is 201 for a tag that was made, else 200.
func (t Tag) StatusCode() int { return t.status }

// RecordID names the tag in the audit log.
func (t Tag) RecordID() string { return t.Slug }

var latin = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ð", "d", "þ", "th", "ł", "l", "đ", "d", "ı", "i")

// slug is the lower-case kebab of a name: letters and digits without accents, with - between words. A
// name without any keeps its characters, so that two such names stay two.
func slug(name string) string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(latin.Replace(strings.ToLower(name))))
	if s := strings.Join(strings.Fields(folded), "-"); s != "" {
		return s
	}
	return strings.Join(strings.Fields(name), "-")
}

// tagNames makes the tags that do not exist yet and gives the names under which they are known, in the
// order given, each once. Empty ones are left out.
func tagNames(ctx context.Context, tx *db.Tx, given []string) ([]string, error) {
	names := map[string]string{} // by slug, as given first
	var slugs []string
	for _, name := range given {
		name = strings.Join(strings.Fields(name), " ")
		if name == "" {
			continue
		}
		if k := slug(name); names[k] == "" {
			names[k] = name
			slugs = append(slugs, k)
		}
	}
	if len(slugs) == 0 {
		return []string{}, nil
	}
	known, err := knownTags(ctx, tx, slugs)
	if err != nil {
		return nil, err
	}
	if len(known) < len(slugs) {
		sorted := slices.Sorted(slices.Values(slugs))
		fresh := make([]string, len(sorted))
		for i, k := range sorted {
			fresh[i] = names[k]
		}
		if _, err := tx.Exec(ctx, `insert into tag (slug, name, created_at) select *, $3 from unnest($1::text[], $2::text[]) on conflict do nothing`,
			sorted, fresh, tx.Now); err != nil {
			return nil, err
		}
		if known, err = knownTags(ctx, tx, slugs); err != nil {
			return nil, err
		}
	}
	out := make([]string, len(slugs))
	for i, k := range slugs {
		out[i] = known[k]
	}
	return out, nil
}

// tagsByName is tagNames for the tags of many records at once: named gives those of one record.
func tagsByName(ctx context.Context, tx *db.Tx, typed record.Names) (named func([]string) []string, err error) {
	names, err := tagNames(ctx, tx, slices.Sorted(maps.Keys(typed)))
	if err != nil {
		return nil, err
	}
	known := make(map[string]string, len(names))
	for _, n := range names {
		known[slug(n)] = n
	}
	return func(tags []string) []string {
		out := make([]string, 0, len(tags))
		for _, t := range tags {
			if n := known[slug(t)]; n != "" {
				out = append(out, n)
			}
		}
		return record.Union(out, nil)
	}, nil
}

func knownTags(ctx context.Context, tx *db.Tx, slugs []string) (map[string]string, error) {
	rows, err := tx.Query(ctx, `select slug, name from tag where slug = any($1)`, slugs)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	var k, name string
	_, err = pgx.ForEachRow(rows, []any{&k, &name}, func() error { known[k] = name; return nil })
	return known, err
}

// listTags lists every tag by name.
func (s *service) listTags(ctx context.Context, tx *db.Tx, _ op.None) (db.List[Tag], error) {
	rows, err := tx.Query(ctx, `select name, slug from tag order by fold(name), slug`)
	if err != nil {
		return db.List[Tag]{}, err
	}
	tags, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Tag, err error) { return t, row.Scan(&t.Name, &t.Slug) })
	return db.All(tags), err
}

// NewTag is what a tag is made of.
type NewTag struct {
	Name string `json:"name" required:"true" maxLength:"100"`
}

// createTag makes a tag, or finds the one with the same slug.
func (s *service) createTag(ctx context.Context, tx *db.Tx, in NewTag) (Tag, error) {
	name := strings.Join(strings.Fields(in.Name), " ")
	if name == "" {
		return Tag{}, fault.Invalid("name", fault.Empty())
	}
	t := Tag{Name: name, Slug: slug(name), status: http.StatusCreated}
	done, err := tx.Exec(ctx, `insert into tag (slug, name, created_at) values ($1, $2, $3) on conflict do nothing`, t.Slug, t.Name, tx.Now)
	if err != nil || done.RowsAffected() == 1 {
		return t, err
	}
	t.status = http.StatusOK
	return t, tx.QueryRow(ctx, `select name from tag where slug = $1`, t.Slug).Scan(&t.Name)
}
