package forms

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/services/forms/internal/definition"
)

// published is a form that visitors can send in, or could when they did.
type published struct {
	id, version int64
	// fields is the revision of the custom fields that the questions are worked out with.
	fields     int64
	name       string
	definition definition.Definition
	questions  []form.Question
	// consents is the version of the consents' words.
	consents string
}

func (s *service) newPublished(id, version int64, name string, raw []byte) (published, error) {
	p := published{id: id, version: version, fields: s.fields.revision.Load(), name: name}
	var err error
	if p.definition, err = definition.Load(raw); err != nil {
		return p, fmt.Errorf("form %d: %w", id, err)
	}
	p.questions, p.consents = form.Ask(p.definition.Elements, s.fields.named()), form.ConsentVersion(p.definition.Elements)
	return p, nil
}

// formCache keeps published forms, worked out.
type formCache struct {
	mu    sync.Mutex
	forms map[int64]published
}

const maxRemembered = 1000

func (c *formCache) get(id int64) (published, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.forms[id]
	return p, ok
}

func (c *formCache) put(p published) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forms == nil || len(c.forms) >= maxRemembered {
		c.forms = map[int64]published{}
	}
	c.forms[p.id] = p
}

// rememberedForm gives a form as it was published when this replica last read it. It may have changed since: whoever goes
// by it lets the transaction assume stillPublished.
func (s *service) rememberedForm(id int64) (published, bool) {
	p, ok := s.forms.get(id)
	return p, ok && p.fields == s.fields.revision.Load()
}

// publishedForm reads the form with this id; 404 svc_not_found when it is a draft, in the trash or unknown. The replica
// remembers it from the commit on.
func (s *service) publishedForm(ctx context.Context, tx *db.Tx, id int64) (published, error) {
	known, ok := s.rememberedForm(id)
	if !ok {
		known = published{}
	}
	var version int64
	var name string
	var raw []byte
	err := tx.QueryRow(ctx, `select version, name, case when version <> $2 then definition end from form
		where id = $1 and status = 'publish' and deleted_at is null`, id, known.version).Scan(&version, &name, &raw)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return published{}, fault.NotFound("form")
	case err != nil:
		return published{}, err
	case raw == nil:
		return known, nil
	}
	p, err := s.newPublished(id, version, name, raw)
	if err == nil {
		tx.AfterCommit(func() { s.forms.put(p) })
	}
	return p, err
}

// anyForm reads a form in whatever state it is, for what was sent with it before.
func (s *service) anyForm(ctx context.Context, tx *db.Tx, id int64) (published, error) {
	var version int64
	var name string
	var raw []byte
	err := tx.QueryRow(ctx, `select version, name, definition from form where id = $1`, id).Scan(&version, &name, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return published{}, fault.NotFound("form")
	}
	if err != nil {
		return published{}, err
	}
	return s.newPublished(id, version, name, raw)
}
