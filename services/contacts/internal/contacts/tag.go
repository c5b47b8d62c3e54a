package contacts

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/person"
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

// slug is the lower-case kebab of a name: letters and digits without accents, with - between words. A name without letters
// and digits keeps its characters.
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

// tagNamed is an SQL expression: the name of the tag with a given name or slug; null if no tag has it.
const tagNamed = `(select name from tag where key = tag_key(?) or slug = lower(?) order by key = tag_key(?) desc limit 1)`

// tagNames makes the tags that do not exist yet and gives the names under which they are known, in the order given, each
// once. Empty ones are left out.
func tagNames(ctx context.Context, tx *db.Tx, given []string) ([]string, error) {
	typed := record.Names{}
	for _, t := range given {
		typed[t] = true
	}
	named, err := tagsByName(ctx, tx, typed)
	if err != nil {
		return nil, err
	}
	return named(given), nil
}

// tagsByName is tagNames for the tags of many records at once: named gives those of one record.
func tagsByName(ctx context.Context, tx *db.Tx, typed record.Names) (named func([]string) []string, err error) {
	var names []string
	for t := range typed {
		if t = person.Name(t); t != "" {
			names = append(names, t)
		}
	}
	known := map[string]string{}
	if len(names) > 0 {
		if known, err = knownTags(ctx, tx, names); err != nil {
			return nil, err
		}
	}
	// In the order of slugs, so that two transactions wait for each other and never in a circle.
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(strings.Compare(slug(a), slug(b)), strings.Compare(a, b)) })
	for _, name := range names {
		if known[name] == "" {
			t, err := makeTag(ctx, tx, name)
			if err != nil {
				return nil, err
			}
			known[name] = t.Name
		}
	}
	return func(tags []string) []string {
		out := make([]string, 0, len(tags))
		for _, t := range tags {
			if name := known[person.Name(t)]; name != "" {
				out = append(out, name)
			}
		}
		return record.Union(out, nil)
	}, nil
}

// knownTags gives the names under which tags are known, by what was typed.
func knownTags(ctx context.Context, tx *db.Tx, typed []string) (map[string]string, error) {
	rows, err := tx.Query(ctx, `select typed, name from unnest($1::text[]) typed join tag on key = tag_key(typed)`, typed)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	var t, name string
	_, err = pgx.ForEachRow(rows, []any{&t, &name}, func() error { known[t] = name; return nil })
	return known, err
}

// makeTag makes a tag, or finds the one of the same name. Its slug gets a number when another tag has it.
func makeTag(ctx context.Context, tx *db.Tx, name string) (Tag, error) {
	base := slug(name)
	for n := 1; ; n++ {
		t := Tag{Name: name, Slug: base, status: http.StatusCreated}
		if n > 1 {
			t.Slug = base + "-" + strconv.Itoa(n)
		}
		done, err := tx.Exec(ctx, `insert into tag (slug, key, name, created_at) values ($1, tag_key($2), $2, $3) on conflict do nothing`, t.Slug, name, tx.Now)
		if err != nil || done.RowsAffected() == 1 {
			return t, err
		}
		t.status = http.StatusOK
		err = tx.QueryRow(ctx, `select name, slug from tag where key = tag_key($1)`, name).Scan(&t.Name, &t.Slug)
		if !errors.Is(err, pgx.ErrNoRows) {
			return t, err
		}
	}
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

// createTag makes a tag, or finds the one of the same name.
func (s *service) createTag(ctx context.Context, tx *db.Tx, in NewTag) (Tag, error) {
	name := person.Name(in.Name)
	if name == "" {
		return Tag{}, fault.Invalid("name", fault.Empty())
	}
	return makeTag(ctx, tx, name)
}
