package page

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/site"
)

// page is a page of the site's own.
type page struct {
	ID        int64     `json:"id" doc:"The id of the page."`
	Title     string    `json:"title" doc:"The title of the page."`
	Slug      string    `json:"slug" doc:"The page stands at this address once it is published."`
	Status    string    `json:"status" enum:"draft,publish" doc:"publish or draft."`
	Content   string    `json:"content" doc:"Text; an empty line begins a paragraph. A shortcode shows a form or the booking widget."`
	URL       string    `json:"url" doc:"The address of the page."`
	EditURL   string    `json:"edit_url" doc:"Where to change it."`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
	UpdatedAt time.Time `json:"updated_at" doc:"When it last changed."`
	document.Stamp
}

// Statuses of a page. Visitors see only what is published.
const (
	statusDraft   = "draft"
	statusPublish = "publish"
)

// pageID is the input of operations with nothing but a page's id.
type pageID struct {
	ID int64 `json:"id" minimum:"1"`
}

// stored is a row of the table page.
type stored struct {
	ID        int64
	Title     string
	Slug      string
	Status    string
	Content   string
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
	Portal    string // the path of the portal
}

const columns = `id, title, slug, status, content, version, created_at, updated_at, coalesce((select doc->>'path' from document where key = '` + document.Portal + `'), 'team') as portal`

func (r *Room) shown(p stored) page {
	return page{ID: p.ID, Title: p.Title, Slug: p.Slug, Status: p.Status, Content: p.Content, URL: r.Config.PublicURL + "/" + p.Slug,
		EditURL: r.Config.PublicURL + "/" + p.Portal + "/pages/" + row.Key(p.ID), CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, Stamp: document.At(p.Version)}
}

// one runs a statement that gives one row of columns; 404 when it gives none.
func one(ctx context.Context, tx *db.Tx, sql string, args ...any) (stored, error) {
	return db.Find[stored](ctx, tx, fault.NotFound("page"), sql, args...)
}

// publish publishes what happened to a page. changed names the fields that differ; answers is nil unless the change was
// asked for by another service.
func (r *Room) publish(ctx context.Context, tx *db.Tx, kind string, p stored, changed []string, answers *proto.PageEmbedded) error {
	e := r.event(kind, p)
	e.Changed = changed
	if answers != nil {
		e.Extra = answers
	}
	return tx.Emit(ctx, e)
}

func (r *Room) event(kind string, p stored) db.Event {
	return db.Event{Topic: proto.PageTopic, Kind: kind, Key: row.Key(p.ID), Version: p.Version, Data: struct {
		page
		Shows []shows `json:"shows"`
	}{r.shown(p), showsOf(p.Content)}}
}

