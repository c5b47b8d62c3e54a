package settings

import (
	"context"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// accessDoc is the document api-access.
type accessDoc struct {
	Roles []string `json:"roles"`
}

// apiRoles are the roles whose application passwords reach the API.
func apiRoles(ctx context.Context, tx *db.Tx) ([]string, error) {
	var doc accessDoc
	_, err := readDocument(ctx, tx, docAccess, &doc)
	return doc.Roles, err
}

// lockAPIRoles is apiRoles for a change: it locks the portal's settings, and then them.
func lockAPIRoles(ctx context.Context, tx *db.Tx) ([]string, error) {
	if err := lockKey(ctx, tx, docPortal); err != nil {
		return nil, err
	}
	var doc accessDoc
	_, err := lockDocument(ctx, tx, docAccess, &doc)
	return doc.Roles, err
}

// setAPIRoles stores and publishes other roles than those that lockAPIRoles has read.
func setAPIRoles(ctx context.Context, tx *db.Tx, roles []string) error {
	if _, err := writeDocument(ctx, tx, docAccess, accessDoc{Roles: roles}); err != nil {
		return err
	}
	return publishAccess(ctx, tx, []string{"roles"})
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
