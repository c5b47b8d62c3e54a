package settings

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

const (
	totpPeriod  = 30 // seconds of a step
	totpPurpose = "second factor"
	codes       = 10 // recovery codes that are given out
)

// wrongCode refuses a code of the second factor: 400.
func wrongCode() error { return fault.Invalid("code", fault.NewProblem("wrong", "is not right")) }

// secondFactor finds the step of 30 seconds that a code of six digits belongs to: the current one, or the one before or
// after it.
func secondFactor(secret []byte, code string, now int64) (step int64, ok bool) {
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
	for _, step := range []int64{now / totpPeriod, now/totpPeriod - 1, now/totpPeriod + 1} {
		want, err := totp.GenerateCodeCustom(text, unix(step*totpPeriod), totp.ValidateOpts{Period: totpPeriod, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && sameText(want, code) {
			return step, true
		}
	}
	return 0, false
}

// useSecondFactor reports whether code is right for the locked user, and uses it up: a step of the authenticator counts
// once, a recovery code is deleted.
func (s *service) useSecondFactor(ctx context.Context, tx *db.Tx, personID int64, code string) (bool, error) {
	code = plainCode(code)
	var sealed []byte
	var last int64
	err := tx.QueryRow(ctx, `select totp, totp_step from person where id = $1`, personID).Scan(&sealed, &last)
	if err != nil {
		return false, fmt.Errorf("read second factor: %w", err)
	}
	if sealed == nil {
		return false, nil
	}
	// With another master key only recovery codes are left.
	if secret, err := s.Keys.Open(totpPurpose, sealed); err == nil {
		if step, ok := secondFactor(secret, code, tx.Now.Unix()); ok {
			if step <= last {
				return false, nil
			}
			if _, err := tx.Exec(ctx, `update person set totp_step = $2 where id = $1`, personID, step); err != nil {
				return false, fmt.Errorf("use up second factor: %w", err)
			}
			return true, nil
		}
	}
	tag, err := tx.Exec(ctx, `delete from recovery_code where person_id = $1 and hash = $2`, personID, tokenHash(code))
	if err != nil {
		return false, fmt.Errorf("use up recovery code: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// plainCode is a code without the spaces and hyphens that people type.
func plainCode(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

// TwoFactorSecret is what an authenticator is set up with.
type TwoFactorSecret struct {
	Secret     string `json:"secret" doc:"Base32, to type into an authenticator."`
	OtpauthURL string `json:"otpauth_url" doc:"The same as an address, to show as a QR code."`
}

func (s *service) startTwoFactor(ctx context.Context, tx *db.Tx, _ op.None) (TwoFactorSecret, error) {
	if _, err := currentSession(tx.Who); err != nil {
		return TwoFactorSecret{}, err
	}
	p, err := lockPerson(ctx, tx, tx.Who.UserID)
	if err != nil {
		return TwoFactorSecret{}, err
	}
	if p.TwoFactor {
		return TwoFactorSecret{}, fault.InvalidStatus("active", "The second factor is on already. Turn it off first.")
	}
	var general generalDoc
	if _, err := readDocument(ctx, tx, docGeneral, &general); err != nil {
		return TwoFactorSecret{}, err
	}
	issuer := strings.ReplaceAll(general.Business.Name, ":", " ")
	if strings.TrimSpace(issuer) == "" {
		issuer = "Frontdesk"
	}
	k, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: p.Login, Period: totpPeriod, SecretSize: 20, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return TwoFactorSecret{}, fmt.Errorf("make secret: %w", err)
	}
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(k.Secret())
	if err != nil {
		return TwoFactorSecret{}, fmt.Errorf("make secret: %w", err)
	}
	if _, err = tx.Exec(ctx, `update person set totp_pending = $2 where id = $1`, p.ID, s.Keys.Seal(totpPurpose, secret)); err != nil {
		return TwoFactorSecret{}, fmt.Errorf("keep secret until it is confirmed: %w", err)
	}
	return TwoFactorSecret{Secret: k.Secret(), OtpauthURL: k.URL()}, nil
}

// RecoveryCodes each stand in for the second factor once.
type RecoveryCodes struct {
	RecoveryCodes []string `json:"recovery_codes" doc:"Shown only once."`
}

// Code is a code of the second factor.
type Code struct {
	Code string `json:"code" required:"true" maxLength:"40" doc:"Six digits of the authenticator, or a recovery code."`
}

func (s *service) confirmTwoFactor(ctx context.Context, tx *db.Tx, in Code) (RecoveryCodes, error) {
	hash, err := currentSession(tx.Who)
	if err != nil {
		return RecoveryCodes{}, err
	}
	p, err := lockPerson(ctx, tx, tx.Who.UserID)
	if err != nil {
		return RecoveryCodes{}, err
	}
	var sealed []byte
	if err := tx.QueryRow(ctx, `select totp_pending from person where id = $1`, p.ID).Scan(&sealed); err != nil {
		return RecoveryCodes{}, fmt.Errorf("read secret to confirm: %w", err)
	}
	if sealed == nil {
		return RecoveryCodes{}, fault.InvalidStatus("none", "There is nothing to confirm. Ask for a secret first.")
	}
	secret, err := s.Keys.Open(totpPurpose, sealed)
	if err != nil {
		return RecoveryCodes{}, fault.InvalidStatus("none", "The secret can no longer be read. Ask for a new one.")
	}
	step, ok := secondFactor(secret, plainCode(in.Code), tx.Now.Unix())
	if !ok {
		return RecoveryCodes{}, wrongCode()
	}
	p, err = onePerson(ctx, tx, `update person set totp = totp_pending, totp_pending = null, totp_step = $2, version = version + 1, updated_at = $3
		where id = $1 returning `+personColumns, p.ID, step, tx.Now)
	if err != nil {
		return RecoveryCodes{}, err
	}
	out, err := renewRecoveryCodes(ctx, tx, p.ID)
	if err != nil {
		return out, err
	}
	// The code just now was this session's second factor; all others have to sign in with one.
	if err := endSessions(ctx, tx, p.ID, hash); err != nil {
		return out, err
	}
	here, err := oneSession(ctx, tx, `update session set two_factor = true where hash = $1 returning `+sessionColumns, hash)
	if err != nil {
		return out, err
	}
	if err := publishSession(ctx, tx, here); err != nil {
		return out, err
	}
	return out, publishPerson(ctx, tx, p)
}

// renewRecoveryCodes replaces the recovery codes of the locked user.
func renewRecoveryCodes(ctx context.Context, tx *db.Tx, personID int64) (RecoveryCodes, error) {
	out := RecoveryCodes{RecoveryCodes: make([]string, codes)}
	hashes := make([][]byte, codes)
	for i := range codes {
		out.RecoveryCodes[i] = recoveryCode()
		hashes[i] = tokenHash(plainCode(out.RecoveryCodes[i]))
	}
	if _, err := tx.Exec(ctx, `delete from recovery_code where person_id = $1`, personID); err != nil {
		return out, fmt.Errorf("delete recovery codes: %w", err)
	}
	if _, err := tx.Exec(ctx, `insert into recovery_code (person_id, hash) select $1, unnest($2::bytea[])`, personID, hashes); err != nil {
		return out, fmt.Errorf("store recovery codes: %w", err)
	}
	return out, nil
}

func (s *service) endTwoFactor(ctx context.Context, tx *db.Tx, in Code) (op.None, error) {
	if _, err := currentSession(tx.Who); err != nil {
		return op.None{}, err
	}
	p, err := lockPerson(ctx, tx, tx.Who.UserID)
	if err != nil {
		return op.None{}, err
	}
	if !p.TwoFactor {
		return op.None{}, fault.InvalidStatus("none", "There is no second factor to turn off.")
	}
	ok, err := s.useSecondFactor(ctx, tx, p.ID, in.Code)
	if err != nil {
		return op.None{}, err
	}
	if !ok {
		return op.None{}, wrongCode()
	}
	if _, err := tx.Exec(ctx, `delete from recovery_code where person_id = $1`, p.ID); err != nil {
		return op.None{}, fmt.Errorf("delete recovery codes: %w", err)
	}
	p, err = onePerson(ctx, tx, `update person set totp = null, totp_step = 0, version = version + 1, updated_at = $2
		where id = $1 returning `+personColumns, p.ID, tx.Now)
	if err != nil {
		return op.None{}, err
	}
	if err := publishSessions(ctx, tx, `update session set two_factor = false where person_id = $1 returning `+sessionColumns, p.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, publishPerson(ctx, tx, p)
}

// recoveryCode is 80 random bits in four groups.
func recoveryCode() string {
	b := make([]byte, 10)
	_, _ = rand.Read(b)
	t := strings.ToLower(base32.StdEncoding.EncodeToString(b))
	return t[:4] + "-" + t[4:8] + "-" + t[8:12] + "-" + t[12:]
}