func (r *Room) list(ctx context.Context, tx *db.Tx, in struct {
	db.Page
	Status string `json:"status,omitempty" enum:"draft,publish"`
}) (db.List[page], error) {
	c, err := tx.Page(in.Page, "pages", in)
	if err != nil {
		return db.List[page]{}, err
	}
	where := &db.Where{}
	if in.Status != "" {
		where.And("status = ?", in.Status)
	}
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from page where `+where.String(), where.Args...).Scan(&c.Total); err != nil {
			return db.List[page]{}, fmt.Errorf("count pages: %w", err)
		}
	} else {
		where.And("id > ?", db.Number(c.ID))
	}
	all, err := db.Rows[stored](ctx, tx, db.LimitTo(`select `+columns+` from page where `+where.String()+` order by id`, c.Limit), where.Args...)
	if err != nil {
		return db.List[page]{}, fmt.Errorf("list pages: %w", err)
	}
	shown := make([]page, len(all))
	for i, p := range all {
		shown[i] = r.shown(p)
	}
	return db.Close(c, shown, func(p page) (time.Time, uuid.UUID) { return p.CreatedAt, db.NumberID(p.ID) }), nil
}

func (r *Room) get(ctx context.Context, tx *db.Tx, in pageID) (page, error) {
	p, err := one(ctx, tx, `select `+columns+` from page where id = $1`, in.ID)
	return r.shown(p), err
}

func (r *Room) create(ctx context.Context, tx *db.Tx, in struct {
	Title   string            `json:"title" required:"true" maxLength:"190" doc:"The title of the page."`
	Slug    opt.Value[string] `json:"slug,omitzero" maxLength:"100" doc:"Made from the title when left out."`
	Status  string            `json:"status,omitempty" enum:"draft,publish" doc:"draft when left out."`
	Content string            `json:"content,omitempty" maxLength:"200000" doc:"Plain text with an empty line between paragraphs, and shortcodes."`
}) (page, error) {
	p, err := r.add(ctx, tx, stored{Title: in.Title, Status: in.Status, Content: in.Content}, in.Slug)
	if err != nil {
		return page{}, err
	}
	return r.shown(p), r.publish(ctx, tx, proto.KindPageCreated, p, nil, nil)
}

// Lengths in characters; longestContent is that of the operations' inputs.
const (
	longestTitle   = 190
	longestContent = 200_000
)

// add stores a page. Without a slug it gets a free one that resembles the title; a slug that is given
// has to be free.
func (r *Room) add(ctx context.Context, tx *db.Tx, p stored, slug opt.Value[string]) (stored, error) {
	p.Title = strings.TrimSpace(p.Title)
	if problem := form.Name(p.Title, longestTitle); !problem.IsZero() {
		return p, fault.Invalid("title", problem)
	}
	if p.Status == "" {
		p.Status = statusDraft
	}
	if err := lockAddresses(ctx, tx); err != nil {
		return p, err
	}
	if slug.Set {
		p.Slug = slug.V
		if err := checkSlug(ctx, tx, p.Slug, 0); err != nil {
			return p, err
		}
	} else {
		var err error
		if p.Slug, err = freeSlug(ctx, tx, p.Title); err != nil {
			return p, err
		}
	}
	return one(ctx, tx, `insert into page (title, slug, status, content, shown_version, created_at, updated_at) values ($1, $2, $3, $4, 1, $5, $5) returning `+columns,
		p.Title, p.Slug, p.Status, p.Content, tx.Now)
}

func (r *Room) update(ctx context.Context, tx *db.Tx, in struct {
	pageID
	Title   opt.Value[string] `json:"title,omitzero" maxLength:"190" doc:"The title of the page."`
	Slug    opt.Value[string] `json:"slug,omitzero" maxLength:"100" doc:"The path of the page."`
	Status  opt.Value[string] `json:"status,omitzero" enum:"draft,publish" doc:"publish shows it to visitors, draft does not."`
	Content opt.Value[string] `json:"content,omitzero" maxLength:"200000" nullable:"true" doc:"Plain text with an empty line between paragraphs, and shortcodes; null for none."`
}) (page, error) {
	if in.Slug.Set {
		if err := lockAddresses(ctx, tx); err != nil {
			return page{}, err
		}
	}
	p, err := one(ctx, tx, `select `+columns+` from page where id = $1 for update`, in.ID)
	if err != nil {
		return page{}, err
	}
	if err := tx.Match(p.Version); err != nil {
		return page{}, err
	}
	before := p
	if in.Title.Set {
		p.Title = strings.TrimSpace(in.Title.V)
		if problem := form.Name(p.Title, longestTitle); !problem.IsZero() {
			return page{}, fault.Invalid("title", problem)
		}
	}
	if in.Slug.Set && in.Slug.V != p.Slug {
		p.Slug = in.Slug.V
		if err := checkSlug(ctx, tx, p.Slug, p.ID); err != nil {
			return page{}, err
		}
	}
	in.Status.Apply(&p.Status)
	in.Content.Apply(&p.Content)
	if p == before {
		return r.shown(p), nil
	}
	if err := tx.ChangedFrom(r.shown(before), r.shown(p)); err != nil {
		return page{}, err
	}
	p, err = r.save(ctx, tx, p, document.Differences(r.shown(before), r.shown(p)), nil)
	return r.shown(p), err
}

// save stores a locked page that was changed, and publishes it.
func (r *Room) save(ctx context.Context, tx *db.Tx, p stored, changed []string, answers *proto.PageEmbedded) (stored, error) {
	p, err := one(ctx, tx, `update page set title = $2, slug = $3, status = $4, content = $5, version = version + 1, shown_version = version + 1, updated_at = $6
		where id = $1 returning `+columns, p.ID, p.Title, p.Slug, p.Status, p.Content, tx.Now)
	if err != nil {
		return p, err
	}
	return p, r.publish(ctx, tx, proto.KindPageUpdated, p, changed, answers)
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in pageID) (op.None, error) {
	p, err := one(ctx, tx, `delete from page where id = $1 returning `+columns, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(p.Version); err != nil {
		return op.None{}, err
	}
	p.Version++
	if err := r.publish(ctx, tx, proto.KindPageDeleted, p, nil, nil); err != nil {
		return op.None{}, err
	}
	tx.Tombstone(proto.PageTopic, row.Key(p.ID))
	return op.None{}, nil
}

// Taken reports whether a page has an address.
func Taken(ctx context.Context, tx *db.Tx, slug string) (taken bool, err error) {
	if err := tx.QueryRow(ctx, `select exists (select from page where slug = $1)`, slug).Scan(&taken); err != nil {
		return false, fmt.Errorf("look for a page at a path: %w", err)
	}
	return taken, nil
}

// lockAddresses keeps two pages, or a page and the portal, from taking one address at once.
func lockAddresses(ctx context.Context, tx *db.Tx) error {
	return document.LockKey(ctx, tx, document.Portal)
}

var slugPattern = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$`)

