package tag

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/record"
)

// tag is a word that contacts are grouped by.
type tag struct {
	Name     string               `json:"name" doc:"What people read."`
	Slug     string               `json:"slug" doc:"Never changes, whatever the name becomes."`
	Changing opt.Value[tagChange] `json:"changing" doc:"A rename, a merge or the deletion that has not reached every contact yet; else null."`
	Version  int64                `json:"version" doc:"The ETag that a rename and the deletion take in If-Match."`

	deleting bool
	status   int
}

// tagChange is how far a change of a tag is.
type tagChange struct {
	Deleting     bool  `json:"deleting" doc:"The tag is being deleted. No contact gets it any more."`
	ContactsLeft int64 `json:"contacts_left" doc:"Contacts that the change has still to reach, those in the trash included."`
}

// StatusCode is 201 for a tag that was made, else 200.
func (t tag) StatusCode() int { return cmp.Or(t.status, http.StatusOK) }

// RecordVersion is the answer's ETag.
func (t tag) RecordVersion() int64 { return t.Version }

// RecordID names the tag in the audit log.
func (t tag) RecordID() string { return t.Slug }

// NamedAny is an SQL expression: the names under which contacts have the tag that has a given name or slug, or had the name before. They are one
// name as a rule, several while a rename or a merge has not reached every contact, and none for a name that means no tag.
const NamedAny = `array(
	with meant as materialized (select coalesce((select slug from tag_name where key = tag_key(?)), (select slug from tag where slug = lower(?))) as slug)
	select name from tag join meant using (slug) union select name from tag_change join meant using (slug))`

// Names makes the tags that do not exist yet and gives the names under which they are known, in the order given, each
// once. Empty ones are left out, and tags that are being deleted. The tags keep their names until the transaction ends.
func Names(ctx context.Context, tx *db.Tx, given []string) ([]string, error) {
	typed := record.Names{}
	for _, t := range given {
		typed[t] = true
	}
	named, err := ByName(ctx, tx, typed)
	if err != nil {
		return nil, err
	}
	return named(given), nil
}

// ByName is Names for the tags of many records at once: named gives those of one record.
func ByName(ctx context.Context, tx *db.Tx, typed record.Names) (named func([]string) []string, err error) {
	var names []string
	for t := range typed {
		if t = person.Name(t); t != "" {
			names = append(names, t)
		}
	}
	known := map[string]string{}
	if len(names) > 0 {
		if known, err = Known(ctx, tx, names); err != nil {
			return nil, err
		}
	}
	// In the order of slugs, so that two transactions wait for each other and never in a circle.
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(strings.Compare(person.Slug(a), person.Slug(b)), strings.Compare(a, b))
	})
	for _, name := range names {
		if _, ok := known[name]; !ok {
			t, err := makeTag(ctx, tx, name)
			if err != nil {
				return nil, err
			}
			known[name] = t.given()
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

// given is the name that a contact gets with the tag: none while the tag is being deleted.
func (t tag) given() string {
	if t.deleting {
		return ""
	}
	return t.Name
}

// Known gives what contacts get for names that were typed; a name that means no tag yet is missing.
func Known(ctx context.Context, tx *db.Tx, typed []string) (map[string]string, error) {
	// A change of a tag waits for this lock, so none passes a contact that gets the tag at the same time.
	rows, err := tx.Query(ctx, `select typed, case when t.deleting then '' else t.name end
		from unnest($1::text[]) typed join tag_name n on n.key = tag_key(typed) join tag t on t.slug = n.slug order by t.slug for key share of t`, typed)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	var t, name string
	_, err = pgx.ForEachRow(rows, []any{&t, &name}, func() error { known[t] = name; return nil })
	return known, err
}

const tagColumns = `t.name, t.slug, t.version, t.deleting, (select sum(contacts_left) from tag_change c where c.slug = t.slug)`

func scanTag(row pgx.CollectableRow) (t tag, err error) {
	var left *int64
	err = row.Scan(&t.Name, &t.Slug, &t.Version, &t.deleting, &left)
	if left != nil {
		t.Changing = opt.Of(tagChange{t.deleting, *left})
	}
	return t, err
}

// oneTag reads the tag that a query of tagColumns selects; 404 svc_not_found if it selects none.
func oneTag(ctx context.Context, tx *db.Tx, query string, args ...any) (tag, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return tag{}, err
	}
	t, err := pgx.CollectExactlyOneRow(rows, scanTag)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, fault.NotFound("tag")
	}
	return t, err
}

