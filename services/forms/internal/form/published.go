package form

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/forms/internal/definition"
)

// remembered is a published form, worked out with the custom fields of a revision.
type remembered struct {
	definition.Published
	fields int64
}

func (r *Room) work(id, version int64, name string, raw []byte) (remembered, error) {
	revision := r.fields.revision.Load()
	p, err := definition.NewPublished(id, version, name, raw, r.fields.named())
	return remembered{p, revision}, err
}

// cache keeps published forms, worked out.
type cache struct {
	mu    sync.Mutex
	forms map[int64]remembered
}

const maxRemembered = 1000

func (c *cache) get(id int64) (remembered, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.forms[id]
	return p, ok
}

func (c *cache) put(p remembered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forms == nil || len(c.forms) >= maxRemembered {
		c.forms = map[int64]remembered{}
	}
	c.forms[p.ID] = p
}

// remember gives a form as it was published when this replica last read it. It may have changed since: whoever goes
// by it lets the transaction assume stillPublished.
func (r *Room) remember(id int64) (remembered, bool) {
	p, ok := r.cache.get(id)
	return p, ok && p.fields == r.fields.revision.Load()
}

// published reads the form with this id; 404 svc_not_found when it is a draft, in the trash or unknown. The replica
// remembers it from the commit on.
func (r *Room) published(ctx context.Context, tx *db.Tx, id int64) (definition.Published, error) {
	known, ok := r.remember(id)
	if !ok {
		known = remembered{}
	}
	var version int64
	var name string
	var raw []byte
	err := tx.QueryRow(ctx, `select version, name, case when version <> $2 then definition end from form
		where id = $1 and status = 'publish' and deleted_at is null`, id, known.Version).Scan(&version, &name, &raw)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return definition.Published{}, fault.NotFound("form")
	case err != nil:
		return definition.Published{}, err
	case raw == nil:
		return known.Published, nil
	}
	p, err := r.work(id, version, name, raw)
	if err == nil {
		tx.AfterCommit(func() { r.cache.put(p) })
	}
	return p.Published, err
}

// stillPublished: the form is published, in the version that this replica remembers.
const stillPublished = db.Assumption("the form is still the published one")

// ForVisitor gives the form that a visitor sends in; 404 svc_not_found when it is not published. It goes by the form that the replica
// remembers, which saves reading one, and lets the transaction assume that this is still the published one.
func (r *Room) ForVisitor(ctx context.Context, tx *db.Tx, id int64) (definition.Published, error) {
	known, ok := r.remember(id)
	f := known.Published
	if !ok || !tx.Trusts(stillPublished) {
		var err error
		if f, err = r.published(ctx, tx, id); err != nil {
			return f, err
		}
	}
	tx.Assume(stillPublished, `exists (select from form where id = $1 and version = $2 and status = 'publish' and deleted_at is null)`, f.ID, f.Version)
	return f, nil
}

// Any reads a form in whatever state it is, for what was sent with it before; 404 svc_not_found when there was never one.
func (r *Room) Any(ctx context.Context, tx *db.Tx, id int64) (definition.Published, error) {
	var version int64
	var name string
	var raw []byte
	err := tx.QueryRow(ctx, `select version, name, definition from form where id = $1`, id).Scan(&version, &name, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return definition.Published{}, fault.NotFound("form")
	}
	if err != nil {
		return definition.Published{}, err
	}
	p, err := r.work(id, version, name, raw)
	return p.Published, err
}
