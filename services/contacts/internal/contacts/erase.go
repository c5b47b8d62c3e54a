package contacts

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// Erased tells how many contacts went.
type Erased struct {
	Erased int `json:"erased"`
}

// ErasePersonalData removes the contacts with an address, also from the trash, with everything about them,
// for good. Where another contact's timeline still names the address, it is struck out.
func (s *service) ErasePersonalData(ctx context.Context, tx *db.Tx, in EmailQuery) (Erased, error) {
	email, err := address.Parse(in.Email)
	if err != nil || email == "" {
		return Erased{}, fault.Param("email", "must be an email address")
	}
	key := address.Key(email)
	// Imports first: none may bring the person back from its file after this.
	if err := holdImports(ctx, tx); err != nil {
		return Erased{}, err
	}
	var w where
	w.and("c.email_key = ? and c.email_key <> ''", key)
	w.own(tx, "c")
	rows, err := tx.Query(ctx, `select c.id from contact c where `+w.String()+` order by c.id for update`, w.args...)
	if err != nil {
		return Erased{}, err
	}
	ids, err := collectIDs(rows)
	if err != nil {
		return Erased{}, err
	}
	for _, id := range ids {
		if err := s.eraseContact(ctx, tx, id); err != nil {
			return Erased{}, err
		}
	}
	if err := strikeOut(ctx, tx, key); err != nil {
		return Erased{}, err
	}
	return Erased{len(ids)}, s.eraseTraces(ctx, tx, traces{addresses: []string{key}})
}

// traces are by what a person can be found in texts that are no record of theirs.
type traces struct {
	ids         []string
	addresses   []string // lower case
	first, last string
}

// eraseContact removes a locked contact and everything about it.
func (s *service) eraseContact(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	if err := pinAlone(ctx, tx, id); err != nil {
		return err
	}
	c, err := readContact(ctx, tx, id)
	if err != nil {
		return err
	}
	t := traces{ids: []string{id.String()}, first: c.FirstName, last: c.LastName}
	rows, err := tx.Query(ctx, `select email_key from former_address where contact_id = $1 union select $2::text where $2 <> ''`, id, address.Key(c.Email))
	if err != nil {
		return err
	}
	if t.addresses, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return err
	}
	// Visitors stand in the audit log with the names they gave.
	if rows, err = tx.Query(ctx, `select distinct actor_label from activity where contact_id = $1 and user_id is null and actor_label <> ''`, id); err != nil {
		return err
	}
	called, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	// Contacts that were merged into this one are the same person.
	if rows, err = tx.Query(ctx, `select id from contact_alias where target = $1 and lingers`, id); err != nil {
		return err
	}
	merged, err := collectIDs(rows)
	if err != nil {
		return err
	}
	for _, q := range []string{
		`delete from activity where contact_id = $1`,
		`delete from submission where contact_id = $1`,
		`update appointment set contact_id = null where contact_id = $1`,
		`delete from marketing_link where contact_id = $1 and kind = 'confirm'`,
		`update marketing_link set email_key = '' where contact_id = $1`,
		`update contact_alias set target = null, lingers = false where target = $1`,
		`delete from contact where id = $1`,
	} {
		if _, err := tx.Exec(ctx, q, id); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, `insert into contact_alias (id, created_at) values ($1, $2)`, id, tx.Now); err != nil {
		return err
	}
	if err := s.eraseTraces(ctx, tx, t); err != nil {
		return err
	}
	forget := &proto.ForgetPerson{Ids: []string{id.String()}}
	for _, m := range merged {
		forget.Ids = append(forget.Ids, m.String())
	}
	for _, name := range slices.Concat(called, t.addresses, []string{strings.TrimSpace(c.FirstName + " " + c.LastName)}) {
		if name != "" {
			forget.Called = append(forget.Called, s.Keys.Person(name))
		}
	}
	if err := tx.Emit(ctx, db.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: id.String(), Data: forget}); err != nil {
		return err
	}
	return endInTombstone(ctx, tx, id, merged)
}

