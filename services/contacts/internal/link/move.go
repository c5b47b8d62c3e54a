package link

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/organization"
)

// MoveContact gives the links of one contact to another. The main organization of the one that gets them stays the main one.
func MoveContact(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) error {
	// The winner is not in the trash. It adds nobody where both were linked, the loser only if it was in the trash.
	counted, err := contact.IDsOf(ctx, tx, `select l.organization_id from contact_organization l join contact c on c.id = l.contact_id where c.id = $2
		and (c.deleted_at is null) = exists (select from contact_organization w where w.contact_id = $1 and w.organization_id = l.organization_id)`, winner, loser)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`update contact_organization set is_primary = false where contact_id = $2
		and exists (select from contact_organization where contact_id = $1 and is_primary)`, winner, loser)
	b.Queue(`with both_sides as (delete from contact_organization l using contact_organization w
		where l.contact_id = $2 and w.contact_id = $1 and w.organization_id = l.organization_id returning l.organization_id, l.is_primary, l.role)
		update contact_organization w set is_primary = w.is_primary or b.is_primary, role = coalesce(nullif(w.role, ''), b.role)
		from both_sides b where w.contact_id = $1 and w.organization_id = b.organization_id`, winner, loser)
	b.Queue(`update contact_organization set contact_id = $1 where contact_id = $2`, winner, loser)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	return organization.PublishCounted(ctx, tx, counted)
}

// Erase deletes the links of a contact that is erased.
func Erase(ctx context.Context, tx *db.Tx, contactID uuid.UUID) error {
	counted, err := contact.IDsOf(ctx, tx, `with gone as (delete from contact_organization where contact_id = $1 returning organization_id)
		select organization_id from gone where exists (select from contact where id = $1 and deleted_at is null)`, contactID)
	if err != nil {
		return err
	}
	return organization.PublishCounted(ctx, tx, counted)
}

// MoveOrganization gives the people of one organization to another, and publishes them. Who is linked with both keeps the link with the winner, as the
// main one if either was.
func MoveOrganization(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) error {
	joined, err := contact.IDsOf(ctx, tx, `
		with both_sides as (delete from contact_organization l using contact_organization w
			where l.organization_id = $2 and w.organization_id = $1 and w.contact_id = l.contact_id returning l.contact_id, l.is_primary, l.role)
		update contact_organization w set is_primary = w.is_primary or b.is_primary, role = coalesce(nullif(w.role, ''), b.role)
			from both_sides b where w.organization_id = $1 and w.contact_id = b.contact_id returning w.contact_id`, winner, loser)
	if err != nil {
		return err
	}
	moved, err := contact.IDsOf(ctx, tx, `update contact_organization set organization_id = $1 where organization_id = $2 returning contact_id`, winner, loser)
	if err != nil {
		return err
	}
	if err := contact.PublishLinked(ctx, tx, append(moved, joined...)); err != nil {
		return fmt.Errorf("publish people: %w", err)
	}
	return nil
}
