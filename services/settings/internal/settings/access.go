package settings

import (
	"context"
	"slices"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// accessDoc is the document api-access.
type accessDoc struct {
	Roles []string `json:"roles"`
}

// APIAccess is which roles reach the API with an application password.
type APIAccess struct {
	Roles     []string `json:"roles" doc:"The names of the roles."`
	Available []string `json:"available" doc:"Roles that can be listed: those that hold a permission."`
}

// RecordID names the document in the audit log.
func (APIAccess) RecordID() string { return docAccess }

func getAPIAccess(ctx context.Context, tx *db.Tx, _ op.None) (APIAccess, error) {
	var doc accessDoc
	if _, err := readDocument(ctx, tx, docAccess, &doc); err != nil {
		return APIAccess{}, err
	}
	all, err := readRoles(ctx, tx)
	return APIAccess{Roles: doc.Roles, Available: inService(all)}, err
}

func updateAPIAccess(ctx context.Context, tx *db.Tx, in struct {
	Roles opt.Value[[]string] `json:"roles,omitzero" maxItems:"20" doc:"Roles whose application passwords work; the whole list is replaced."`
}) (APIAccess, error) {
	var portal portalDoc
	if _, err := lockDocument(ctx, tx, docPortal, &portal); err != nil {
		return APIAccess{}, err
	}
	var doc accessDoc
	if _, err := lockDocument(ctx, tx, docAccess, &doc); err != nil {
		return APIAccess{}, err
	}
	all, err := readRoles(ctx, tx)
	if err != nil || !in.Roles.Set {
		return APIAccess{Roles: doc.Roles, Available: inService(all)}, err
	}
	next := []string{}
	for _, r := range all {
		if slices.Contains(in.Roles.V, r.Name) {
			next = append(next, r.Name)
		}
	}
	for _, name := range in.Roles.V {
		if !slices.Contains(next, name) {
			return APIAccess{}, fault.Invalid("roles", unknownName("role", name))
		}
	}
	if !slices.Equal(next, doc.Roles) {
		if _, err := writeDocument(ctx, tx, docAccess, accessDoc{Roles: next}); err != nil {
			return APIAccess{}, err
		}
		if err := publishAccess(ctx, tx, []string{"roles"}); err != nil {
			return APIAccess{}, err
		}
	}
	return APIAccess{Roles: next, Available: inService(all)}, nil
}

// inService are the roles that hold a permission.
func inService(all []role) []string {
	names := []string{}
	for _, r := range all {
		if len(r.Capabilities) > 0 {
			names = append(names, r.Name)
		}
	}
	return names
}

// publishAccess publishes who may call at all: API access, the second factor and the sign-out of idle browsers, which stand
// in two documents. It locks both, the portal's first, in the order of everything that changes one of them. changed names
// the keys of api-access that differ.
func publishAccess(ctx context.Context, tx *db.Tx, changed []string) error {
	var access accessDoc
	var portal portalDoc
	portalVersion, err := lockDocument(ctx, tx, docPortal, &portal)
	if err != nil {
		return err
	}
	version, err := lockDocument(ctx, tx, docAccess, &access)
	if err != nil {
		return err
	}
	err = tx.EmitMessage(proto.IdentityTopic, auth.AccessKey, &proto.Identity{Version: version + portalVersion,
		Record: &proto.Identity_Access{Access: &proto.Access{Roles: access.Roles, RequireTwoFactor: portal.Require2FA, IdleHours: int32(portal.IdleHours)}}})
	if err != nil {
		return err
	}
	return publishSite(ctx, tx, docAccess, version, changed, access)
}
