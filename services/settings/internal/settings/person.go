package settings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// person is a user of the site.
type person struct {
	ID        int64
	Login     string
	Name      string
	Email     string
	Roles     []string
	TwoFactor bool
	// Invited is a user who has not chosen a password yet.
	Invited   bool
	Version   int64
	UpdatedAt time.Time
}

const personColumns = `id, login, name, email, roles, totp is not null as two_factor, password is null as invited, version, updated_at`

// personByID reads a user; 404 for an unknown id.
func personByID(ctx context.Context, tx *db.Tx, userID int64) (person, error) {
	return onePerson(ctx, tx, `select `+personColumns+` from person where id = $1`, userID)
}

// lockPerson is personByID for a change: it locks the user until the transaction ends.
func lockPerson(ctx context.Context, tx *db.Tx, userID int64) (person, error) {
	return onePerson(ctx, tx, `select `+personColumns+` from person where id = $1 for update`, userID)
}

// personByName finds a user by login, else by email address, in any case; 404 if nobody has it.
func personByName(ctx context.Context, tx *db.Tx, name string) (person, error) {
	return onePerson(ctx, tx, `select `+personColumns+` from person where lower(login) = lower($1) or lower(email) = lower($1)
		order by lower(login) = lower($1) desc limit 1`, name)
}

// onePerson runs a statement that gives one row of personColumns; 404 when it gives none.
func onePerson(ctx context.Context, tx *db.Tx, sql string, args ...any) (person, error) {
	p, err := one[person](ctx, tx, sql, args...)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, fault.NotFound("user")
	}
	if err != nil {
		return p, fmt.Errorf("read or change a user: %w", err)
	}
	return p, nil
}

// setRoles gives the locked user p exactly these roles.
func setRoles(ctx context.Context, tx *db.Tx, p person, names []string) (person, error) {
	if names == nil {
		names = []string{}
	}
	p, err := onePerson(ctx, tx, `update person set roles = $2, version = version + 1, updated_at = $3 where id = $1 returning `+personColumns,
		p.ID, names, tx.Now)
	if err != nil {
		return p, err
	}
	return p, publishPerson(tx, p)
}

// removePerson deletes the locked user with their sessions, application passwords and links.
func removePerson(ctx context.Context, tx *db.Tx, p person) error {
	if err := endSessions(ctx, tx, p.ID, nil); err != nil {
		return err
	}
	if err := errors.Join(endKeys(ctx, tx, p.ID), endConnections(ctx, tx, p.ID)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update link set ended_at = $2 where person_id = $1 and ended_at is null`, p.ID, tx.Now); err != nil {
		return fmt.Errorf("end links: %w", err)
	}
	if _, err := tx.Exec(ctx, `delete from person where id = $1`, p.ID); err != nil {
		return fmt.Errorf("delete user: %w", err)
	}
	tx.Tombstone(proto.IdentityTopic, auth.UserKey(number(p.ID)))
	return nil
}

func publishPerson(tx *db.Tx, p person) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.UserKey(number(p.ID)), &proto.Identity{Version: p.Version,
		Record: &proto.Identity_User{User: &proto.User{Id: p.ID, Login: p.Login, Name: p.Name, Email: p.Email,
			Roles: p.Roles, TwoFactor: p.TwoFactor, Invited: p.Invited}}})
}
