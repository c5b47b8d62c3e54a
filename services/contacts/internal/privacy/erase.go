package privacy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/copies"
	"frontdesk/services/contacts/internal/imports"
	"frontdesk/services/contacts/internal/joining"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/task"
	"frontdesk/services/contacts/internal/timeline"
)

// erased counts the contacts that went.
type erased struct {
	Erased int `json:"erased" doc:"How many contacts were erased."`
}

// erasePersonalData removes the contacts with an address, also from the trash, with everything about them, for good. What
// other records say of the address is struck out. Without a contact, the other services still forget the address.
//
// A caller who sees only their own contacts erases only these. While another owner's contact has the address, records that
// only the address identifies stay.
func (r *Room) erasePersonalData(ctx context.Context, tx *db.Tx, in emailQuery) (erased, error) {
	email, err := address.Parse(in.Email)
	if err != nil || email == "" {
		return erased{}, fault.Invalid("email", fault.Email())
	}
	key := address.Key(email)
	var w db.Where
	var keys []string
	w.And("email_key = ? and email_key <> ''", key)
	if tx.Who.Own {
		w.And("owner_user_id = ?", tx.Who.UserID)
	} else {
		keys = []string{key}
	}
	ids, err := r.erase(ctx, tx, keys, `select id from contact where `+w.String()+` order by id`, w.Args...)
	return erased{len(ids)}, err
}

// erase erases the contacts whose ids a query gives, sorted, and forgets them and further addresses, by their keys. It gives the ids; with an error,
// those that it failed on.
func (r *Room) erase(ctx context.Context, tx *db.Tx, keys []string, query string, args ...any) ([]uuid.UUID, error) {
	// Imports first: none may bring the person back from its file after this.
	if err := imports.Hold(ctx, tx); err != nil {
		return nil, err
	}
	l, ids, err := contact.LockToErase(ctx, tx, r.Keys.Person, keys, query, args...)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		tasks, err := task.Erase(ctx, tx, id)
		if err == nil {
			err = eraseContact(ctx, tx, id)
		}
		if err != nil {
			return ids, fmt.Errorf("erase contact %s: %w", id, err)
		}
		l.AddID(tasks...)
	}
	return ids, r.forget(ctx, tx, l)
}

// eraseContact removes a contact that contact.LockToErase locked, and everything that is linked with it. What names the person elsewhere is left to
// forget, which is called once for all.
func eraseContact(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	for _, erase := range []func(context.Context, *db.Tx, uuid.UUID) error{timeline.Erase, copies.Erase, marketing.Erase, joining.Erase, link.Erase, contact.Erase} {
		if err := erase(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the people from other records, files and messages here, and asks the other services to do the same
// (ForgetPerson).
func (r *Room) forget(ctx context.Context, tx *db.Tx, l *contact.Leavers) error {
	if err := timeline.Strike(ctx, tx, l.Person, l.Keys, l.Labels); err != nil {
		return fmt.Errorf("strike from timelines: %w", err)
	}
	if err := task.Strike(ctx, tx, l.Person); err != nil {
		return fmt.Errorf("strike from tasks: %w", err)
	}
	if err := contact.ForgetAddresses(ctx, tx, l.Keys); err != nil {
		return fmt.Errorf("forget former addresses: %w", err)
	}
	if err := imports.Strike(ctx, tx, l); err != nil {
		return fmt.Errorf("strike from imports: %w", err)
	}
	if err := tx.Forget(ctx, l.Person); err != nil {
		return err
	}
	m := &proto.ForgetPerson{Called: l.Called(), SharedKey: r.Keys.SharedID()}
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
func (r *Room) emptyTrash(ctx context.Context) error {
	privacy := struct {
		Retention struct {
			DeletedContacts int `json:"deleted_contacts"`
		} `json:"retention"`
	}{}
	privacy.Retention.DeletedContacts = 30
	r.Site.Read("privacy", &privacy)
	for ctx.Err() == nil {
		var ids []uuid.UUID
		err := r.DB.Do(ctx, func(tx *db.Tx) (err error) {
			ids = nil
			before := tx.Now.AddDate(0, 0, -privacy.Retention.DeletedContacts)
			// An erasure locks all imports, and looks through everything, also when it is of nobody.
			var some bool
			if err := tx.QueryRow(ctx, `select exists (select from contact where deleted_at < $1)`, before).Scan(&some); err != nil || !some {
				return err
			}
			ids, err = r.erase(ctx, tx, nil, db.LimitTo(`select id from contact where deleted_at < $1 and id <> all($2) order by id`, r.trash.Size(trashSlice)),
				before, r.trash.Keys())
			return err
		})
		if worked, err := r.trash.Did(ctx, ids, err); err != nil || !worked {
			return err
		}
	}
	return ctx.Err()
}

// restored erases the people again who were erased since the backup, then fails the imports that were not done: an erasure finds what they
// show of a person while they have their files.
func (r *Room) restored(ctx context.Context) (did []string, err error) {
	erased, err := r.eraseAgain(ctx)
	if err != nil {
		return nil, fmt.Errorf("erase people again: %w", err)
	}
	if erased > 0 {
		did = append(did, fmt.Sprintf("%d contacts that were erased since the backup are erased again", erased))
	}
	failed, err := r.imports.FailUndone(ctx)
	if failed > 0 {
		did = append(did, fmt.Sprintf("%d imports that were not done have failed", failed))
	}
	return did, err
}

// eraseAgain erases the contacts whose topic ends in contact.erased, each as of the time at which that happened, and returns
// how many.
func (r *Room) eraseAgain(ctx context.Context) (n int, err error) {
	for {
		var id uuid.UUID
		var at time.Time
		err := r.DB.Pool.QueryRow(ctx, `select c.id, l.at from logged l join contact c on c.id = l.key::uuid
			where l.topic = $1 and l.kind = $2 order by c.id limit 1`, proto.ContactTopic, proto.KindContactErased).Scan(&id, &at)
		if errors.Is(err, pgx.ErrNoRows) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if err := r.DB.Do(ctx, func(tx *db.Tx) error {
			tx.History, tx.Now = true, at.UTC().Truncate(time.Second)
			_, err := r.erase(ctx, tx, nil, `select id from contact where id = $1`, id)
			return err
		}); err != nil {
			return n, fmt.Errorf("contact %s: %w", id, err)
		}
		n++
	}
}
