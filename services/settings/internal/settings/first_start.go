package settings

import (
	"context"
	"errors"
	"net/mail"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// firstStart fills what is missing: roles, documents and the first administrator. Then it publishes all
// that the other services hold as tables once more, so that a broker which lost its topics has them
// again. Replicas that start at once take turns.
func (s *service) firstStart(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		if err := tx.Lock(ctx, "settings.first_start", ""); err != nil {
			return err
		}
		for _, f := range []func(context.Context, *db.Tx) error{s.firstRoles, s.firstDocuments, s.firstAdministrator, s.publishAll} {
			if err := f(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *service) firstRoles(ctx context.Context, tx *db.Tx) error {
	for i, r := range firstRoles {
		_, err := tx.Exec(ctx, `insert into role (name, label, capabilities, visibility, fixed, position) values ($1, $2, $3, $4, $5, $6)
			on conflict (name) do nothing`, r.Name, r.Label, r.Capabilities, r.Visibility, r.Fixed, i+1)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *service) firstDocuments(ctx context.Context, tx *db.Tx) error {
	for key, doc := range map[string]any{
		docGeneral:   generalDoc{Business: Business{Name: "Frontdesk", Email: s.Config.AdminEmail}, Currency: "EUR", Country: "BE"},
		docPortal:    portalDoc{Path: "team", IdleHours: 8},
		docPrivacy:   privacyDoc{},
		docFormStyle: FormStyle{},
		docTelemetry: telemetryDoc{},
		docAccess:    accessDoc{Roles: []string{roleSiteAdmin, roleAdmin}},
		docApps: app.AppsState{Apps: []app.AppState{
			{ID: "contacts", Name: "Contacts", Enabled: true, AlwaysOn: true},
			{ID: "forms", Name: "Forms", Enabled: true},
			{ID: "booking", Name: "Booking", Enabled: true},
		}},
		docSetup: Setup{},
	} {
		_, err := tx.Exec(ctx, `insert into document (key, doc, updated_at) values ($1, $2, $3) on conflict (key) do nothing`, key, doc, tx.Now)
		if err != nil {
			return err
		}
	}
	return nil
}

// firstAdministrator makes the administrator of the configuration unless the site has one.
func (s *service) firstAdministrator(ctx context.Context, tx *db.Tx) error {
	var have bool
	err := tx.QueryRow(ctx, `select exists (select from person where $1 = any(roles) and password is not null)`, roleSiteAdmin).Scan(&have)
	if err != nil || have {
		return err
	}
	c := s.Config
	if c.AdminLogin == "" || len(c.AdminPassword) < shortestPassword {
		return errors.New("settings: the first start needs SVC_ADMIN_LOGIN, and SVC_ADMIN_PASSWORD with at least 8 characters")
	}
	if a, err := mail.ParseAddress(c.AdminEmail); err != nil || a.Address != c.AdminEmail {
		return errors.New("settings: SVC_ADMIN_EMAIL is not an email address")
	}
	hash, err := s.hasher.hash(ctx, c.AdminPassword)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into person (login, name, email, roles, password, created_at, updated_at) values ($1, $1, $2, $3, $4, $5, $5)`,
		c.AdminLogin, c.AdminEmail, []string{roleSiteAdmin}, hash, tx.Now)
	return err
}

// publishAll sends every record of the table topics. The rows are locked, so that a change which another
// replica makes meanwhile follows them.
func (s *service) publishAll(ctx context.Context, tx *db.Tx) error {
	all, err := lockRoles(ctx, tx)
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := publishRole(ctx, tx, r); err != nil {
			return err
		}
	}
	if err := s.publishDocuments(ctx, tx); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `select `+personColumns+` from person order by id for update`)
	if err != nil {
		return err
	}
	people, err := pgx.CollectRows(rows, pgx.RowToStructByPos[person])
	if err != nil {
		return err
	}
	for _, p := range people {
		if err := publishPerson(ctx, tx, p); err != nil {
			return err
		}
	}
	if rows, err = tx.Query(ctx, `select `+keyColumns+` from application_password order by id for update`); err != nil {
		return err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[key])
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := publishKey(ctx, tx, k); err != nil {
			return err
		}
	}
	if rows, err = tx.Query(ctx, `select `+sessionColumns+` from session where expires_at > $1 order by hash for update`, tx.Now); err != nil {
		return err
	}
	sessions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[session])
	if err != nil {
		return err
	}
	for _, x := range sessions {
		if err := publishSession(ctx, tx, x); err != nil {
			return err
		}
	}
	return s.publishPages(ctx, tx)
}

func (s *service) publishDocuments(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Exec(ctx, `select from document order by key desc for update`); err != nil {
		return err
	}
	if err := s.publishGeneral(ctx, tx, nil); err != nil {
		return err
	}
	if err := s.publishPortal(ctx, tx, nil); err != nil {
		return err
	}
	if err := publishPrivacy(ctx, tx, nil); err != nil {
		return err
	}
	if err := publishFormStyle(ctx, tx, nil); err != nil {
		return err
	}
	if err := publishTelemetry(ctx, tx, nil); err != nil {
		return err
	}
	if err := publishAccess(ctx, tx, nil); err != nil {
		return err
	}
	return publishApps(ctx, tx)
}

// publishApps tells everybody which apps are on, under the version that they confirm.
func publishApps(ctx context.Context, tx *db.Tx) error {
	var state app.AppsState
	version, err := readDocument(ctx, tx, docApps, &state)
	if err != nil {
		return err
	}
	return tx.Emit(ctx, db.Event{Topic: proto.AppsTopic, Kind: "apps.updated", Key: "apps", Version: version, Data: state})
}
