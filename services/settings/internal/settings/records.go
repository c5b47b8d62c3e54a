package settings

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// records declares what other services keep copies of.
func (s *service) records() []app.Published {
	all := []app.Published{
		app.Records(app.Rows[string]{Topic: proto.IdentityTopic, Table: "role", Column: "name", Prefix: auth.RoleKey(""), Emit: publishRoles}),
		app.Records(app.Rows[int64]{Topic: proto.IdentityTopic, Table: "person", Prefix: auth.UserKey(""), Emit: publishPeople}),
		app.Records(app.Rows[uuid.UUID]{Topic: proto.IdentityTopic, Table: "application_password", Prefix: auth.KeyKey(""), Unversioned: true, EndForGood: true,
			Emit: publishKeys}),
		app.Records(app.Rows[uuid.UUID]{Topic: proto.IdentityTopic, Table: "access_token", Prefix: auth.TokenKey(""), Where: "expires_at > now()",
			Unversioned: true, EndForGood: true, Emit: publishTokens}),
		app.Records(app.Rows[[]byte]{Topic: proto.IdentityTopic, Table: "session", Column: "hash", Prefix: auth.SessionKey(nil), Where: "expires_at > now()",
			Unversioned: true, EndForGood: true, Emit: func(ctx context.Context, tx *db.Tx, hashes [][]byte) error {
				return publishSessions(ctx, tx, `select `+sessionColumns+` from session where hash = any($1) order by hash`, hashes)
			}}),
		app.OneRecord(proto.AppsTopic, appsKey, again(docApps, func(ctx context.Context, tx *db.Tx, _ []string) error { return publishApps(ctx, tx) }),
			raiseDocument(docApps)),
		app.Records(app.Rows[int64]{Topic: proto.PageTopic, Table: "page", Emit: s.publishPages}),
	}
	for _, d := range []struct {
		key     string
		publish publisher
	}{{docGeneral, s.publishGeneral}, {docPortal, s.publishPortal}, {docPrivacy, publishPrivacy}, {docFormStyle, publishFormStyle}, {docTelemetry, publishTelemetry}, {docAssistants, publishAssistants}} {
		all = append(all, app.OneRecord(proto.SiteTopic, d.key, again(d.key, d.publish), raiseDocument(d.key)))
	}
	// The portal is locked before api-access everywhere.
	return append(all, app.OneRecord(proto.IdentityTopic, auth.AccessKey, again(docPortal, publishAccess), raiseAccess),
		app.OneRecord(proto.SiteTopic, docAccess, again(docPortal, publishAccess), raiseDocument(docAccess)))
}

// publisher publishes a document. changed names the fields that differ from the version before.
type publisher func(ctx context.Context, tx *db.Tx, changed []string) error

// again locks a document, and publishes it as it is.
func again(lock string, publish publisher) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `select from document where key = $1 for update`, lock); err != nil {
			return fmt.Errorf("lock document %s: %w", lock, err)
		}
		return publish(ctx, tx, nil)
	}
}

// raiseDocument gives a document that is older than version the next one.
func raiseDocument(key string) func(context.Context, *db.Tx, int64) (int, error) {
	return func(ctx context.Context, tx *db.Tx, version int64) (int, error) {
		tag, err := tx.Exec(ctx, `update document set version = $2 + 1 where key = $1 and version < $2`, key, version)
		return int(tag.RowsAffected()), err
	}
}

// raiseAccess raises the version of the access record, which is the sum of two documents' versions.
func raiseAccess(ctx context.Context, tx *db.Tx, version int64) (int, error) {
	tag, err := tx.Exec(ctx, `update document a set version = $3 + 1 - p.version from document p
		where a.key = $1 and p.key = $2 and a.version + p.version < $3`, docAccess, docPortal, version)
	return int(tag.RowsAffected()), err
}

func publishRoles(ctx context.Context, tx *db.Tx, names []string) error {
	all, err := many[role](ctx, tx, `select `+roleColumns+` from role where name = any($1) order by name`, names)
	if err != nil {
		return fmt.Errorf("read roles: %w", err)
	}
	for _, r := range all {
		if err := publishRole(tx, r); err != nil {
			return err
		}
	}
	return nil
}

func publishPeople(ctx context.Context, tx *db.Tx, ids []int64) error {
	all, err := many[person](ctx, tx, `select `+personColumns+` from person where id = any($1) order by id`, ids)
	if err != nil {
		return fmt.Errorf("read users: %w", err)
	}
	for _, p := range all {
		if err := publishPerson(tx, p); err != nil {
			return err
		}
	}
	return nil
}

func publishKeys(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	all, err := many[key](ctx, tx, `select `+keyColumns+` from application_password where id = any($1) order by id`, ids)
	if err != nil {
		return fmt.Errorf("read application passwords: %w", err)
	}
	for _, k := range all {
		if err := publishKey(tx, k); err != nil {
			return err
		}
	}
	return nil
}

// publishPages publishes page.updated for pages as they are now.
func (s *service) publishPages(ctx context.Context, tx *db.Tx, ids []int64) error {
	all, err := many[page](ctx, tx, `select `+pageColumns+` from page where id = any($1) order by id`, ids)
	if err != nil {
		return fmt.Errorf("read pages: %w", err)
	}
	for _, p := range all {
		if err := s.publishPage(ctx, tx, proto.KindPageUpdated, p, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
