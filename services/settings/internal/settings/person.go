package settings

import (
	"context"
	"errors"
	"strconv"

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
	Invited bool
	Version int64
}

const personColumns = `id, login, name, email, roles, totp is not null, password is null, version`

func personByID(ctx context.Context, tx *db.Tx, id int64) (person, error) {
	return onePerson(ctx, tx, `select `+personColumns+` from person where id = $1`, id)
}

func lockPerson(ctx context.Context, tx *db.Tx, id int64) (person, error) {
	return onePerson(ctx, tx, `select `+personColumns+` from person where id = $1 for update`, id)
}

// personByName finds a user by login or address.
func personByName(ctx context.Context, tx *db.Tx, name string) (person, error) {
	return onePerson(ctx, tx, `select `+personColumns+` from person where lower(login) = lower($1) or lower(email) = lower($1)
		order by lower(login) = lower($1) desc limit 1`, name)
}

func onePerson(ctx context.Context, tx *db.Tx, sql string, args ...any) (person, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return person{}, err
	}
	p, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[person])
	if errors.Is(err, pgx.ErrNoRows) {
		return p, fault.NotFound("user")
	}
	return p, err
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
	return p, publishPerson(ctx, tx, p)
}

// removePerson deletes the locked user with all that opens doors for them.
func removePerson(ctx context.Context, tx *db.Tx, p person) error {
	if err := endSessions(ctx, tx, p.ID, nil); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `delete from application_password where person_id = $1 returning id::text`, p.ID)
	if err != nil {
		return err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, id := range keys {
		if err := tx.Tombstone(ctx, proto.IdentityTopic, auth.KeyKey(id)); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, `update link set ended_at = $2 where person_id = $1 and ended_at is null`, p.ID, tx.Now); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from person where id = $1`, p.ID); err != nil {
		return err
	}
	return tx.Tombstone(ctx, proto.IdentityTopic, auth.UserKey(strconv.FormatInt(p.ID, 10)))
}

func publishPerson(ctx context.Context, tx *db.Tx, p person) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.UserKey(strconv.FormatInt(p.ID, 10)), &proto.Identity{Version: p.Version,
		Record: &proto.Identity_User{User: &proto.User{Id: p.ID, Login: p.Login, Name: p.Name, Email: p.Email,
			Roles: p.Roles, TwoFactor: p.TwoFactor, Invited: p.Invited}}})
}
