package submission

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// forgetContact removes the copy of a contact that was erased, with all that it sent.
func forgetContact(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	_, err := forgetContacts(ctx, tx, []uuid.UUID{id})
	return err
}

// forgetContacts removes the copies of contacts, the submissions that are theirs and those that wait for them, and answers
// with the ids of these.
func forgetContacts(ctx context.Context, tx *db.Tx, ids []uuid.UUID) ([]uuid.UUID, error) {
	for _, q := range []string{`delete from contact where id = any($1)`, `delete from contact_alias where contact_id = any($1)`} {
		if _, err := tx.Exec(ctx, q, ids); err != nil {
			return nil, err
		}
	}
	rows, err := tx.Query(ctx, `select id from submission where contact_id = any($1) or contact_id is null and requested_id = any($1) order by id for update`, ids)
	if err != nil {
		return nil, err
	}
	sent, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, err
	}
	for _, id := range sent {
		if err := remove(ctx, tx, id); err != nil {
			return nil, fmt.Errorf("remove submission %s: %w", id, err)
		}
	}
	return sent, nil
}

// personalRow is a submission that may name a person who is erased.
type personalRow struct {
	ID      uuid.UUID  `db:"id"`
	Contact *uuid.UUID `db:"contact_id"`
	Status  string     `db:"status"`
	Result  string     `db:"result"`
	Values  []byte     `db:"values"`
	Answers []byte     `db:"answers"`
	Page    string     `db:"page"`
	Email   string     `db:"email"`
	Held    []byte     `db:"held"`
	Reason  string     `db:"spam_reason"`
}

const selectMentioning = `select id, contact_id, status, result, values, answers, page, email, held, coalesce(spam_reason, '') as spam_reason from submission `

// sentBy reports whether the person sent it: it has their address, or names them and says nothing of another sender.
func (m personalRow) sentBy(p *erasure.Person) bool {
	if m.Contact != nil {
		return false
	}
	if m.Email != "" {
		return p.HasAddress(m.Email)
	}
	return p.InJSON(m.Values) || p.MentionedIn(m.Page)
}

// forget removes all that a person has sent, whether it led to a contact or not, and strikes their addresses from
// what others sent.
func (r *Room) forget(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	gone, err := forgetContacts(ctx, tx, p.IDs())
	if err != nil {
		return nil, err
	}
	// Rows that the job has not read yet are looked at one by one.
	rows, err := tx.Query(ctx, selectMentioning+`where (people && $1 or read_as < $3) and created_at < $2 order by id for update`, p.Called(), p.At, erasure.Reading)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[personalRow])
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		if m.sentBy(p) {
			gone = append(gone, m.ID)
			err = remove(ctx, tx, m.ID)
		} else {
			err = m.strike(ctx, tx, p)
		}
		if err != nil {
			return nil, fmt.Errorf("forget in submission %s: %w", m.ID, err)
		}
	}
	return gone, nil
}

// strike takes the person's addresses out of what somebody else sent, and publishes it again if it was published before.
func (m personalRow) strike(ctx context.Context, tx *db.Tx, p *erasure.Person) error {
	values, inValues := p.StrikeFromJSON(m.Values)
	answers, inAnswers := p.StrikeFromJSON(m.Answers)
	page, inPage := p.StrikeFrom(m.Page)
	if !inValues && !inAnswers && !inPage {
		return nil
	}
	email := m.Email
	if p.HasAddress(email) {
		email = ""
	}
	held, err := strikeFromCommand(m.Held, p)
	if err != nil {
		return err
	}
	reason, _ := p.StrikeFrom(m.Reason)
	if _, err := tx.Exec(ctx, `update submission set values = @values, answers = @answers, page = @page, email = @email, held = @held, people = @people, spam_reason = nullif(@reason, ''),
		read_as = @read_as, version = version + 1 where id = @id`, db.Args{"id": m.ID, "values": values, "answers": answers, "page": page, "email": email, "held": held, "reason": reason,
		"people": tx.PeopleNamed(values, []byte(page)), "read_as": erasure.Reading}); err != nil {
		return err
	}
	if m.Status == statusSpam || m.Result == resultPending {
		return nil
	}
	_, err = emit(ctx, tx, proto.KindSubmissionUpdated, m.ID, []string{"values"})
	return err
}

// strikeFromCommand takes the person's addresses out of the command that spam holds back; nil stays nil.
func strikeFromCommand(held []byte, p *erasure.Person) ([]byte, error) {
	if held == nil {
		return nil, nil
	}
	c := &proto.EnsureContact{}
	if err := protobuf.Unmarshal(held, c); err != nil {
		return nil, err
	}
	c.Fields, _ = p.StrikeFromJSON(c.GetFields())
	c.Organization, _ = p.StrikeFromJSON(c.GetOrganization())
	return protobuf.Marshal(c)
}

// forgetLate forgets the people again who were erased after a command was made and are named in it.
func (r *Room) forgetLate(ctx context.Context, tx *db.Tx, e bus.Event, c *proto.RecordSubmission) error {
	named := tx.PeopleNamed(c.GetValues(), []byte(c.GetPage()), []byte(c.GetClient().GetEmail()))
	if id, err := uuid.Parse(c.GetContactId()); err == nil {
		named = append(named, id[:])
	}
	if late, err := tx.Forgotten(ctx, e.At, named...); err != nil || !late {
		return err
	}
	p, err := tx.ForgottenSince(ctx, e.At)
	if err != nil {
		return err
	}
	p.At = tx.Now.Add(time.Second)
	_, err = r.forget(ctx, tx, p)
	return err
}

// reread makes the hashes of addresses anew in submissions. It publishes again what has no contact and other hashes: contacts names it in
// the personal-data export.
var reread = app.Reread{
	Rows:  `select id, array[values::text, page] as texts, people from submission where read_as < $1 and id <> all($2) order by read_as, id`,
	Store: `update submission set people = $2, read_as = $3 where id = $1`,
	Changed: func(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
		alone, err := db.Column[uuid.UUID](ctx, tx, `with read as (update submission set version = version + 1 where id = any($1) returning id, contact_id, status, result)
			select id from read where contact_id is null and status = $2 and result = $3 order by id`, ids, statusReceived, resultNone)
		if err != nil {
			return err
		}
		for _, id := range alone {
			if _, err := emit(ctx, tx, proto.KindSubmissionUpdated, id, []string{}); err != nil {
				return fmt.Errorf("submission %s: %w", id, err)
			}
		}
		return nil
	},
}
