package settings

import (
	"context"
	"errors"
	"fmt"
	"net/mail"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// firstStart adds missing roles and documents and the first administrator. Then it publishes all records of the table topics
// once more, so that a broker which lost its topics has them again. Replicas that start at once take turns.
func (s *service) firstStart(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		if err := tx.Lock(ctx, "settings.first_start", ""); err != nil {
			return err
		}
		for _, step := range []struct {
			name string
			run  func(context.Context, *db.Tx) error
		}{{"add roles", s.addRoles}, {"add documents", s.addDocuments}, {"add the first administrator", s.addAdministrator}, {"publish everything", s.publishAll}} {
			if err := step.run(ctx, tx); err != nil {
				return fmt.Errorf("settings: first start: %s: %w", step.name, err)
			}
		}
		return nil
	})
}

func (s *service) addRoles(ctx context.Context, tx *db.Tx) error {
	for i, r := range firstRoles {
		_, err := tx.Exec(ctx, `insert into role (name, label, capabilities, visibility, fixed, position) values ($1, $2, $3, $4, $5, $6)
			on conflict (name) do nothing`, r.Name, r.Label, r.Capabilities, r.Visibility, r.Fixed, i+1)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *service) addDocuments(ctx context.Context, tx *db.Tx) error {
	for key, doc := range map[string]any{
		docGeneral:   generalDoc{Business: Business{Name: "Frontdesk", Email: s.Config.AdminEmail}, Currency: "EUR", Country: "BE"},
		docPortal:    portalDoc{Path: "team", IdleHours: 8},
		docPrivacy:   privacyDoc{},
		docFormStyle: FormStyle{},
		docTelemetry: telemetryDoc{},
		docAccess:    accessDoc{Roles: []string{roleSiteAdmin, roleAdmin}},
		docApps: app.AppsState{Apps: []app.AppState{
			{ID: contactsApp, Name: "Contacts", Enabled: true, AlwaysOn: true},
			{ID: formsApp, Name: "Forms", Enabled: true},
			{ID: bookingApp, Name: "Booking", Enabled: true},
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

// addAdministrator makes the administrator of the configuration unless the site has one who can sign in.
func (s *service) addAdministrator(ctx context.Context, tx *db.Tx) error {
	var have bool
	err := tx.QueryRow(ctx, `select exists (select from person where $1 = any(roles) and password is not null)`, roleSiteAdmin).Scan(&have)
	if err != nil || have {
		return err
	}
	c := s.Config
	if c.AdminLogin == "" || len(c.AdminPassword) < shortestPassword {
		return errors.New("the first start needs SVC_ADMIN_LOGIN, and SVC_ADMIN_PASSWORD with at least 8 characters")
	}
	// It may be of a private network, which no address that people type here may be.
	if a, err := mail.ParseAddress(c.AdminEmail); err != nil || a.Address != c.AdminEmail {
		return errors.New("SVC_ADMIN_EMAIL is not an email address")
	}
	hash, err := s.hasher.hash(ctx, c.AdminPassword)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into person (login, name, email, roles, password, created_at, updated_at) values ($1, $1, $2, $3, $4, $5, $5)`,
		c.AdminLogin, c.AdminEmail, []string{roleSiteAdmin}, hash, tx.Now)
	return err
}

// publishAll publishes every record of the table topics. It locks the rows, so that a change which another replica makes
// meanwhile is published after them.
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
	people, err := many[person](ctx, tx, `select `+personColumns+` from person order by id for update`)
	if err != nil {
		return fmt.Errorf("read users: %w", err)
	}
	for _, p := range people {
		if err := publishPerson(ctx, tx, p); err != nil {
			return err
		}
	}
	keys, err := many[key](ctx, tx, `select `+keyColumns+` from application_password order by id for update`)
	if err != nil {
		return fmt.Errorf("read application passwords: %w", err)
	}
	for _, k := range keys {
		if err := publishKey(ctx, tx, k); err != nil {
			return err
		}
	}
	if err := publishSessions(ctx, tx, `select `+sessionColumns+` from session where expires_at > $1 order by hash for update`, tx.Now); err != nil {
		return err
	}
	return s.publishPages(ctx, tx)
}

func (s *service) publishDocuments(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Exec(ctx, `select from document order by key desc for update`); err != nil {
		return fmt.Errorf("lock documents: %w", err)
	}
	for _, publish := range []func(ctx context.Context, tx *db.Tx, changed []string) error{
		s.publishGeneral, s.publishPortal, publishPrivacy, publishFormStyle, publishTelemetry, publishAccess} {
		if err := publish(ctx, tx, nil); err != nil {
			return err
		}
	}
	return publishApps(ctx, tx)
}

// publishApps publishes which apps are on, under the version that every instance confirms.
func publishApps(ctx context.Context, tx *db.Tx) error {
	var state app.AppsState
	version, err := readDocument(ctx, tx, docApps, &state)
	if err != nil {
		return err
	}
	return tx.Emit(ctx, db.Event{Topic: proto.AppsTopic, Kind: proto.KindAppsUpdated, Key: appsKey, Version: version, Data: state})
}
