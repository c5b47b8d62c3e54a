package people

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/row"
)

// Person is a user of the site.
type Person struct {
	ID        int64
	Login     string
	Name      string
	Email     string
	Roles     []string
	TwoFactor bool
	// Invited is a user who has not chosen a password yet, and has no account at the organization's provider.
	Invited bool
	// HasPassword is a user who has chosen one.
	HasPassword bool
	Account
	// Language of the mails about the team's work; nil for that of the business's country.
	Language  *string
	Version   int64
	UpdatedAt time.Time
}

// Account is the user's account at the organization's provider: the zero value for none.
type Account struct{ Issuer, Subject string }

// Ways of signing in.
const (
	ByPassword     = "password"
	ByOrganization = "organization"
)

// SignsInBy are the ways in which the user can sign in; empty for one who was invited.
func (p Person) SignsInBy() []string {
	ways := []string{}
	if p.HasPassword {
		ways = append(ways, ByPassword)
	}
	if p.Issuer != "" {
		ways = append(ways, ByOrganization)
	}
	return ways
}

// canSignIn is SQL for a user who has something to sign in with.
const canSignIn = `(password is not null or subject is not null)`

const columns = `id, login, name, email, roles, totp is not null as two_factor, not ` + canSignIn + ` as invited, password is not null as has_password,
	coalesce(issuer, '') as issuer, coalesce(subject, '') as subject,
	(select language from notification where person_id = person.id) as language, version, updated_at`

// ByID reads a user; 404 for an unknown id.
func ByID(ctx context.Context, tx *db.Tx, userID int64) (Person, error) {
	return onePerson(ctx, tx, `select `+columns+` from person where id = $1`, userID)
}

// Lock is ByID for a change: it locks the user until the transaction ends.
func Lock(ctx context.Context, tx *db.Tx, userID int64) (Person, error) {
	return onePerson(ctx, tx, `select `+columns+` from person where id = $1 for update`, userID)
}

// ByName finds a user by login, else by email address, in any case; 404 if nobody has it.
func ByName(ctx context.Context, tx *db.Tx, name string) (Person, error) {
	return onePerson(ctx, tx, `select `+columns+` from person where lower(login) = lower($1) or lower(email) = lower($1)
		order by lower(login) = lower($1) desc limit 1`, name)
}

// LockByEmail locks the user with an email address, in any case; 404 if nobody has it.
func LockByEmail(ctx context.Context, tx *db.Tx, email string) (Person, error) {
	return onePerson(ctx, tx, `select `+columns+` from person where lower(email) = lower($1) for update`, email)
}

// LockByAccount locks the user with an account at the organization's provider; 404 if nobody has it.
func LockByAccount(ctx context.Context, tx *db.Tx, a Account) (Person, error) {
	return onePerson(ctx, tx, `select `+columns+` from person where issuer = $1 and subject = $2 for update`, a.Issuer, a.Subject)
}

// LockByAddress locks the user who has an address as email address, else the one who has it as login; 404 if nobody has it.
func LockByAddress(ctx context.Context, tx *db.Tx, address string) (Person, error) {
	return onePerson(ctx, tx, `select `+columns+` from person where lower(email) = lower($1) or lower(login) = lower($1)
		order by lower(email) = lower($1) desc limit 1 for update`, address)
}

// onePerson runs a statement that gives one row of columns; 404 when it gives none.
func onePerson(ctx context.Context, tx *db.Tx, sql string, args ...any) (Person, error) {
	return db.Find[Person](ctx, tx, fault.NotFound("user"), sql, args...)
}

// Add adds a user who has yet to choose a password, and publishes them. An address that somebody took just now is 409.
func Add(ctx context.Context, tx *db.Tx, email, name, role string) (Person, error) {
	p, err := onePerson(ctx, tx, `insert into person (login, name, email, roles, created_at, updated_at) values ($1, $2, $1, $3, $4, $4) returning `+columns,
		email, name, []string{role}, tx.Now)
	if db.Violates(err, "person_email") || db.Violates(err, "person_login") {
		return p, fault.Duplicate("Somebody invited this address just now.", nil)
	}
	if err != nil {
		return p, err
	}
	return p, Publish(tx, p)
}

// AddWithAccount adds a user who signs in by an account at the organization's provider, and publishes them. An address that somebody has is 409.
func AddWithAccount(ctx context.Context, tx *db.Tx, email, name string, roles []string, a Account) (Person, error) {
	p, err := onePerson(ctx, tx, `insert into person (login, name, email, roles, issuer, subject, created_at, updated_at) values ($1, $2, $1, $3, $4, $5, $6, $6) returning `+columns,
		email, name, roles, a.Issuer, a.Subject, tx.Now)
	if db.Violates(err, "person_email") || db.Violates(err, "person_login") || db.Violates(err, "person_subject") {
		return p, fault.Duplicate("Somebody has this address already.", nil)
	}
	if err != nil {
		return p, err
	}
	return p, Publish(tx, p)
}

// SetAccount gives the locked user p an account at the organization's provider, or takes it with the zero value.
func SetAccount(ctx context.Context, tx *db.Tx, p Person, a Account) (Person, error) {
	p, err := onePerson(ctx, tx, `update person set issuer = nullif($2, ''), subject = nullif($3, ''), version = version + 1, updated_at = $4 where id = $1 returning `+columns,
		p.ID, a.Issuer, a.Subject, tx.Now)
	if err != nil {
		return p, err
	}
	return p, Publish(tx, p)
}

