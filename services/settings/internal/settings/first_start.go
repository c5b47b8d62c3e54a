package settings

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/mail"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
)

// firstStart adds missing roles and documents and the first administrator. Then it publishes all records of the table topics
// once more, so that a broker which lost its topics has them again. Replicas that start at once take turns.
func (s *service) firstStart(ctx context.Context, published []app.Published) error {
	hash, err := s.firstPassword(ctx)
	if err != nil {
		return fmt.Errorf("settings: first start: %w", err)
	}
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		if err := tx.Lock(ctx, "settings.first_start", ""); err != nil {
			return err
		}
		for _, step := range []struct {
			name string
			run  func() error
		}{
			{"add roles", func() error { return addRoles(ctx, tx) }},
			{"add documents", func() error { return addDocuments(ctx, tx, s.firstDocuments()) }},
			{"add the first administrator", func() error {
				if hash == "" {
					return nil
				}
				return addAdministrator(ctx, tx, s.Config.AdminLogin, s.Config.AdminEmail, hash)
			}},
			{"publish everything", func() error { return app.PublishAll(ctx, tx, published) }},
		} {
			if err := step.run(); err != nil {
				return fmt.Errorf("settings: first start: %s: %w", step.name, err)
			}
		}
		return nil
	})
}

// firstDocuments are the documents of a new site, by key.
func (s *service) firstDocuments() map[string]any {
	all := s.firstSite(roleSiteAdmin, roleAdmin)
	for _, more := range []map[string]any{firstApps(), firstAssistants(), firstSupport()} {
		maps.Copy(all, more)
	}
	return all
}

// firstPassword returns the hash of the password in the configuration, "" if the site has an administrator who can sign in.
func (s *service) firstPassword(ctx context.Context) (hash string, err error) {
	var have bool
	err = s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		have, err = haveAdministrator(ctx, tx, 0)
		return err
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
	return s.hashPassword(ctx, c.AdminPassword)
}
