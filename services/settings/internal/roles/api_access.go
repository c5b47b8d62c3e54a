package roles

import (
	"context"
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/site"
	"frontdesk/services/settings/internal/typed"
)

func getAPIAccess(ctx context.Context, tx *db.Tx, _ op.None) (site.APIAccess, error) {
	reach, version, err := site.APIRoles(ctx, tx)
	if err != nil {
		return site.APIAccess{}, err
	}
	all, err := Read(ctx, tx)
	return site.APIAccess{Roles: reach, Available: inService(all), Stamp: document.At(version)}, err
}

func updateAPIAccess(ctx context.Context, tx *db.Tx, in struct {
	Roles opt.Value[[]string] `json:"roles,omitzero" maxItems:"20" doc:"Roles whose application passwords work; the whole list is replaced."`
}) (site.APIAccess, error) {
	var all All
	reach, version, err := site.ChangeAPIRoles(ctx, tx, func(reach []string) (_ []string, err error) {
		if all, err = Read(ctx, tx); err != nil || !in.Roles.Set {
			return reach, err
		}
		giver, err := ReadGiver(ctx, tx)
		if err != nil {
			return nil, err
		}
		next := []string{}
		for _, r := range all {
			if slices.Contains(in.Roles.V, r.Name) {
				next = append(next, r.Name)
			}
		}
		for _, name := range in.Roles.V {
			if !slices.Contains(next, name) {
				return nil, fault.Invalid("roles", typed.Unknown("role", name))
			}
			// A machine wakes no credential of somebody who holds more than it does.
			if err := giver.MayGiveRole(name); err != nil && !tx.Who.Session && !slices.Contains(reach, name) {
				return nil, err
			}
		}
		return next, nil
	})
	return site.APIAccess{Roles: reach, Available: inService(all), Stamp: document.At(version)}, err
}

// inService are the roles that hold a permission.
func inService(all []stored) []string {
	names := []string{}
	for _, r := range all {
		if len(r.Capabilities) > 0 {
			names = append(names, r.Name)
		}
	}
	return names
}
