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
	hash, err := s.firstPassword(ctx)
	if err != nil {
		return fmt.Errorf("settings: first start: %w", err)
	}
	addAdministrator := func(ctx context.Context, tx *db.Tx) error { return s.addAdministrator(ctx, tx, hash) }
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		if err := tx.Lock(ctx, "settings.first_start", ""); err != nil {
			return err
		}
		for _, step := range []struct {
			name string
			run  func(context.Context, *db.Tx) error
		}{{"add roles", s.addRoles}, {"add documents", s.addDocuments}, {"add the first administrator", addAdministrator}, {"publish everything", s.publishAll}} {
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
		docSetup:      Setup{},
		docAssistants: app.Assistants{Abilities: map[string]bool{}},
	} {
		_, err := tx.Exec(ctx, `insert into document (key, doc, updated_at) values ($1, $2, $3) on conflict (key) do nothing`, key, doc, tx.Now)
		if err != nil {
			return err
		}
	}
	return nil
}

const haveAdministrator = `exists (select from person where $1 = any(roles) and password is not null)`

// firstPassword returns the hash of the password in the configuration, "" if the site has an administrator who can sign in.
func (s *service) firstPassword(ctx context.Context) (hash string, err error) {
	var have bool
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(ctx, `select `+haveAdministrator, roleSiteAdmin).Scan(&have)
	})
	if err != nil || have {
		return "", err
	}
	c := s.Config
	if c.AdminLogin == "" || len(c.AdminPassword) < shortestPassword {
		return "", errors.New("the first start needs SVC_ADMIN_LOGIN, and SVC_ADMIN_PASSWORD with at least 8 characters")
	}
	// It may be of a private network, which no address that people type here may be.
	if a, err := mail.ParseAddress(c.AdminEmail); err != nil || a.Address != c.AdminEmail {
		return "", errors.New("SVC_ADMIN_EMAIL is not an email address")
	}
	return s.hasher.hash(ctx, c.AdminPassword)
}

// addAdministrator makes the administrator of the configuration, unless hash is empty or another replica was faster.
func (s *service) addAdministrator(ctx context.Context, tx *db.Tx, hash string) error {
	if hash == "" {
		return nil
	}
	c := s.Config
	_, err := tx.Exec(ctx, `insert into person (login, name, email, roles, password, created_at, updated_at)
		select $2, $2, $3, array[$1], $4, $5, $5 where not `+haveAdministrator, roleSiteAdmin, c.AdminLogin, c.AdminEmail, hash, tx.Now)
	return err
}

// publishAll publishes every record of the table topics.
func (s *service) publishAll(ctx context.Context, tx *db.Tx) error {
	return app.PublishAll(ctx, tx, s.records())
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