// personal: contacts erases in the transaction of the request, so that svc.forget finds nothing left in its tables.
func (s *service) personal() app.Personal {
	holds := map[string]app.Holds{}
	for _, table := range []string{"contact", "contact_gone", "contact_alias", "former_address", "contact_organization", "activity", "consent", "marketing_link",
		"unsubscribed", "import", "import_error", "appointment", "submission"} {
		holds[table] = app.People
	}
	for _, table := range []string{"organization", "organization_distinct", "tag", "field_group", "field"} {
		holds[table] = app.Nobody
	}
	return app.Personal{Holds: holds, Forget: func(context.Context, *db.Tx, *erasure.Person) ([]uuid.UUID, error) { return nil, nil }}
}

// endInTombstone says that a person was erased, and ends the records of all their ids: what waits about them
// is taken back.
func endInTombstone(ctx context.Context, tx *db.Tx, id uuid.UUID, merged []uuid.UUID) error {
	e := db.Event{Topic: proto.ContactTopic, Kind: "contact.erased", Key: id.String(), Data: map[string]any{"id": id}}
	if err := tx.Emit(ctx, e); err != nil {
		return err
	}
	for _, one := range append(merged, id) {
		if err := tx.Tombstone(ctx, proto.ContactTopic, one.String()); err != nil {
			return err
		}
	}
	return nil
}

// eraseTraces removes what is left of a person outside the records: stored answers, waiting mails, parked
// messages, rows of import files.
func (s *service) eraseTraces(ctx context.Context, tx *db.Tx, t traces) error {
	for _, word := range append(t.ids, t.addresses...) {
		for _, q := range []string{
			`delete from idempotency where position(lower($1) in lower(convert_from(answer, 'UTF8'))) > 0`,
			`delete from parked where position(convert_to($1, 'UTF8') in coalesce(value, '')) > 0 or key = $1`,
		} {
			if _, err := tx.Exec(ctx, q, word); err != nil {
				return err
			}
		}
	}
	for _, address := range t.addresses {
		if _, err := tx.Exec(ctx, `delete from outbox where topic = $1 and position(convert_to($2, 'UTF8') in value) > 0`, proto.MailTopic, address); err != nil {
			return err
		}
	}
	return eraseFromImports(ctx, tx, t)
}

// strikeOut blanks an address in the timelines of contacts that had it once.
func strikeOut(ctx context.Context, tx *db.Tx, key string) error {
	rows, err := tx.Query(ctx, `select contact_id from former_address where email_key = $1`, key)
	if err != nil {
		return err
	}
	ids, err := collectIDs(rows)
	if err != nil || len(ids) == 0 {
		return err
	}
	// The address stands there as typed, so case does not count; and it is no pattern.
	pattern := `(?i)` + quotePattern(key)
	if _, err := tx.Exec(ctx, `
		update activity set data = regexp_replace(data::text, $2, '', 'g')::jsonb, subject = regexp_replace(subject, $2, '', 'g')
		where contact_id = any($1) and (data::text ~ $2 or subject ~ $2)`, ids, pattern); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `delete from former_address where email_key = $1`, key)
	return err
}

func quotePattern(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`.*+?()[]{}|^$\/`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// emptyTrash erases contacts that have been in the trash for longer than the privacy settings say.
func (s *service) emptyTrash(ctx context.Context) error {
	privacy := struct {
		Retention struct {
			DeletedContacts int `json:"deleted_contacts"`
		} `json:"retention"`
	}{}
	privacy.Retention.DeletedContacts = 30
	s.Site.Read("privacy", &privacy)
	for {
		var n int
		err := s.DB.Do(ctx, func(tx *db.Tx) error {
			rows, err := tx.Query(ctx, `select id from contact where deleted_at < $1 order by id limit 50 for update skip locked`,
				tx.Now.Add(-time.Duration(privacy.Retention.DeletedContacts)*24*time.Hour))
			if err != nil {
				return err
			}
			ids, err := collectIDs(rows)
			n = len(ids)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := s.eraseContact(ctx, tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
