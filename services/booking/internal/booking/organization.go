package booking

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

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
	if e.Kind == proto.KindOrganizationMerged {
		var x proto.Merged
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from organization where id = $1::uuid`, x.GetMergedId()); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `insert into organization as o (id, version, owner_user_id) values ($1, $2, $3)
		on conflict (id) do update set version = excluded.version, owner_user_id = excluded.owner_user_id where o.version < $4`,
		id, e.Version, o.OwnerUserID, e.ReplacesBelow())
	return err
}
