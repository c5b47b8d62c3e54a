package settings

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

// passwordRecent is for how long a typed password counts for what a stolen session must not do.
const passwordRecent = 10 * time.Minute

// recentPassword refuses a caller whose session has not seen the password within passwordRecent, with 403
// svc_password_required, and a caller without a session, with 403.
func recentPassword(ctx context.Context, tx *db.Tx) error {
	hash, err := currentSession(tx.Who)
	if err != nil {
		return fault.Refused("person_only", "Only a person who is signed in may do this.")
	}
	var recent bool
	err = tx.QueryRow(ctx, `select coalesce((select password_at > $2 from session where hash = $1), false)`, hash, tx.Now.Add(-passwordRecent)).Scan(&recent)
	if err != nil {
		return fmt.Errorf("read when the password was typed: %w", err)
	}
	if !recent {
		return fault.New(http.StatusForbidden, "svc_password_required", "Type your password once more: POST /auth/confirm.")
	}
	return nil
}

// confirmPassword notes that the caller's session has just seen the password. Errors: 400 for a wrong one, 429 after many.
func (s *service) confirmPassword(ctx context.Context, d *db.DB, in struct {
	Password string `json:"password" required:"true" maxLength:"1024" doc:"The password of the caller."`
}) (op.None, error) {
	who := db.ActorFrom(ctx)
	hash, err := currentSession(who)
	if err != nil {
		return op.None{}, err
	}
	if _, err := s.checkPassword(ctx, d, accountOf(who.UserID), who.UserID, in.Password, fault.Invalid("password", fault.NewProblem("wrong", "is not right"))); err != nil {
		return op.None{}, err
	}
	return op.None{}, d.Do(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `update session set password_at = $2 where hash = $1`, hash, tx.Now); err != nil {
			return fmt.Errorf("note the password: %w", err)
		}
		return op.Audit(ctx, tx, "confirm-password", "user", number(who.UserID))
	})
}