// AddAdministrator adds the first administrator, unless the site has one who can sign in.
func AddAdministrator(ctx context.Context, tx *db.Tx, login, email, hash string) error {
	_, err := tx.Exec(ctx, `insert into person (login, name, email, roles, password, created_at, updated_at)
		select $2, $2, $3, array[$1], $4, $5, $5 where not exists (select from person where $1 = any(roles) and `+canSignIn+`)`,
		auth.SiteAdmin, login, email, hash, tx.Now)
	return err
}

// HaveAdministrator reports whether somebody else than a user is an administrator who can sign in.
func HaveAdministrator(ctx context.Context, tx *db.Tx, except int64) (have bool, err error) {
	err = tx.QueryRow(ctx, `select exists (select from person where id <> $1 and $2 = any(roles) and `+canSignIn+`)`, except, auth.SiteAdmin).Scan(&have)
	if err != nil {
		return false, fmt.Errorf("look for another administrator: %w", err)
	}
	return have, nil
}

// Administrators are those who can sign in, without one user.
func Administrators(ctx context.Context, tx *db.Tx, except int64) ([]Person, error) {
	all, err := db.Rows[Person](ctx, tx, `select `+columns+` from person where $1 = any(roles) and id <> $2 and `+canSignIn+` order by id`, auth.SiteAdmin, except)
	if err != nil {
		return nil, fmt.Errorf("read administrators: %w", err)
	}
	return all, nil
}

// SetRoles gives the locked user p exactly these roles.
func SetRoles(ctx context.Context, tx *db.Tx, p Person, names []string) (Person, error) {
	if names == nil {
		names = []string{}
	}
	p, err := onePerson(ctx, tx, `update person set roles = $2, version = version + 1, updated_at = $3 where id = $1 returning `+columns,
		p.ID, names, tx.Now)
	if err != nil {
		return p, err
	}
	return p, Publish(tx, p)
}

// Republish publishes a locked user again, of whom something has changed that the rooms above keep.
func Republish(ctx context.Context, tx *db.Tx, p Person) error {
	p, err := onePerson(ctx, tx, `update person set version = version + 1 where id = $1 returning `+columns, p.ID)
	if err != nil {
		return err
	}
	return Publish(tx, p)
}

// Delete deletes the locked user. Whatever else is theirs has ended before.
func Delete(ctx context.Context, tx *db.Tx, p Person) error {
	if _, err := tx.Exec(ctx, `delete from person where id = $1`, p.ID); err != nil {
		return fmt.Errorf("delete user: %w", err)
	}
	tx.Tombstone(proto.IdentityTopic, auth.UserKey(row.Key(p.ID)))
	return nil
}

// Publish publishes a user as they are.
func Publish(tx *db.Tx, p Person) error {
	var language string
	if p.Language != nil {
		language = *p.Language
	}
	return tx.EmitMessage(proto.IdentityTopic, auth.UserKey(row.Key(p.ID)), &proto.Identity{Version: p.Version,
		Record: &proto.Identity_User{User: &proto.User{Id: p.ID, Login: p.Login, Name: p.Name, Email: p.Email,
			Roles: p.Roles, TwoFactor: p.TwoFactor, Invited: p.Invited, Language: language, SignsInBy: p.SignsInBy()}}})
}

func publishAll(ctx context.Context, tx *db.Tx, ids []int64) error {
	return row.Each(ctx, tx, func(p Person) error { return Publish(tx, p) }, `select `+columns+` from person where id = any($1) order by id`, ids)
}

// PasswordHash reads the hash of a user's password, "" for one who has yet to choose it and for one who does not exist.
func PasswordHash(ctx context.Context, tx *db.Tx, userID int64) (hash string, err error) {
	err = tx.QueryRow(ctx, `select coalesce((select password from person where id = $1), '')`, userID).Scan(&hash)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return hash, nil
}

// SetPassword gives a user a password, by its hash. The caller publishes the user.
func SetPassword(ctx context.Context, tx *db.Tx, userID int64, hash string) (Person, error) {
	return onePerson(ctx, tx, `update person set password = $2, version = version + 1, updated_at = $3 where id = $1 returning `+columns, userID, hash, tx.Now)
}

// Acting makes p the actor of what ctx does, through the channel and from the address of now.
func Acting(ctx context.Context, p Person) context.Context {
	who := db.ActorFrom(ctx)
	return db.WithActor(ctx, db.Actor{UserID: p.ID, Label: p.Name, Channel: who.Channel, Address: who.Address})
}

// Refusing runs f in a transaction that is committed also when f refuses: what f wrote, such as a count of failures, stays.
// It returns the error, else the refusal.
func Refusing(ctx context.Context, d *db.DB, f func(*db.Tx) (refusal, err error)) error {
	var refusal error
	err := d.Do(ctx, func(tx *db.Tx) (err error) {
		refusal, err = f(tx)
		return err
	})
	return cmp.Or(err, refusal)
}

// AuditRefusal notes in the audit log that an action was refused to a user, 0 for one who does not exist: a secret was wrong.
func AuditRefusal(ctx context.Context, tx *db.Tx, action string, personID int64) error {
	record := ""
	if personID != 0 {
		record = row.Key(personID)
	}
	return tx.Audit(ctx, &proto.Audit{Action: action, RecordType: "user", RecordId: record, Outcome: "refused"})
}

// Withdraw publishes the end of the records of a user that a statement deletes and gives the ids of: key makes their keys.
func Withdraw[ID any](ctx context.Context, tx *db.Tx, key func(ID) string, sql string, args ...any) error {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("delete records of a user: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[ID])
	if err != nil {
		return fmt.Errorf("delete records of a user: %w", err)
	}
	for _, id := range ids {
		tx.Tombstone(proto.IdentityTopic, key(id))
	}
	return nil
}
