package twofactor

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/site"
)

const (
	totpPeriod = 30 // seconds of a step
	codes      = 10 // recovery codes that are given out
)

// wrongCode refuses a code of the second factor: 400.
func wrongCode() error { return fault.Invalid("code", fault.NewProblem("wrong", "is not right")) }

// secondFactor finds the step of 30 seconds that a code of six digits belongs to: the current one, or the one before or
// after it.
func secondFactor(secret []byte, code string, now int64) (step int64, ok bool) {
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
	for _, step := range []int64{now / totpPeriod, now/totpPeriod - 1, now/totpPeriod + 1} {
		want, err := totp.GenerateCodeCustom(text, time.Unix(step*totpPeriod, 0), totp.ValidateOpts{Period: totpPeriod, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && secrets.Same(want, code) {
			return step, true
		}
	}
	return 0, false
}

// Use reports whether code is right for the locked user, and uses it up: a step of the authenticator counts
// once, a recovery code is deleted. A wrong code counts as a failure of the user, so the caller commits also after one. While
// codes have to wait it is 429.
func (r *Room) Use(ctx context.Context, tx *db.Tx, p people.Person, code string) (bool, error) {
	code = plainCode(code)
	f, err := people.ReadSecondFactor(ctx, tx, p.ID)
	if err != nil {
		return false, err
	}
	if err := codesWait(tx, f.After); err != nil {
		return false, err
	}
	// With another master key only recovery codes are left.
	if secret, err := r.Keys.Open(people.SecretPurpose, f.Secret); f.Secret != nil && err == nil {
		if step, ok := secondFactor(secret, code, tx.Now.Unix()); ok {
			if step <= f.Step {
				return false, r.countWrongCode(ctx, tx, p)
			}
			err := people.AcceptCode(ctx, tx, p.ID, step)
			return err == nil, err
		}
	}
	tag, err := tx.Exec(ctx, `delete from recovery_code where person_id = $1 and hash = $2`, p.ID, secrets.Hash(code))
	if err != nil {
		return false, fmt.Errorf("use up recovery code: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return false, r.countWrongCode(ctx, tx, p)
	}
	err = people.AcceptCode(ctx, tx, p.ID, f.Step)
	return err == nil, err
}

const (
	// freeCodes are the wrong codes that a person types without having to wait.
	freeCodes = 5
	// firstCodeWait is the wait after one more; each further one doubles it, up to longestCodeWait.
	firstCodeWait   = 30 * time.Second
	longestCodeWait = time.Hour
)

// codeWait is the wait after so many wrong codes in a row.
func codeWait(failures int) time.Duration {
	if failures <= freeCodes {
		return 0
	}
	return min(firstCodeWait<<min(failures-freeCodes-1, 10), longestCodeWait)
}

// codesWait is 429 until after.
func codesWait(tx *db.Tx, after *time.Time) error {
	if after != nil && tx.Now.Before(*after) {
		return fault.RateLimited(after.Sub(tx.Now))
	}
	return nil
}

// countWrongCode counts a wrong code of the locked user, makes the next one wait, and mails the user once when the first
// wait begins: whoever types codes here has the password.
func (r *Room) countWrongCode(ctx context.Context, tx *db.Tx, p people.Person) error {
	failures, err := people.CountWrongCode(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	wait := codeWait(failures)
	if wait == 0 {
		return nil
	}
	if err := people.HoldCodes(ctx, tx, p.ID, tx.Now.Add(wait)); err != nil {
		return err
	}
	if failures == freeCodes+1 {
		return r.noticeWrongCodes(ctx, tx, p)
	}
	return nil
}

// plainCode is a code without the spaces and hyphens that people type.
func plainCode(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

// twoFactorSecret is what an authenticator is set up with.
type twoFactorSecret struct {
	Secret     string `json:"secret" doc:"Base32, to type into an authenticator."`
	OtpauthURL string `json:"otpauth_url" doc:"The same as an address, to show as a QR code."`
}

func (r *Room) start(ctx context.Context, tx *db.Tx, _ op.None) (twoFactorSecret, error) {
	if err := sessions.RecentPassword(ctx, tx); err != nil {
		return twoFactorSecret{}, err
	}
	p, err := people.Lock(ctx, tx, tx.Who.UserID)
	if err != nil {
		return twoFactorSecret{}, err
	}
	if p.TwoFactor {
		return twoFactorSecret{}, fault.InvalidStatus("active", "The second factor is on already. Turn it off first.")
	}
	business, err := site.ReadBusiness(ctx, tx)
	if err != nil {
		return twoFactorSecret{}, err
	}
	issuer := strings.ReplaceAll(business.Name, ":", " ")
	if strings.TrimSpace(issuer) == "" {
		issuer = "Frontdesk"
	}
	k, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: p.Login, Period: totpPeriod, SecretSize: 20, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return twoFactorSecret{}, fmt.Errorf("make secret: %w", err)
	}
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(k.Secret())
	if err != nil {
		return twoFactorSecret{}, fmt.Errorf("make secret: %w", err)
	}
	if err := people.SetPendingSecret(ctx, tx, p.ID, r.Keys.Seal(people.SecretPurpose, secret)); err != nil {
		return twoFactorSecret{}, err
	}
	return twoFactorSecret{Secret: k.Secret(), OtpauthURL: k.URL()}, nil
}

// recoveryCodes each stand in for the second factor once.
type recoveryCodes struct {
	RecoveryCodes []string `json:"recovery_codes" doc:"Shown only once."`
}

// code is a code of the second factor.
type code struct {
	Code string `json:"code" required:"true" maxLength:"40" doc:"Six digits of the authenticator, or a recovery code."`
}

// confirm turns the second factor on. Errors: 400 for a wrong code, which counts as a failure of the user, 403 without
// a recent password, 409 without a secret to confirm, 429 while codes have to wait.
func (r *Room) confirm(ctx context.Context, d *db.DB, in code) (out recoveryCodes, err error) {
	err = people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		if err := sessions.RecentPassword(ctx, tx); err != nil {
			return nil, err
		}
		p, err := people.Lock(ctx, tx, tx.Who.UserID)
		if err != nil {
			return nil, err
		}
		f, err := people.ReadSecondFactor(ctx, tx, p.ID)
		if err != nil {
			return nil, err
		}
		if f.Pending == nil {
			return nil, fault.InvalidStatus("none", "There is nothing to confirm. Ask for a secret first.")
		}
		if err := codesWait(tx, f.After); err != nil {
			return nil, err
		}
		secret, err := r.Keys.Open(people.SecretPurpose, f.Pending)
		if err != nil {
			return nil, fault.InvalidStatus("none", "The secret can no longer be read. Ask for a new one.")
		}
		step, ok := secondFactor(secret, plainCode(in.Code), tx.Now.Unix())
		if !ok {
			return wrongCode(), r.countWrongCode(ctx, tx, p)
		}
		out, err = r.turnOn(ctx, tx, p, step)
		return nil, err
	})
	return out, err
}

// turnOn puts the locked user's pending secret in force, of which step was just used.
func (r *Room) turnOn(ctx context.Context, tx *db.Tx, p people.Person, step int64) (recoveryCodes, error) {
	hash, err := sessions.Current(tx.Who)
	if err != nil {
		return recoveryCodes{}, err
	}
	p, err = people.TurnOnSecondFactor(ctx, tx, p.ID, step)
	if err != nil {
		return recoveryCodes{}, err
	}
	out, err := renewRecoveryCodes(ctx, tx, p.ID)
	if err != nil {
		return out, err
	}
	// The code just now was this session's second factor; all others have to sign in with one.
	if err := sessions.EndAll(ctx, tx, p.ID, hash); err != nil {
		return out, err
	}
	if err := sessions.GiveTwoFactor(ctx, tx, hash); err != nil {
		return out, err
	}
	if err := people.Publish(tx, p); err != nil {
		return out, err
	}
	if err := r.noticeTwoFactor(ctx, tx, p); err != nil {
		return out, err
	}
	return out, op.Audit(ctx, tx, "confirm-two-factor", "user", row.Key(p.ID))
}

// renewRecoveryCodes replaces the recovery codes of the locked user.
func renewRecoveryCodes(ctx context.Context, tx *db.Tx, personID int64) (recoveryCodes, error) {
	out := recoveryCodes{RecoveryCodes: make([]string, codes)}
	hashes := make([][]byte, codes)
	for i := range codes {
		out.RecoveryCodes[i] = recoveryCode()
		hashes[i] = secrets.Hash(plainCode(out.RecoveryCodes[i]))
	}
	if _, err := tx.Exec(ctx, `delete from recovery_code where person_id = $1`, personID); err != nil {
		return out, fmt.Errorf("delete recovery codes: %w", err)
	}
	if _, err := tx.Exec(ctx, `insert into recovery_code (person_id, hash) select $1, unnest($2::bytea[])`, personID, hashes); err != nil {
		return out, fmt.Errorf("store recovery codes: %w", err)
	}
	return out, nil
}

// end turns the caller's second factor off. Errors: 400 for a wrong code, which counts as a failure of the user, 403
// without a recent password, 409 without a second factor, 429 while codes have to wait.
func (r *Room) end(ctx context.Context, d *db.DB, in code) (op.None, error) {
	return op.None{}, people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		if err := sessions.RecentPassword(ctx, tx); err != nil {
			return nil, err
		}
		p, err := people.Lock(ctx, tx, tx.Who.UserID)
		if err != nil {
			return nil, err
		}
		if !p.TwoFactor {
			return nil, fault.InvalidStatus("none", "There is no second factor to turn off.")
		}
		ok, err := r.Use(ctx, tx, p, in.Code)
		if err != nil {
			return nil, err
		}
		if !ok {
			return wrongCode(), nil
		}
		if err := r.TurnOff(ctx, tx, p); err != nil {
			return nil, err
		}
		return nil, op.Audit(ctx, tx, "end-two-factor", "user", row.Key(p.ID))
	})
}

