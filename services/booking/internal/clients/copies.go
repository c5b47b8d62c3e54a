package clients

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// contactRecord is what booking keeps of a contact.
type contactRecord struct {
	ID          uuid.UUID  `json:"id"`
	FirstName   string     `json:"first_name"`
	LastName    string     `json:"last_name"`
	Email       string     `json:"email"`
	Phone       string     `json:"phone"`
	OwnerUserID *int64     `json:"owner_user_id"`
	DeletedAt   *time.Time `json:"deleted_at"`
}

// keepContact brings the copy of a contact up to date.
func (r *Room) keepContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return err
	}
	if e.Tombstone || e.Kind == proto.KindContactErased || e.Kind == proto.KindContactMergedAway {
		return Delete(ctx, tx, id)
	}
	if string(e.Data) == "null" {
		// Asked for, and not made: there is no record to keep, and no other answer to ask for.
		_, err := tx.Exec(ctx, `update contact set asked_at = 'infinity' where id = $1 and version = 0`, id)
		return err
	}
	var c contactRecord
	if err := e.Decode(&c); err != nil {
		return err
	}
	var moved bool
	err = tx.QueryRow(ctx, `with before as (select from contact where id = @id and version < @below and email_key not in ('', @email_key))
		insert into contact as c (id, version, first_name, last_name, email, email_key, phone, owner_user_id, trashed)
		values (@id, @version, @first_name, @last_name, @email, @email_key, @phone, @owner, @trashed)
		on conflict (id) do update set version = excluded.version, first_name = excluded.first_name, last_name = excluded.last_name,
			email = excluded.email, email_key = excluded.email_key, phone = excluded.phone, owner_user_id = excluded.owner_user_id, trashed = excluded.trashed
			where c.version < @below
		returning exists (select from before)`,
		db.Args{"id": id, "version": e.Version, "below": e.ReplacesBelow(), "first_name": c.FirstName, "last_name": c.LastName, "email": c.Email,
			"email_key": address.Key(c.Email), "phone": c.Phone, "owner": c.OwnerUserID, "trashed": c.DeletedAt != nil}).Scan(&moved)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) { // no row: the copy is newer
		return err
	}
	if moved {
		return r.readdressed(ctx, tx, id, e.At)
	}
	return nil
}

// Delete deletes contacts. A booking that holds one is waited for, and its appointment is found afterwards.
func Delete(ctx context.Context, tx *db.Tx, ids ...uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from contact where id = any($1)`, ids)
	return err
}

// onOrganization stores the owner of an organization, because removing a staff member has to hand over what they own.
func onOrganization(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return err
	}
	if e.Tombstone {
		_, err = tx.Exec(ctx, `delete from organization where id = $1`, id)
		return err
	}
	var o struct {
		OwnerUserID *int64 `json:"owner_user_id"`
	}
	if err := e.Decode(&o); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `insert into organization as o (id, version, owner_user_id) values ($1, $2, $3)
		on conflict (id) do update set version = excluded.version, owner_user_id = excluded.owner_user_id where o.version < $4`,
		id, e.Version, o.OwnerUserID, e.ReplacesBelow())
	if err != nil || e.Kind != proto.KindOrganizationMerged || tag.RowsAffected() == 0 {
		return err // no row: the copy is newer than the merge
	}
	var x proto.Merged
	if err := e.DecodeExtra(&x); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `delete from organization where id = $1::uuid`, x.GetMergedId())
	return err
}

// onTask stores the owner of an open task, for the same reason; a task that is done has none here.
func onTask(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return err
	}
	if e.Tombstone || e.Kind == proto.KindTaskDeleted {
		_, err = tx.Exec(ctx, `delete from task where id = $1`, id)
		return err
	}
	var t struct {
		OwnerUserID *int64     `json:"owner_user_id"`
		DoneAt      *time.Time `json:"done_at"`
	}
	if err := e.Decode(&t); err != nil {
		return err
	}
	if t.DoneAt != nil {
		t.OwnerUserID = nil
	}
	_, err = tx.Exec(ctx, `insert into task as t (id, version, owner_user_id) values ($1, $2, $3)
		on conflict (id) do update set version = excluded.version, owner_user_id = excluded.owner_user_id where t.version < $4`, id, e.Version, t.OwnerUserID, e.ReplacesBelow())
	return err
}

// Forget deletes a person's contacts and returns their ids. A client whom contacts does not have yet is recognised by the
// address, unless the client has booked again since.
func (r *Room) Forget(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `select id, email from contact c where version = 0
		and not exists (select from appointment a where a.contact_id = c.id and a.created_at >= $1)`, p.At)
	if err != nil {
		return nil, err
	}
	ids := p.IDs()
	var id uuid.UUID
	var email string
	if _, err := pgx.ForEachRow(rows, []any{&id, &email}, func() error {
		if p.HasAddress(email) {
			ids = append(ids, id)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return ids, Delete(ctx, tx, ids...)
}
