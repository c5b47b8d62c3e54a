package settings

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/mail"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/services/settings/internal/apps"
	"frontdesk/services/settings/internal/assistants"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/passwords"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/support"
	"frontdesk/services/settings/internal/templates"
)

// firstStart adds missing roles and documents and the first administrator. Then it publishes all records of the table topics
// once more, so that a broker which lost its topics has them again. Replicas that start at once take turns.
func (r rooms) firstStart(ctx context.Context, k *app.Kit, published []app.Published) error {
	hash, err := r.firstPassword(ctx, k)
	if err != nil {
		return fmt.Errorf("settings: first start: %w", err)
	}
	first := r.site.First(roles.SiteAdmin, roles.Admin)
	for _, more := range []map[string]any{apps.First(), assistants.First(), support.First(), templates.First()} {
		maps.Copy(first, more)
	}
	return k.DB.Do(ctx, func(tx *db.Tx) error {
		if err := tx.Lock(ctx, "settings.first_start", ""); err != nil {
			return err
		}
		for _, step := range []struct {
			name string
			run  func() error
		}{
			{"add roles", func() error { return roles.Add(ctx, tx) }},
			{"add documents", func() error { return document.Add(ctx, tx, first) }},
			{"add the first administrator", func() error {
				if hash == "" {
					return nil
				}
				return people.AddAdministrator(ctx, tx, k.Config.AdminLogin, k.Config.AdminEmail, hash)
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

// firstPassword returns the hash of the password in the configuration, "" if the site has an administrator who can sign in.
func (r rooms) firstPassword(ctx context.Context, k *app.Kit) (hash string, err error) {
	var have bool
	err = k.DB.Read(ctx, func(tx *db.Tx) (err error) {
		have, err = people.HaveAdministrator(ctx, tx, 0)
		return err
	})
	if err != nil || have {
		return "", err
	}
	c := k.Config
	if c.AdminLogin == "" || len(c.AdminPassword) < passwords.Shortest {
		return "", errors.New("the first start needs SVC_ADMIN_LOGIN, and SVC_ADMIN_PASSWORD with at least 8 characters")
	}
	// It may be of a private network, which no address that people type here may be.
	if a, err := mail.ParseAddress(c.AdminEmail); err != nil || a.Address != c.AdminEmail {
		return "", errors.New("SVC_ADMIN_EMAIL is not an email address")
	}
	return r.passwords.Hash(ctx, c.AdminPassword)
}