// TurnOff takes the locked user's second factor away and mails them that it is gone.
func (r *Room) TurnOff(ctx context.Context, tx *db.Tx, p people.Person) error {
	if _, err := tx.Exec(ctx, `delete from recovery_code where person_id = $1`, p.ID); err != nil {
		return fmt.Errorf("delete recovery codes: %w", err)
	}
	p, err := people.TurnOffSecondFactor(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	if err := sessions.TakeTwoFactor(ctx, tx, p.ID); err != nil {
		return err
	}
	if err := people.Publish(tx, p); err != nil {
		return err
	}
	return r.noticeTwoFactor(ctx, tx, p)
}

// recoveryCode is 120 random bits in six groups: enough for a plain hash to keep it.
func recoveryCode() string {
	b := make([]byte, 15)
	_, _ = rand.Read(b)
	t := strings.ToLower(base32.StdEncoding.EncodeToString(b))
	return strings.Join([]string{t[:4], t[4:8], t[8:12], t[12:16], t[16:20], t[20:]}, "-")
}

// noticeTwoFactor says whether the second factor of p is on.
func (r *Room) noticeTwoFactor(ctx context.Context, tx *db.Tx, p people.Person) error {
	if p.TwoFactor {
		return r.people.Notice(ctx, tx, p, "two_factor.on")
	}
	return r.people.Notice(ctx, tx, p, "two_factor.off")
}

func (r *Room) noticeWrongCodes(ctx context.Context, tx *db.Tx, p people.Person) error {
	return r.people.Notice(ctx, tx, p, "wrong_codes")
}
