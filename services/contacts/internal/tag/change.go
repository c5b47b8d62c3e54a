package tag

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/record"
)

// A contact has the names of its tags. A rename, a merge or a deletion changes the tag at once and leaves the old name in
// tag_change; changeTagsNext then brings the contacts up to date in slices. Until it has reached a contact, the contact shows the
// old name. Whoever tags a contact by the old name gives it the new one from the beginning, see knownTags.

// tagSlice is how many contacts get other tags in one transaction. Whoever edits one of them waits for that transaction at most.
const tagSlice = 50

// tagSlug names a tag.
type tagSlug struct {
	Slug string `json:"slug" doc:"The tag's slug."`
}

// tagUpdate gives a tag another name.
type tagUpdate struct {
	tagSlug
	newTag
}

// updateTag renames a tag. The former name still means it.
func (r *Room) updateTag(ctx context.Context, tx *db.Tx, in tagUpdate) (tag, error) {
	name, err := tagName(in.Name)
	if err != nil {
		return tag{}, err
	}
	t, err := lockTag(ctx, tx, in.Slug)
	if err != nil {
		return t, err
	}
	if err := tx.Match(t.Version); err != nil || t.Name == name {
		return t, err
	}
	if t.deleting {
		return t, errDeleting()
	}
	if err := freeName(ctx, tx, name); err != nil {
		return t, err
	}
	if _, err := tx.Exec(ctx, `insert into tag_name (key, slug) values (tag_key($1), $2) on conflict do nothing`, name, t.Slug); err != nil {
		return t, err
	}
	var holder string
	if err := tx.QueryRow(ctx, `select slug from tag_name where key = tag_key($1)`, name).Scan(&holder); err != nil {
		return t, err
	}
	if holder != t.Slug {
		return t, fault.Duplicate("Another tag has this name. Merge the two instead.", holder)
	}
	tx.Changed(change.Set{"name": {Old: t.Name, New: name}})
	tx.TakeBack("update-tag", map[string]any{"slug": t.Slug, "name": t.Name})
	b := &pgx.Batch{}
	b.Queue(`update tag set name = $2, version = version + 1 where slug = $1`, t.Slug, name)
	b.Queue(`delete from tag_change where name = $1`, name) // contacts that have it still have it again
	b.Queue(startTagChange, t.Name, t.Slug, tx.Who, tx.Now)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return t, err
	}
	return readTag(ctx, tx, t.Slug)
}

// tagMerge names a tag that becomes another one.
type tagMerge struct {
	tagSlug
	Other string `json:"other_slug" required:"true" doc:"The tag that goes."`
}

// mergeTags makes another tag this one. All its names mean this one then.
func (r *Room) mergeTags(ctx context.Context, tx *db.Tx, in tagMerge) (tag, error) {
	if in.Slug == in.Other {
		return tag{}, fault.Invalid("other_slug", contact.SameRecord("tag"))
	}
	first, err := lockTag(ctx, tx, min(in.Slug, in.Other))
	if err != nil {
		return first, err
	}
	second, err := lockTag(ctx, tx, max(in.Slug, in.Other))
	if err != nil {
		return second, err
	}
	if first.deleting || second.deleting {
		return first, errDeleting()
	}
	other := first
	if other.Slug != in.Other {
		other = second
	}
	b := &pgx.Batch{}
	b.Queue(`update tag_name set slug = $1 where slug = $2`, in.Slug, other.Slug)
	b.Queue(`update tag_change set slug = $1 where slug = $2`, in.Slug, other.Slug)
	b.Queue(`delete from tag where slug = $1`, other.Slug)
	b.Queue(`update tag set version = version + 1 where slug = $1`, in.Slug) // whoever deletes it deletes more than they have seen
	b.Queue(startTagChange, other.Name, in.Slug, tx.Who, tx.Now)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return first, err
	}
	return readTag(ctx, tx, in.Slug)
}

// tagDeletion names a tag that goes.
type tagDeletion struct {
	tagSlug
	Unused bool `json:"unused,omitempty" doc:"Delete the tag only if no contact has it; contacts in the trash count."`
}

// deleteTag takes a tag off every contact. The tag goes once none has it; one that has to be unused goes at once, so that a contact which waits to get it makes it anew.
func (r *Room) deleteTag(ctx context.Context, tx *db.Tx, in tagDeletion) (op.None, error) {
	t, err := lockTag(ctx, tx, in.Slug)
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(t.Version); err != nil || t.deleting {
		return op.None{}, err
	}
	if in.Unused {
		gone, err := tx.Exec(ctx, `delete from tag where slug = $1
			and not exists (select from contact where tags && (select array_agg(name) from tag_change where slug = $1) or tags @> array[$2])`, t.Slug, t.Name)
		if err == nil && gone.RowsAffected() == 0 {
			err = fault.Conflict("in_use", failInUse)
		}
		return op.None{}, err
	}
	b := &pgx.Batch{}
	b.Queue(`update tag set deleting = true where slug = $1`, t.Slug)
	b.Queue(startTagChange, t.Name, t.Slug, tx.Who, tx.Now)
	return op.None{}, tx.SendBatch(ctx, b).Close()
}