// makeTag makes a tag, or finds the one that the name means. Its slug gets a number when another tag has it.
func makeTag(ctx context.Context, tx *db.Tx, name string) (tag, error) {
	base := person.Slug(name)
	for {
		done, err := tx.Exec(ctx, `insert into tag_name (key, slug) values (tag_key($1), $2) on conflict do nothing`, name, base)
		if err != nil {
			return tag{}, err
		}
		if done.RowsAffected() == 1 {
			break
		}
		t, err := oneTag(ctx, tx, `select `+tagColumns+` from tag_name n join tag t on t.slug = n.slug where n.key = tag_key($1) for key share of t`, name)
		if _, gone := errors.AsType[*fault.Fault](err); !gone {
			return t, err
		}
	}
	t := tag{Name: name, Slug: base, Version: 1, status: http.StatusCreated}
	for n := 2; ; n++ {
		done, err := tx.Exec(ctx, `insert into tag (slug, name, created_at) values ($1, $2, $3) on conflict do nothing`, t.Slug, name, tx.Now)
		if err != nil {
			return t, err
		}
		if done.RowsAffected() == 1 {
			break
		}
		t.Slug = base + "-" + strconv.Itoa(n)
	}
	_, err := tx.Exec(ctx, `update tag_name set slug = $2 where key = tag_key($1) and slug <> $2`, name, t.Slug)
	return t, err
}

// listTags lists every tag by name.
func (r *Room) listTags(ctx context.Context, tx *db.Tx, _ op.None) (db.List[tag], error) {
	rows, err := tx.Query(ctx, `select `+tagColumns+` from tag t order by fold(name), slug`)
	if err != nil {
		return db.List[tag]{}, err
	}
	tags, err := pgx.CollectRows(rows, scanTag)
	return db.All(tags), err
}

// newTag is what a tag is made of.
type newTag struct {
	Name string `json:"name" required:"true" maxLength:"100" doc:"What people read; two tags differ in more than case, accents and spaces."`
}

// createTag makes a tag, or finds the one of the same name. A name that another tag had before becomes a tag of its own; while
// contacts have the name still, it means that other tag.
func (r *Room) createTag(ctx context.Context, tx *db.Tx, in newTag) (tag, error) {
	name, err := tagName(in.Name)
	if err != nil {
		return tag{}, err
	}
	if err := freeName(ctx, tx, name); err != nil {
		return tag{}, err
	}
	t, err := makeTag(ctx, tx, name)
	if err == nil && t.deleting {
		err = errDeleting()
	}
	return t, err
}

// tagName is a name as it was typed, in its stored form; 400 if nothing of it is left.
func tagName(typed string) (string, error) {
	name := person.Name(typed)
	if name == "" {
		return "", fault.Invalid("name", fault.Empty())
	}
	return name, nil
}

// freeName takes a name from the tag that had it before, once no contact has it any more.
func freeName(ctx context.Context, tx *db.Tx, name string) error {
	_, err := tx.Exec(ctx, `delete from tag_name n using tag t where n.key = tag_key($1) and t.slug = n.slug and tag_key(t.name) <> n.key
		and not exists (select from tag_change c where tag_key(c.name) = n.key)`, name)
	return err
}

func errDeleting() error {
	return fault.Conflict("deleting", "The tag is being deleted. Try again when it is gone.")
}
