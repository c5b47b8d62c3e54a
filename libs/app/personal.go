package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// Personal is a service's declaration of what its own tables hold about people who can be erased. The tables of libs/db
// are cleared by libs/db.
type Personal struct {
	// Holds declares each table that the service's migrations create. The process does not start if a table is missing here
	// or a declared table does not exist.
	Holds map[string]Holds
	// Forget removes a person from the tables that hold People, in one transaction with everything else that is forgotten.
	// It returns the ids of the person's records, by which stored answers and messages about them are found. It may run
	// again for the same person. It is nil only if no table holds People.
	Forget func(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error)
}

// Holds is what a table may hold about people who can be erased.
type Holds bool

// A table holds People if it may contain a name, address, number or other text of a contact, or an id that leads to one;
// else Nobody.
const (
	Nobody Holds = false
	People Holds = true
)

// check compares the declaration with the tables that are there.
func (p Personal) check(ctx context.Context, d *db.DB) error {
	tables, err := db.Column[string](ctx, d.Pool, `select tablename::text from pg_tables where schemaname = $1 and not tablename = any($2) order by 1`, d.Schema, db.Tables)
	if err != nil {
		return err
	}
	declared := slices.Sorted(maps.Keys(p.Holds))
	var wrong []string
	for _, t := range tables {
		if _, ok := p.Holds[t]; !ok {
			wrong = append(wrong, t+" is not declared")
		}
	}
	for _, t := range declared {
		if !slices.Contains(tables, t) {
			wrong = append(wrong, t+" does not exist")
		}
		if p.Holds[t] == People && p.Forget == nil {
			wrong = append(wrong, t+" holds people and nothing forgets them")
		}
	}
	if len(wrong) > 0 {
		return errors.New("app: what the tables hold about people (Parts.Personal): " + strings.Join(wrong, ", "))
	}
	return nil
}

// forgetPerson handles svc.forget, which every service follows.
func (r *runner) forgetPerson(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone || e.Kind != proto.KindForgetPerson {
		return nil
	}
	var m proto.ForgetPerson
	if err := e.Decode(&m); err != nil {
		return err
	}
	if m.GetSharedKey() != nil && !bytes.Equal(m.GetSharedKey(), r.kit.Keys.SharedID()) {
		return fmt.Errorf("the person was hashed with another SVC_SHARED_KEY (%x) than this service has (%x)", m.GetSharedKey(), r.kit.Keys.SharedID())
	}
	return r.parts.Personal.forget(ctx, tx, erasure.New(r.kit.Keys.Person, e.At.Add(clocksDiffer), m.GetIds(), m.GetCalled()))
}

// clocksDiffer is by how much the clock of the host that erased a person may be behind that of this one. What a service has stored within it
// after the erasure goes too.
const clocksDiffer = 10 * time.Second

func (p Personal) forget(ctx context.Context, tx *db.Tx, person *erasure.Person) error {
	if err := tx.ForgetLater(ctx, person); err != nil {
		return err
	}
	if p.Forget != nil {
		ids, err := p.Forget(ctx, tx, person)
		if err != nil {
			return fmt.Errorf("forget in the service's tables: %w", err)
		}
		person.AddID(ids...)
	}
	return tx.Forget(ctx, person)
}
