package organization

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/person"
)

// similarQuery describes an organization that may be there already.
type similarQuery struct {
	Name      string `json:"name,omitempty" maxLength:"190" doc:"The name to look for."`
	VATNumber string `json:"vat_number,omitempty" maxLength:"30" doc:"The VAT number to look for."`
	Email     string `json:"email,omitempty" maxLength:"190" doc:"The email address to look for."`
}

// similar is an organization that may be the one described.
type similar struct {
	ID      uuid.UUID `json:"id" doc:"The id of the record."`
	Name    string    `json:"name" doc:"The name of the organization."`
	Reasons []string  `json:"reasons" doc:"Any of name, vat_number and email."`
}

const maxSimilar = 100

// findSimilar finds organizations with the same name but for its legal form, the same VAT number or the same
// address; those with most in common first, at most 100.
func (r *Room) findSimilar(ctx context.Context, tx *db.Tx, in similarQuery) (db.List[similar], error) {
	email, problem := field.EmailValue(in.Email)
	if !problem.IsZero() {
		return db.List[similar]{}, fault.Invalid("email", problem)
	}
	found, err := db.Rows[similar](ctx, tx, `
		select id, name, reasons from (
			select id, name, created_at, array_remove(array[
				case when name_key <> '' and name_key = $1 then 'name' end,
				case when vat_key <> '' and vat_key = $2 then 'vat_number' end,
				case when email_key <> '' and email_key = $3 then 'email' end], null) as reasons
			from organization where deleted_at is null
				and (name_key <> '' and name_key = $1 or vat_key <> '' and vat_key = $2 or email_key <> '' and email_key = $3)) o
		order by cardinality(reasons) desc, created_at, id limit $4`,
		person.NameKey(in.Name), person.VATKey(person.VAT(in.VATNumber)), address.Key(email), maxSimilar)
	return db.All(found), err
}

// organizationRef names an organization.
type organizationRef struct {
	ID   uuid.UUID `json:"id" doc:"The id of the record."`
	Name string    `json:"name" doc:"The name of the organization."`
}

// pair is two organizations that may be one.
type pair struct {
	Organizations []organizationRef `json:"organizations" minItems:"2" maxItems:"2" doc:"The two organizations."`
	Reasons       []string          `json:"reasons" doc:"Why they may be one: any of name, vat_number and email."`
}

// alike selects the pairs of organizations that share a key. One step through the key's index finds the few that several have; to join all
// organizations with all others takes several times as long. Of those that share one, the oldest make all pairs that can be listed: fifteen make
// more than a hundred, and each pair that was dismissed asks for one more at most.
func alike(key, reason string) string {
	const oldest = `(select id from organization where deleted_at is null and KEY <> '' and KEY = shared order by created_at, id
		limit (select 15 + least(count(*), 500) from organization_distinct))`
	return strings.NewReplacer("KEY", key, "REASON", reason).Replace(`select least(a.id, b.id) as a, greatest(a.id, b.id) as b, 'REASON' as reason
		from (select KEY as shared from organization where deleted_at is null and KEY <> '' group by KEY having count(*) > 1) x,
			lateral ` + oldest + ` a, lateral ` + oldest + ` b where b.id > a.id`)
}

// possibleDuplicates lists pairs of organizations that may be one, oldest first, at most 100; pairs that
// somebody dismissed are left out.
func (r *Room) possibleDuplicates(ctx context.Context, tx *db.Tx, _ op.None) (db.List[pair], error) {
	rows, err := tx.Query(ctx, `
		with alike as (`+alike("name_key", "name")+` union all `+alike("vat_key", "vat_number")+` union all `+alike("email_key", "email")+`),
		pairs as (
			select a, b, array_agg(reason order by array_position(array['name', 'vat_number', 'email'], reason)) as reasons from alike
			where not exists (select from organization_distinct d where (d.a, d.b) = (alike.a, alike.b)) group by a, b)
		select x.id, x.name, y.id, y.name, reasons from pairs join organization x on x.id = a join organization y on y.id = b
		order by greatest(x.created_at, y.created_at), least(x.created_at, y.created_at), a, b limit $1`, maxSimilar)
	if err != nil {
		return db.List[pair]{}, err
	}
	pairs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (pair, error) {
		p := pair{Organizations: make([]organizationRef, 2)}
		return p, row.Scan(&p.Organizations[0].ID, &p.Organizations[0].Name, &p.Organizations[1].ID, &p.Organizations[1].Name, &p.Reasons)
	})
	return db.All(pairs), err
}

// otherOne names two organizations.
type otherOne struct {
	ID    uuid.UUID `json:"id"`
	Other uuid.UUID `json:"other_id" required:"true" doc:"The id of the other organization."`
}

// lock holds both organizations, so that neither is merged away before the transaction ends; 404 svc_not_found if one is not there. It gives them
// in the order of organization_distinct.
func (in otherOne) lock(ctx context.Context, tx *db.Tx) (a, b uuid.UUID, err error) {
	if in.ID == in.Other {
		return a, b, fault.Invalid("other_id", contact.SameRecord("organization"))
	}
	if a, b = in.ID, in.Other; b.String() < a.String() {
		a, b = b, a
	}
	for _, id := range []uuid.UUID{a, b} {
		err := tx.QueryRow(ctx, `select id from organization where id = $1 for key share`, id).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return a, b, fault.NotFound("organization")
		}
		if err != nil {
			return a, b, err
		}
	}
	return a, b, nil
}

// dismissDuplicate remembers that two organizations are two.
func (r *Room) dismissDuplicate(ctx context.Context, tx *db.Tx, in otherOne) (op.None, error) {
	return in.change(ctx, tx, `insert into organization_distinct (a, b) values ($1, $2) on conflict do nothing`, "undismiss-organization-duplicate")
}

// undismissDuplicate forgets that two organizations are two.
func (r *Room) undismissDuplicate(ctx context.Context, tx *db.Tx, in otherOne) (op.None, error) {
	return in.change(ctx, tx, `delete from organization_distinct where (a, b) = ($1, $2)`, "dismiss-organization-duplicate")
}

// change runs a statement about the pair. If it changes something, the operation back takes that back.
func (in otherOne) change(ctx context.Context, tx *db.Tx, statement, back string) (op.None, error) {
	a, b, err := in.lock(ctx, tx)
	if err != nil {
		return op.None{}, err
	}
	done, err := tx.Exec(ctx, statement, a, b)
	if err != nil || done.RowsAffected() == 0 {
		return op.None{}, err
	}
	tx.TakeBack(back, map[string]any{"id": in.ID, "other_id": in.Other})
	return op.None{}, tx.TouchNext(ctx, fmt.Sprintf("organization_distinct/%s/%s", a, b))
}
