package contacts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
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

// lockToErase locks the contacts whose ids a query gives, sorted, and gives those that are still there. Whoever files
// something under an id locks the id first, then the contact; so does this.
func lockToErase(ctx context.Context, tx *db.Tx, query string, args ...any) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	ids, err := collectIDs(rows)
	if err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	for _, id := range ids {
		db.QueueLock(b, aliasLock, id)
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	if rows, err = tx.Query(ctx, `select id from contact where id = any($1) order by id for update`, ids); err != nil {
		return nil, err
	}
	return collectIDs(rows)
}

// leavers are the people whom one transaction erases. Their ids, addresses and full names are published as one ForgetPerson.
type leavers struct {
	*erasure.Person
	keys  []string // addresses as address.Key has them
	names []fullName
	// labels are what the people were called as visitors.
	labels []string
}

type fullName struct{ first, last string }

func (s *service) newLeavers(tx *db.Tx) *leavers {
	// Work is timed in whole seconds: all of this one is before the erasure.
	return &leavers{Person: erasure.New(s.Keys.Person, tx.Now.Add(time.Second), nil, nil)}
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

// erasedEvent is the last event of an id that meant a person who was erased.
func erasedEvent(id uuid.UUID) db.Event {
	return db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactErased, Key: id.String(), Data: map[string]any{"id": id}}
}

// learn adds the addresses and names of a contact.
func (l *leavers) learn(ctx context.Context, tx *db.Tx, c Contact) error {
	rows, err := tx.Query(ctx, `select email_key from former_address where contact_id = $1 union select $2::text where $2 <> ''`, c.ID, address.Key(c.Email))
	if err != nil {
		return err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	// Visitors stand in the audit log with the names they gave.
	if rows, err = tx.Query(ctx, `select distinct actor_label from activity where contact_id = $1 and user_id is null and actor_label <> ''`, c.ID); err != nil {
		return err
	}
	labels, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if name := strings.TrimSpace(c.FirstName + " " + c.LastName); name != "" {
		labels = append(labels, name)
	}
	if c.FirstName != "" && c.LastName != "" {
		l.names = append(l.names, fullName{c.FirstName, c.LastName})
	}
	l.keys = append(l.keys, keys...)
	for _, label := range labels {
		if strings.Contains(label, "@") {
			l.keys = append(l.keys, address.Key(label)) // a visitor without a name is called by the address
		} else {
			l.labels = append(l.labels, label)
		}
	}
	return nil
}

// called adds addresses and names by which the people are known.
func (l *leavers) called(texts ...string) {
	hashes := make([][]byte, len(texts))
	for i, text := range texts {
		hashes[i] = l.Hash(text)
	}
	l.AddCalled(hashes...)
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

// strikeFromTimelines takes the addresses out of the timelines of contacts that had one of them before, and the names of
// visitors out of what they did to organizations.
func (l *leavers) strikeFromTimelines(ctx context.Context, tx *db.Tx) error {
	rows, err := tx.Query(ctx, `select id, subject, body, actor_label, data from activity
		where contact_id in (select contact_id from former_address where email_key = any($1)) order by id for update`, l.keys)
	if err != nil {
		return err
	}
	update := &pgx.Batch{}
	var id uuid.UUID
	var subject, body, label string
	var data []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &subject, &body, &label, &data}, func() error {
		subject, inSubject := l.StrikeFrom(subject)
		body, inBody := l.StrikeFrom(body)
		label, inLabel := l.StrikeFrom(label)
		left, inData := l.StrikeFromJSON(data)
		if inSubject || inBody || inLabel || inData {
			update.Queue(`update activity set subject = $2, body = $3, actor_label = $4, data = $5::jsonb where id = $1`, id, subject, body, label, string(left))
		}
		return nil
	}); err != nil {
		return err
	}
	update.Queue(`delete from former_address where email_key = any($1)`, l.keys)
	labels := make([]string, len(l.labels))
	for i, label := range l.labels {
		labels[i] = strings.ToLower(label)
	}
	update.Queue(`update activity set actor_label = '' where organization_id is not null and user_id is null and actor_label <> '' and lower(actor_label) = any($1)`, labels)
	return tx.SendBatch(ctx, update).Close()
}

// outlived reports whether a command to make or fill in a contact is older than the erasure of its person. Such a command
// must not bring the person back; outlived then asks the sender to forget its part of the request, too.
func (s *service) outlived(ctx context.Context, tx *db.Tx, e bus.Event, m *proto.EnsureContact) (bool, error) {
	key := address.Key(m.GetEmail())
	if key == "" {
		return false, nil
	}
	gone, err := tx.Forgotten(ctx, e.At, s.Keys.Person(key))
	if err != nil || !gone {
		return false, err
	}
	forget := &proto.ForgetPerson{Ids: []string{m.GetContactId()}}
	return true, tx.Emit(ctx, db.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: db.NewID().String(), Data: forget})
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
