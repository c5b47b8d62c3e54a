package settings

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/services/settings/internal/audit"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/passkeys"
	"frontdesk/services/settings/internal/signin"
	"frontdesk/services/settings/internal/sso"
)

// outdatedSlice is how many rows a transaction deletes, so that none is long.
const outdatedSlice = 1000

// deleteOutdated deletes everything whose time of keeping is over.
func deleteOutdated(ctx context.Context, k *app.Kit) error {
	var errs []error
	for _, old := range []struct {
		of string
		f  func(ctx context.Context, tx *db.Tx, n int) (deleted int, err error)
	}{{"the audit log", audit.DeleteOutdated}, {"mails", mailer.DeleteOutdated}, {"links", mailer.DeleteOutdatedLinks},
		{"browsers", signin.DeleteOutdated}, {"challenges", passkeys.DeleteOutdated}, {"requests to the provider", sso.DeleteOutdated}} {
		err := k.DB.Slices(ctx, outdatedSlice, func(tx *db.Tx) (int, error) { return old.f(ctx, tx, outdatedSlice) })
		if err != nil {
			errs = append(errs, fmt.Errorf("delete what is outdated of %s: %w", old.of, err))
		}
	}
	return errors.Join(errs...)
}
