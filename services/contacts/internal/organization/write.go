package organization

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/timeline"
)

// newOrganization is what an organization is made of. It needs a name.
type newOrganization struct {
	Name opt.Value[string] `json:"name" required:"true" maxLength:"190" doc:"The name of the organization."`
	organizationInput
}

// OrganizationChange is what PATCH may change of an organization.
type OrganizationChange struct {
	ID   uuid.UUID         `json:"id"`
	Mode string            `json:"mode,omitempty" enum:"fill_empty,overwrite" doc:"fill_empty, the default, only fills what is empty."`
	Name opt.Value[string] `json:"name,omitzero" maxLength:"190" doc:"The name of the organization."`
	organizationInput
}

// createOrganization makes an organization. One that is similar to another may be made all the same.
func (r *Room) createOrganization(ctx context.Context, tx *db.Tx, in newOrganization) (Organization, error) {
	clean, err := r.field.CleanerFor(ctx, tx, "organization", in.Fields)
	if err != nil {
		return Organization{}, err
	}
	o, _ := in.read(in.Name, clean)
	o.ID = db.NewID()
	clean.Size(o.Fields)
	if err := clean.Err(); err != nil {
		return o, err
	}
	return Insert(ctx, tx, o)
}

// getOrganization reads an organization, also one in the trash.
func (r *Room) getOrganization(ctx context.Context, tx *db.Tx, in op.ByID) (Organization, error) {
	return ByID(ctx, tx, in.ID)
}

// updateOrganization changes an organization: fills what is empty, or overwrites.
func (r *Room) updateOrganization(ctx context.Context, tx *db.Tx, in OrganizationChange) (Organization, error) {
	if in.Name.Set && in.Mode == contact.ModeOverwrite {
		if err := lockPeople(ctx, tx, in.ID); err != nil {
			return Organization{}, err
		}
	}
	old, err := LockLive(ctx, tx, in.ID)
	if err != nil {
		return old, err
	}
	if err := tx.Match(old.Version); err != nil {
		return old, err
	}
	clean, err := r.field.CleanerFor(ctx, tx, "organization", in.Fields)
	if err != nil {
		return old, err
	}
	from, given := in.read(in.Name, clean)
	o := Fields.Fill(old, from)
	if in.Mode == contact.ModeOverwrite {
		o = Fields.Overwrite(old, from, given)
	}
	clean.Size(o.Fields)
	if err := clean.Err(); err != nil {
		return old, err
	}
	if err := Save(ctx, tx, old, o, "Organization changed"); err != nil {
		return old, err
	}
	if o.Name != old.Name {
		if err := publishPeople(ctx, tx, o.ID); err != nil {
			return old, fmt.Errorf("publish people: %w", err)
		}
	}
	return ByID(ctx, tx, o.ID)
}

// deleteOrganization moves an organization to the trash; its people stay.
func (r *Room) deleteOrganization(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	if err := lockPeople(ctx, tx, in.ID); err != nil {
		return op.None{}, err
	}
	o, err := LockLive(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(o.Version); err != nil {
		return op.None{}, err
	}
	return op.None{}, trash(ctx, tx, o)
}

// trash moves a locked organization, whose people are locked, to the trash.
func trash(ctx context.Context, tx *db.Tx, o Organization) error {
	o.DeletedAt = &tx.Now
	if err := update(ctx, tx, o); err != nil {
		return err
	}
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Organization: &o.ID, Kind: timeline.Deleted, Subject: "Organization moved to the trash"}); err != nil {
		return err
	}
	if err := Emit(ctx, tx, proto.KindOrganizationDeleted, o.ID, nil, nil); err != nil {
		return err
	}
	return publishPeople(ctx, tx, o.ID)
}

// restoreOrganization takes an organization out of the trash, with its people.
func (r *Room) restoreOrganization(ctx context.Context, tx *db.Tx, in op.ByID) (Organization, error) {
	if err := lockPeople(ctx, tx, in.ID); err != nil {
		return Organization{}, err
	}
	o, err := Lock(ctx, tx, in.ID)
	if err != nil {
		return o, err
	}
	if o.DeletedAt == nil {
		return o, fault.InvalidStatus("active", "The organization is not in the trash.")
	}
	if err := restore(ctx, tx, o); err != nil {
		return o, err
	}
	return ByID(ctx, tx, o.ID)
}

// restore takes a locked organization, whose people are locked, out of the trash.
func restore(ctx context.Context, tx *db.Tx, o Organization) error {
	o.DeletedAt = nil
	if err := update(ctx, tx, o); err != nil {
		return err
	}
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Organization: &o.ID, Kind: timeline.Restored, Subject: "Organization restored"}); err != nil {
		return err
	}
	if err := Emit(ctx, tx, proto.KindOrganizationRestored, o.ID, nil, nil); err != nil {
		return err
	}
	if err := publishPeople(ctx, tx, o.ID); err != nil {
		return fmt.Errorf("publish people: %w", err)
	}
	return nil
}