const startTagChange = `insert into tag_change (name, slug, actor, contacts_left, created_at)
	select $1::text, $2::text, $3::jsonb, count(*), $4::timestamptz from contact where tags @> array[$1::text]
	on conflict (name) do update set contacts_left = excluded.contacts_left, actor = excluded.actor`

// lockTag waits until no transaction gives the tag to contacts any more, and keeps others from it; 404 svc_not_found if there is
// none.
func lockTag(ctx context.Context, tx *db.Tx, slug string) (tag, error) {
	return oneTag(ctx, tx, `select `+tagColumns+` from tag t where slug = $1 for update of t`, slug)
}

func readTag(ctx context.Context, tx *db.Tx, slug string) (tag, error) {
	return oneTag(ctx, tx, `select `+tagColumns+` from tag t where slug = $1`, slug)
}

// changeTagsNext brings the next slice of contacts up to date with a changed tag. It works on contacts that have an old name
// still, so a crash leaves none out and repeats none. A contact that fails does not keep the others from it.
func (r *Room) changeTagsNext(ctx context.Context) (worked bool, err error) {
	var slice []uuid.UUID
	err = r.DB.Do(ctx, func(tx *db.Tx) (err error) {
		slice = nil
		c, err := claimTagChange(ctx, tx)
		if err != nil || c == nil {
			return err
		}
		contacts, err := c.contacts(ctx, tx, r.retagging.Keys(), r.retagging.Size(tagSlice))
		if err != nil {
			return fmt.Errorf("find contacts with the tag %q: %w", c.name, err)
		}
		if len(contacts) == 0 {
			return c.end(ctx, tx)
		}
		for _, old := range contacts {
			slice = append(slice, old.ID)
		}
		if err := r.retag(ctx, tx, c, contacts); err != nil {
			return fmt.Errorf("change the tag %q of contacts: %w", c.name, err)
		}
		return nil
	})
	return r.retagging.Did(ctx, slice, err)
}

// replacement is a name that contacts still have, and the one that takes its place: none of a tag that is being deleted.
type replacement struct{ name, slug, becomes string }

// claimTagChange locks the oldest change that no other replica is at, with its tag; nil if no change is left. The transaction acts
// in the name of who changed the tag.
func claimTagChange(ctx context.Context, tx *db.Tx) (*replacement, error) {
	c := &replacement{}
	err := tx.QueryRow(ctx, `select c.name, t.slug, case when t.deleting then '' else t.name end, c.actor from tag_change c join tag t on t.slug = c.slug
		order by c.created_at, c.name limit 1 for no key update of t skip locked for update of c skip locked`).Scan(&c.name, &c.slug, &c.becomes, &tx.Who)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return c, err
}

// contacts locks contacts that have the old name, at most limit, without those of aside and those that others have locked.
func (c *replacement) contacts(ctx context.Context, tx *db.Tx, aside []uuid.UUID, limit int) ([]contact.Contact, error) {
	return contact.Query(ctx, tx, `select `+contact.Whole+contact.From+` where c.tags @> array[$1] and c.id <> all($2)`+db.LimitTo("", limit)+
		` for no key update of c skip locked`, c.name, aside)
}

// retag stores locked contacts with their tags as they are now.
func (r *Room) retag(ctx context.Context, tx *db.Tx, c *replacement, contacts []contact.Contact) error {
	clean, err := r.field.NewCleaner(ctx, tx, "contact")
	if err != nil {
		return err
	}
	out := contact.Writes{Subject: "Tag changed"}
	for _, old := range contacts {
		next := old
		next.Tags = c.apply(old.Tags)
		out.Update(old, next)
	}
	if err := out.Send(ctx, tx, clean); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `update tag_change set contacts_left = greatest(contacts_left - $2, 0) where name = $1`, c.name, len(contacts))
	return err
}

// apply is tags with the name replaced, each tag once.
func (c *replacement) apply(tags []string) []string {
	next := make([]string, 0, len(tags))
	for _, t := range tags {
		switch {
		case t != c.name:
			next = append(next, t)
		case c.becomes != "":
			next = append(next, c.becomes)
		}
	}
	return record.Union(next, nil)
}

// end ends the change, and the tag if it is being deleted, unless contacts are left that others have locked or that are aside:
// then other changes go first.
func (c *replacement) end(ctx context.Context, tx *db.Tx) error {
	b := &pgx.Batch{}
	b.Queue(`delete from tag_change where name = $1 and not exists (select from contact where tags @> array[$1])`, c.name)
	b.Queue(`update tag_change set created_at = $2 where name = $1`, c.name, tx.Now)
	b.Queue(`delete from tag t where slug = $1 and deleting and not exists (select from tag_change c where c.slug = t.slug)`, c.slug)
	return tx.SendBatch(ctx, b).Close()
}