// checkSlug refuses an address that is malformed (400), or belongs to something else (409).
func checkSlug(ctx context.Context, tx *db.Tx, slug string, except int64) error {
	if !slugPattern.MatchString(slug) {
		return fault.Invalid("slug", fault.NewProblem("slug", "must be 1 to 100 lower-case letters, digits and hyphens", "max", 100))
	}
	free, err := slugFree(ctx, tx, slug, except)
	if err == nil && !free {
		return fault.Conflict("in_use", "This address belongs to something else.")
	}
	return err
}

// slugFree reports whether an address belongs to no page other than except, to the portal or to the system.
func slugFree(ctx context.Context, tx *db.Tx, slug string, except int64) (bool, error) {
	if slices.Contains(site.Reserved, slug) {
		return false, nil
	}
	var taken bool
	err := tx.QueryRow(ctx, `select exists (select from page where slug = $1 and id <> $2)
		or exists (select from document where key = $3 and doc->>'path' = $1)`, slug, except, document.Portal).Scan(&taken)
	if err != nil {
		return false, fmt.Errorf("look for who has an address: %w", err)
	}
	return !taken, nil
}

// freeSlug makes an address of a title, with a number behind it when that is taken.
func freeSlug(ctx context.Context, tx *db.Tx, title string) (string, error) {
	base := slugOf(title)
	for n := 1; ; n++ {
		slug := base
		if n > 1 {
			slug += "-" + row.Key(int64(n))
		}
		free, err := slugFree(ctx, tx, slug, 0)
		if err != nil || free {
			return slug, err
		}
	}
}

// slugOf is a title in lower-case letters, digits and hyphens.
func slugOf(title string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(title)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r >= 0x300 && r < 0x370: // a mark above or below a letter
		default:
			b.WriteByte('-')
		}
	}
	words := strings.FieldsFunc(b.String(), func(r rune) bool { return r == '-' })
	slug := strings.Join(words, "-")
	if len(slug) > 80 {
		slug = strings.TrimRight(slug[:80], "-")
	}
	if slug == "" {
		return "page"
	}
	return slug
}

// publishAll publishes page.updated for pages as they are now.
func (r *Room) publishAll(ctx context.Context, tx *db.Tx, ids []int64) error {
	return row.Each(ctx, tx, func(p stored) error { return r.publish(ctx, tx, proto.KindPageUpdated, p, nil, nil) },
		`select `+columns+` from page where id = any($1) order by id`, ids)
}

// Slugs are the addresses of all published pages.
func (r *Room) Slugs(ctx context.Context) (slugs []string, err error) {
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `select slug from page where status = $1 order by slug`, statusPublish)
		if err != nil {
			return fmt.Errorf("list published pages: %w", err)
		}
		slugs, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return slugs, err
}

// Published finds what visitors see at an address of the site; 404 when no page is published there.
func (r *Room) Published(ctx context.Context, slug string) (title string, blocks []Block, err error) {
	// PostgreSQL takes some bytes of an address in no text.
	if !slugPattern.MatchString(slug) {
		return "", nil, fault.NotFound("page")
	}
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		p, err := one(ctx, tx, `select `+columns+` from page where slug = $1 and status = $2`, slug, statusPublish)
		if err != nil {
			return fmt.Errorf("page at /%s: %w", slug, err)
		}
		title, blocks = p.Title, blocksOf(p.Content)
		return nil
	})
	return title, blocks, err
}
