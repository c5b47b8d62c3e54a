package site

import (
	"context"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

// accessDoc is the document api-access.
type accessDoc struct {
	Roles []string `json:"roles"`
}

// APIAccess is which roles reach the API with an application password.
type APIAccess struct {
	Roles     []string `json:"roles" doc:"The names of the roles."`
	Available []string `json:"available" doc:"Roles that can be listed: those that hold a permission."`
	document.Stamp
}

// RecordID names the document in the audit log.
func (APIAccess) RecordID() string { return document.APIAccess }

// APIRoles are the roles whose application passwords reach the API, and their version.
func APIRoles(ctx context.Context, tx *db.Tx) (roles []string, version int64, err error) {
	var doc accessDoc
	version, err = document.Read(ctx, tx, document.APIAccess, &doc)
	return doc.Roles, version, err
}

// ChangeAPIRoles lets edit change APIRoles. It locks the portal's settings, and then them.
func ChangeAPIRoles(ctx context.Context, tx *db.Tx, edit func(roles []string) ([]string, error)) (roles []string, version int64, err error) {
	if err := document.LockKey(ctx, tx, document.Portal); err != nil {
		return nil, 0, err
	}
	doc, version, err := document.Change(ctx, tx, document.APIAccess, publishAccess, func(doc *accessDoc) (err error) {
		doc.Roles, err = edit(doc.Roles)
		return err
	})
	return doc.Roles, version, err
}

// publishAccess publishes who may call at all: API access, the second factor and the sign-out of idle browsers, which stand
// in two documents. It locks both, the portal's first, in the order of everything that changes one of them. changed names
// the keys of api-access that differ.
func publishAccess(ctx context.Context, tx *db.Tx, changed []string) error {
	var access accessDoc
	var portal portalDoc
	portalVersion, err := document.Lock(ctx, tx, document.Portal, &portal)
	if err != nil {
		return err
	}
	version, err := document.Lock(ctx, tx, document.APIAccess, &access)
	if err != nil {
		return err
	}
	err = tx.EmitMessage(proto.IdentityTopic, auth.AccessKey, &proto.Identity{Version: version + portalVersion,
		Record: &proto.Identity_Access{Access: &proto.Access{Roles: access.Roles, RequireTwoFactor: portal.Require2FA, IdleHours: int32(portal.IdleHours)}}})
	if err != nil {
		return err
	}
	return document.Publish(ctx, tx, document.APIAccess, version, changed, access)
}
