package contacts

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// Erased counts the contacts that went.
type Erased struct {
	Erased int `json:"erased" doc:"How many contacts were erased."`
}

// erasePersonalData removes the contacts with an address, also from the trash, with everything about them, for good. What
// other records say of the address is struck out. Without a contact, the other services still forget the address.
//
// A caller who sees only their own contacts erases only these. While another owner's contact has the address, records that
// only the address identifies stay.
func (s *service) erasePersonalData(ctx context.Context, tx *db.Tx, in EmailQuery) (Erased, error) {
	email, err := address.Parse(in.Email)
	if err != nil || email == "" {
		return Erased{}, fault.Invalid("email", fault.Email())
	}
	key := address.Key(email)
	// Imports first: none may bring the person back from its file after this.
	if err := holdImports(ctx, tx); err != nil {
		return Erased{}, err
	}
	var w db.Where
	w.And("email_key = ? and email_key <> ''", key)
	if tx.Who.Own {
		w.And("owner_user_id = ?", tx.Who.UserID)
	}
	ids, err := lockToErase(ctx, tx, `select id from contact where `+w.String()+` order by id`, w.Args...)
	if err != nil {
		return Erased{}, err
	}
	l := s.newLeavers(tx)
	for _, id := range ids {
		if err := l.erase(ctx, tx, id); err != nil {
			return Erased{}, fmt.Errorf("erase contact %s: %w", id, err)
		}
	}
	if len(ids) > 0 || !tx.Who.Own {
		l.called(key)
		l.keys = append(l.keys, key)
	}
	return Erased{len(ids)}, l.forget(ctx, tx)
}

// erase removes a contact that lockToErase locked, and everything that is linked with it. What names the person elsewhere is left to forget,
// which is called once for all.
func (l *leavers) erase(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	c, err := readContact(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := l.learn(ctx, tx, c); err != nil {
		return err
	}
	// Every id that means the person: contacts merged into this one, and ids that were given out for it.
	rows, err := tx.Query(ctx, `select id from contact_alias where target = $1`, id)
	if err != nil {
		return err
	}
	aliases, err := collectIDs(rows)
	if err != nil {
		return err
	}
	for _, q := range []string{
		`delete from activity where contact_id = $1`,
		`delete from submission where contact_id = $1`,
		`update appointment set contact_id = null where contact_id = $1`,
		`delete from marketing_link where contact_id = $1 and kind = 'confirm'`,
		`delete from answered where contact_id = $1 or contact_id in (select id from contact_alias where target = $1)`,
		`update marketing_link set email_key = '' where contact_id = $1`,
		`update contact_alias set target = null, merged = false, lingers = false where target = $1`,
		`delete from contact where id = $1`,
	} {
		if _, err := tx.Exec(ctx, q, id); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, `insert into contact_alias (id, created_at) values ($1, $2)`, id, tx.Now); err != nil {
		return err
	}
	l.AddID(append(aliases, id)...)
	if err := tx.End(ctx, erasedEvent(id)); err != nil {
		return err
	}
	for _, one := range aliases {
		// The person left once: of the other ids it is state.
		e := erasedEvent(one)
		e.State = true
		if err := tx.End(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the people from other records, files and messages here, and asks the other services to do the same
// (ForgetPerson). An address that a remaining contact has belongs to that contact and is not forgotten.
func (l *leavers) forget(ctx context.Context, tx *db.Tx) error {
	rows, err := tx.Query(ctx, `select distinct k from unnest($1::text[]) k where k <> '' and not exists (select from contact where email_key = k)`, l.keys)
	if err != nil {
		return err
	}
	if l.keys, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return err
	}
	l.called(l.keys...)
	l.called(l.labels...)
	if err := l.strikeFromTimelines(ctx, tx); err != nil {
		return fmt.Errorf("strike from timelines: %w", err)
	}
	if err := l.strikeFromImports(ctx, tx); err != nil {
		return fmt.Errorf("strike from imports: %w", err)
	}
	if err := tx.Forget(ctx, l.Person); err != nil {
		return err
	}
	m := &proto.ForgetPerson{Called: l.Called()}
	for _, id := range l.IDs() {
		m.Ids = append(m.Ids, id.String())
	}
	if len(m.GetCalled()) == 0 && len(m.GetIds()) == 0 {
		return nil
	}
	return tx.Emit(ctx, db.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: db.NewID().String(), Data: m})
}

// trashSlice is how many contacts of the trash one transaction erases.
const trashSlice = 20

// emptyTrash erases contacts that have been in the trash for longer than the privacy settings say.
func (s *service) emptyTrash(ctx context.Context) error {
	privacy := struct {
		Retention struct {
			DeletedContacts int `json:"deleted_contacts"`
		} `json:"retention"`
	}{}
	privacy.Retention.DeletedContacts = 30
	s.Site.Read("privacy", &privacy)
	for ctx.Err() == nil {
		var ids []uuid.UUID
		err := s.DB.Do(ctx, func(tx *db.Tx) (err error) {
			ids = nil
			if err := holdImports(ctx, tx); err != nil {
				return err
			}
			before := tx.Now.AddDate(0, 0, -privacy.Retention.DeletedContacts)
			if ids, err = lockToErase(ctx, tx, db.LimitTo(`select id from contact where deleted_at < $1 and id <> all($2) order by id`, s.trash.Size(trashSlice)),
				before, s.trash.Keys()); err != nil {
				return err
			}
			l := s.newLeavers(tx)
			for _, id := range ids {
				if err := l.erase(ctx, tx, id); err != nil {
					return fmt.Errorf("erase contact %s: %w", id, err)
				}
			}
			return l.forget(ctx, tx)
		})
		if worked, err := s.trash.Did(ctx, ids, err); err != nil || !worked {
			return err
		}
	}
	return ctx.Err()
}
