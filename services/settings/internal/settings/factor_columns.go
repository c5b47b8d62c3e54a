package settings

import (
	"context"
	"fmt"
	"time"

	"frontdesk/libs/db"
)

// secretPurpose is the purpose of every secret of a second factor, in force or to be confirmed.
const secretPurpose = "second factor"

func ofSecondFactor(string) string { return secretPurpose }

// factorColumns are what a user's row says of their second factor.
type factorColumns struct {
	Secret, Pending []byte     // sealed for secretPurpose; nil for none
	Step            int64      // the last step of the authenticator that was used
	After           *time.Time // codes wait until then
}

// readFactor reads the columns of a locked user.
func readFactor(ctx context.Context, tx *db.Tx, personID int64) (f factorColumns, err error) {
	err = tx.QueryRow(ctx, `select totp, totp_pending, totp_step, code_after from person where id = $1`, personID).Scan(&f.Secret, &f.Pending, &f.Step, &f.After)
	if err != nil {
		return f, fmt.Errorf("read second factor: %w", err)
	}
	return f, nil
}

// acceptCode notes that a code was right: step is the last one that was used, and wrong codes before count no more.
func acceptCode(ctx context.Context, tx *db.Tx, personID, step int64) error {
	if _, err := tx.Exec(ctx, `update person set totp_step = $2, code_failures = 0, code_after = null where id = $1`, personID, step); err != nil {
		return fmt.Errorf("use up second factor: %w", err)
	}
	return nil
}

// countFailure counts a wrong code, and answers with how many there were in a row.
func countFailure(ctx context.Context, tx *db.Tx, personID int64) (failures int, err error) {
	err = tx.QueryRow(ctx, `update person set code_failures = code_failures + 1 where id = $1 returning code_failures`, personID).Scan(&failures)
	if err != nil {
		return 0, fmt.Errorf("count wrong code: %w", err)
	}
	return failures, nil
}

// holdCodes makes codes wait until a time.
func holdCodes(ctx context.Context, tx *db.Tx, personID int64, until time.Time) error {
	if _, err := tx.Exec(ctx, `update person set code_after = $2 where id = $1`, personID, until); err != nil {
		return fmt.Errorf("make codes wait: %w", err)
	}
	return nil
}

// setPending keeps a sealed secret until it is confirmed.
func setPending(ctx context.Context, tx *db.Tx, personID int64, sealed []byte) error {
	if _, err := tx.Exec(ctx, `update person set totp_pending = $2 where id = $1`, personID, sealed); err != nil {
		return fmt.Errorf("keep secret until it is confirmed: %w", err)
	}
	return nil
}

// putInForce puts the pending secret in force, of which step was just used. The caller publishes the user.
func putInForce(ctx context.Context, tx *db.Tx, personID, step int64) (person, error) {
	return onePerson(ctx, tx, `update person set totp = totp_pending, totp_pending = null, totp_step = $2, code_failures = 0, version = version + 1, updated_at = $3
		where id = $1 returning `+personColumns, personID, step, tx.Now)
}

// removeFactor takes the second factor away. The caller publishes the user.
func removeFactor(ctx context.Context, tx *db.Tx, personID int64) (person, error) {
	return onePerson(ctx, tx, `update person set totp = null, totp_step = 0, code_failures = 0, code_after = null, version = version + 1, updated_at = $2
		where id = $1 returning `+personColumns, personID, tx.Now)
}
