package people

import (
	"context"
	"fmt"
	"time"

	"frontdesk/libs/db"
)

// SecretPurpose is the purpose of every secret of a second factor, in force or to be confirmed.
const SecretPurpose = "second factor"

func ofSecondFactor(string) string { return SecretPurpose }

// SecondFactor are what a user's row says of their second factor.
type SecondFactor struct {
	Secret, Pending []byte     // sealed for SecretPurpose; nil for none
	Step            int64      // the last step of the authenticator that was used
	After           *time.Time // codes wait until then
}

// ReadSecondFactor reads the columns of a locked user.
func ReadSecondFactor(ctx context.Context, tx *db.Tx, personID int64) (f SecondFactor, err error) {
	err = tx.QueryRow(ctx, `select totp, totp_pending, totp_step, code_after from person where id = $1`, personID).Scan(&f.Secret, &f.Pending, &f.Step, &f.After)
	if err != nil {
		return f, fmt.Errorf("read second factor: %w", err)
	}
	return f, nil
}

// AcceptCode notes that a code was right: step is the last one that was used, and wrong codes before count no more.
func AcceptCode(ctx context.Context, tx *db.Tx, personID, step int64) error {
	if _, err := tx.Exec(ctx, `update person set totp_step = $2, code_failures = 0, code_after = null where id = $1`, personID, step); err != nil {
		return fmt.Errorf("use up second factor: %w", err)
	}
	return nil
}

// CountWrongCode counts a wrong code, and answers with how many there were in a row.
func CountWrongCode(ctx context.Context, tx *db.Tx, personID int64) (failures int, err error) {
	err = tx.QueryRow(ctx, `update person set code_failures = code_failures + 1 where id = $1 returning code_failures`, personID).Scan(&failures)
	if err != nil {
		return 0, fmt.Errorf("count wrong code: %w", err)
	}
	return failures, nil
}

// HoldCodes makes codes wait until a time.
func HoldCodes(ctx context.Context, tx *db.Tx, personID int64, until time.Time) error {
	if _, err := tx.Exec(ctx, `update person set code_after = $2 where id = $1`, personID, until); err != nil {
		return fmt.Errorf("make codes wait: %w", err)
	}
	return nil
}

// SetPendingSecret keeps a sealed secret until it is confirmed.
func SetPendingSecret(ctx context.Context, tx *db.Tx, personID int64, sealed []byte) error {
	if _, err := tx.Exec(ctx, `update person set totp_pending = $2 where id = $1`, personID, sealed); err != nil {
		return fmt.Errorf("keep secret until it is confirmed: %w", err)
	}
	return nil
}

// TurnOnSecondFactor puts the pending secret in force, of which step was just used. The caller publishes the user.
func TurnOnSecondFactor(ctx context.Context, tx *db.Tx, personID, step int64) (Person, error) {
	return onePerson(ctx, tx, `update person set totp = totp_pending, totp_pending = null, totp_step = $2, code_failures = 0, version = version + 1, updated_at = $3
		where id = $1 returning `+columns, personID, step, tx.Now)
}

// TurnOffSecondFactor takes the second factor away. The caller publishes the user.
func TurnOffSecondFactor(ctx context.Context, tx *db.Tx, personID int64) (Person, error) {
	return onePerson(ctx, tx, `update person set totp = null, totp_step = 0, code_failures = 0, code_after = null, version = version + 1, updated_at = $2
		where id = $1 returning `+columns, personID, tx.Now)
}
