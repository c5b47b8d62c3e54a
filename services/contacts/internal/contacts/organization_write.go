package contacts

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// NewOrganization is what an organization is made of. It needs a name.
type NewOrganization struct {
	Name opt.Value[string] `json:"name" required:"true" maxLength:"190" doc:"The name of the organization."`
	OrganizationInput
}

// OrganizationChange is what PATCH may change of an organization.
type OrganizationChange struct {
	ID   uuid.UUID         `json:"id"`
	Mode string            `json:"mode,omitempty" enum:"fill_empty,overwrite" doc:"fill_empty, the default, only fills what is empty."`
	Name opt.Value[string] `json:"name,omitzero" maxLength:"190" doc:"The name of the organization."`
	OrganizationInput
}

// createOrganization makes an organization. One that is similar to another may be made all the same.
func (s *service) createOrganization(ctx context.Context, tx *db.Tx, in NewOrganization) (Organization, error) {
	clean, err := s.cleanerFor(ctx, tx, "organization", in.Fields)
	if err != nil {
		return Organization{}, err
	}
	o, _ := in.read(in.Name, clean)
	o.ID = db.NewID()
	clean.size(o.Fields)
	if err := clean.err(); err != nil {
		return o, err
	}
	return insertOrganization(ctx, tx, o)
}

// getOrganization reads an organization, also one in the trash.
func (s *service) getOrganization(ctx context.Context, tx *db.Tx, in op.ByID) (Organization, error) {
	return organizationByID(ctx, tx, in.ID)
}

// updateOrganization changes an organization: fills what is empty, or overwrites.
func (s *service) updateOrganization(ctx context.Context, tx *db.Tx, in OrganizationChange) (Organization, error) {
	if in.Name.Set && in.Mode == modeOverwrite {
		if err := lockPeople(ctx, tx, in.ID); err != nil {
			return Organization{}, err
		}
	}
	old, err := lockLiveOrganization(ctx, tx, in.ID)
	if err != nil {
		return old, err
	}
	if err := tx.Match(old.Version); err != nil {
		return old, err
	}
	clean, err := s.cleanerFor(ctx, tx, "organization", in.Fields)
	if err != nil {
		return old, err
	}
	from, given := in.read(in.Name, clean)
	o := organizationFields.Fill(old, from)
	if in.Mode == modeOverwrite {
		o = organizationFields.Overwrite(old, from, given)
	}
	clean.size(o.Fields)
	if err := clean.err(); err != nil {
		return old, err
	}
	if err := saveOrganization(ctx, tx, old, o, "Organization changed"); err != nil {
		return old, err
	}
	if o.Name != old.Name {
		if err := publishPeople(ctx, tx, o.ID); err != nil {
			return old, fmt.Errorf("publish people: %w", err)
		}
	}
	return organizationByID(ctx, tx, o.ID)
}

// deleteOrganization moves an organization to the trash; its people stay.
func (s *service) deleteOrganization(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	if err := lockPeople(ctx, tx, in.ID); err != nil {
		return op.None{}, err
	}
	o, err := lockLiveOrganization(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(o.Version); err != nil {
		return op.None{}, err
	}
	o.DeletedAt = &tx.Now
	if err := updateOrganization(ctx, tx, o); err != nil {
		return op.None{}, err
	}
	if _, err := log(ctx, tx, newEntry{organization: &o.ID, kind: entryDeleted, subject: "Organization moved to the trash"}); err != nil {
		return op.None{}, err
	}
	if err := emitOrganization(ctx, tx, proto.KindOrganizationDeleted, o.ID, nil, nil); err != nil {
		return op.None{}, err
	}
	return op.None{}, publishPeople(ctx, tx, o.ID)
}

// restoreOrganization takes an organization out of the trash, with its people.
func (s *service) restoreOrganization(ctx context.Context, tx *db.Tx, in op.ByID) (Organization, error) {
	if err := lockPeople(ctx, tx, in.ID); err != nil {
		return Organization{}, err
	}
	o, err := lockOrganization(ctx, tx, in.ID)
	if err != nil {
		return o, err
	}
	if o.DeletedAt == nil {
		return o, fault.InvalidStatus("active", "The organization is not in the trash.")
	}
	o.DeletedAt = nil
	if err := updateOrganization(ctx, tx, o); err != nil {
		return o, err
	}
	if _, err := log(ctx, tx, newEntry{organization: &o.ID, kind: entryRestored, subject: "Organization restored"}); err != nil {
		return o, err
	}
	if err := emitOrganization(ctx, tx, proto.KindOrganizationRestored, o.ID, nil, nil); err != nil {
		return o, err
	}
	if err := publishPeople(ctx, tx, o.ID); err != nil {
		return o, fmt.Errorf("publish people: %w", err)
	}
	return organizationByID(ctx, tx, o.ID)
}
