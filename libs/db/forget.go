package db

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/encoding/protojson"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// Forget removes an erased person from the tables of this package: stored answers about them, and messages that wait to be
// sent or were parked. Add the ids of their deleted records with p.AddID first. Messages of the same transaction stay, and take the place of
// earlier ones about their records that name the person. From now on Forgotten and ForgottenSince report the person. The inbox holds
// only ids of events.
func (tx *Tx) Forget(ctx context.Context, p *erasure.Person) error {
	if err := tx.rememberForgotten(ctx, p, false); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from idempotency where about && $1 or people && $2`, p.IDs(), p.Called()); err != nil {
		return fmt.Errorf("forget in stored answers: %w", err)
	}
	if err := tx.forgetDeeds(ctx, p); err != nil {
		return fmt.Errorf("forget in how calls are taken back: %w", err)
	}
	parked, err := tx.messagesAbout(ctx, p, `select id, topic, key, value, parked_at, false from parked`)
	if err == nil && len(parked) > 0 {
		ids := make([]int64, len(parked))
		for i, m := range parked {
			ids[i] = m.id
		}
		_, err = tx.Exec(ctx, `delete from parked where id = any($1)`, ids)
	}
	if err != nil {
		return fmt.Errorf("forget in parked messages: %w", err)
	}
	sent, err := tx.messagesAbout(ctx, p, `select seq, topic, key, value, created_at, (topic, key) in (select topic, key::text from ended) from outbox
		where topic <> '`+proto.ForgetTopic+`'`)
	if err != nil {
		return fmt.Errorf("forget in outbox: %w", err)
	}
	tx.forgotten = append(tx.forgotten, sent...)
	return nil
}

// ForgetLater has ForgetAgain look for the person once more. p has the ids and hashes of the erasure alone: those of records that Forget has found beside
// may be other people's, from whom it has only struck something.
func (tx *Tx) ForgetLater(ctx context.Context, p *erasure.Person) error {
	return tx.rememberForgotten(ctx, p, true)
}

func (tx *Tx) rememberForgotten(ctx context.Context, p *erasure.Person, again bool) error {
	called := p.Called()
	for _, id := range p.IDs() {
		called = append(called, id[:])
	}
	if _, err := tx.Exec(ctx, `insert into forgotten_person (called, at, again) select distinct c, $2::timestamptz, $3::boolean from unnest($1::bytea[]) c
		on conflict (called) do update set at = greatest(forgotten_person.at, excluded.at), again = forgotten_person.again or excluded.again`, called, p.At, again); err != nil {
		return fmt.Errorf("remember who was forgotten: %w", err)
	}
	return nil
}

// ForgetAgain calls forget once more with the people of ForgetLater, when all transactions have ended that began before its one committed: what these
// stored about a person, Forget could not see.
func (d *DB) ForgetAgain(ctx context.Context, forget func(ctx context.Context, tx *Tx, p *erasure.Person) error) error {
	type look struct {
		At, Now time.Time
		Called  [][]byte
	}
	looks, err := Rows[look](ctx, d.Pool, `select at, array_agg(called) as called, clock_timestamp() as now from forgotten_person where again group by at order by at`)
	if err != nil {
		return err
	}
	for _, l := range looks {
		if err := d.ended(ctx, l.Now); err != nil {
			return fmt.Errorf("wait for open transactions: %w", err)
		}
		if err := d.Do(ctx, func(tx *Tx) error {
			if err := forget(ctx, tx, tx.person(l.At, l.Called)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `update forgotten_person set again = false where called = any($1) and at = $2`, l.Called, l.At)
			return err
		}); err != nil {
			return fmt.Errorf("forget again who was erased by %s: %w", l.At, err)
		}
	}
	return nil
}

// ended waits until no transaction of this role is open that began before the time at.
func (d *DB) ended(ctx context.Context, at time.Time) error {
	for {
		var open bool
		if err := d.Pool.QueryRow(ctx, `select exists (select from pg_stat_activity where datname = current_database() and usename = current_user and xact_start < $1)`,
			at).Scan(&open); err != nil || !open {
			return err
		}
		Sleep(ctx, 100*time.Millisecond)
	}
}

// PeopleNamed returns the erasure hashes of the addresses in texts, each once; never nil. A record is stored with them, so
// that it is found when one of these people is erased.
func (tx *Tx) PeopleNamed(texts ...[]byte) [][]byte {
	all := [][]byte{}
	for _, text := range texts {
		all = append(all, erasure.Called(tx.hash, text)...)
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// Forgotten reports whether one of these hashes belongs to a person who was erased after the time at. A command of that time
// must not bring the person back.
func (tx *Tx) Forgotten(ctx context.Context, at time.Time, called ...[]byte) (yes bool, err error) {
	err = tx.QueryRow(ctx, `select exists (select from forgotten_person where called = any($1) and at > $2)`, called, at).Scan(&yes)
	return yes, err
}

// ForgottenSince returns all people who were erased after the time at, as one Person.
func (tx *Tx) ForgottenSince(ctx context.Context, at time.Time) (*erasure.Person, error) {
	all, err := Column[[]byte](ctx, tx, `select called from forgotten_person where at > $1`, at)
	if err != nil {
		return nil, err
	}
	return tx.person(at, all), nil
}

// person is the Person of rows of forgotten_person: ids and hashes.
func (tx *Tx) person(at time.Time, rows [][]byte) *erasure.Person {
	p := erasure.New(tx.hash, at, nil, nil)
	for _, c := range rows {
		if id, err := uuid.FromBytes(c); err == nil {
			p.AddID(id)
		} else {
			p.AddCalled(c)
		}
	}
	return p
}

// storedMessage is a message in a table of this package.
type storedMessage struct {
	id  int64
	key string
}

// messagesAbout returns those messages in list that are about the person. A message from p.At or later may be about a person who came back: it is
// about this one if it names one of their records, or a record that this transaction publishes anew, which was handled late. A message of a record
// that has ended says so to the other services, and is about the person only if it names them otherwise than by ids.
func (tx *Tx) messagesAbout(ctx context.Context, p *erasure.Person, list string) (about []storedMessage, err error) {
	anew := map[[2]string]bool{}
	for _, m := range tx.waiting {
		anew[[2]string{m.Topic, m.Key}] = true
	}
	byID, byName := erasure.New(tx.hash, p.At, nil, nil), erasure.New(tx.hash, p.At, nil, p.Called())
	byID.AddID(p.IDs()...)
	rows, err := tx.Query(ctx, list)
	if err != nil {
		return nil, err
	}
	var id int64
	var m Message
	var at time.Time
	var ended bool
	_, err = pgx.ForEachRow(rows, []any{&id, &m.Topic, &m.Key, &m.Value, &at, &ended}, func() error {
		// By the clock of a service, as the erasure's; the database's may be another, and a message is parked later.
		var env proto.Envelope
		if protobuf.Unmarshal(m.Value, &env) == nil && uuid.Validate(env.GetId()) == nil {
			at = env.GetOccurredAt().AsTime()
		}
		named := at.Before(p.At) || anew[[2]string{m.Topic, m.Key}]
		// A tombstone erases the record and holds no data.
		if len(m.Value) > 0 && (named && Mentions(byName, m) || !ended && Mentions(byID, m)) {
			about = append(about, storedMessage{id, m.Key})
		}
		return nil
	})
	return about, err
}

// Mentions reports whether a message is about the person: keyed by one of their records, or with their id or address in it.
// A full name counts where it stands alone: in an audit entry, and in a command that holds no address. Beside an address of
// somebody else, or in somebody else's record, it is the name of a namesake.
func Mentions(p *erasure.Person, m Message) bool {
	if p.MentionedIn(m.Key) {
		return true
	}
	var env proto.Envelope
	if err := protobuf.Unmarshal(m.Value, &env); err != nil {
		return p.MentionedIn(string(m.Value))
	}
	// A visitor without a name acts under the address.
	if p.InJSON(env.GetExtra()) || p.MentionedIn(env.GetActor().GetLabel()) {
		return true
	}
	command := proto.CommandOf(env.GetKind())
	if command == nil || protobuf.Unmarshal(env.GetData(), command) != nil {
		return p.MentionedInJSON(env.GetData())
	}
	switch c := command.(type) {
	case *proto.Audit:
		if p.HasName(env.GetActor().GetLabel()) || p.InJSON(c.GetChanges()) {
			return true
		}
	case *proto.EnsureContact:
		if p.InJSON(c.GetFields()) || p.InJSON(c.GetOrganization()) || c.GetEmail() == "" && p.HasName(c.GetFirstName()+" "+c.GetLastName()) {
			return true
		}
	case *proto.RecordSubmission:
		if p.InJSON(c.GetValues()) {
			return true
		}
	}
	raw, err := protojson.Marshal(command)
	return err == nil && p.MentionedInJSON(raw)
}

// extraJSON encodes the further facts of an event: a message of proto/ by its field names, or anything that is JSON.
func extraJSON(extra any) ([]byte, error) {
	m, ok := extra.(protobuf.Message)
	if !ok {
		return json.Marshal(extra)
	}
	raw, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	// protojson varies its blanks on purpose.
	return json.Marshal(json.RawMessage(raw))
}
