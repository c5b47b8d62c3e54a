package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
)

// DeedsKept is for how many days calls can be taken back.
const DeedsKept = 30

// Step is a call that takes back what another one did to a record: an operation of the same service and its input.
type Step struct {
	Operation string         `json:"operation"`
	Input     map[string]any `json:"input"`
}

// Deed is what is kept of a call by which it can be taken back.
type Deed struct {
	Entry      uuid.UUID // its audit entry
	Operation  string
	RecordType string
	RecordID   string
	// Reason is why it cannot be taken back; empty with Steps, and for a call that leaves nothing to take back.
	Reason string
	Steps  []Step
	// Undoes is what the call itself takes back.
	Undoes *Undoing
}

// Undoing names the step of a call that another call takes back.
type Undoing struct {
	Entry uuid.UUID
	Step  int
	// OfUser lets whatever the same user did since go for a part of it, by whichever credential.
	OfUser bool
}

// Versions are those of a record before and after a transaction.
type Versions struct{ Was, Became int64 }

// RecordKey is the key under which versions of a record are kept: a UUID alone, or the kind of the record and its number or name.
func RecordKey(kind, id string) string {
	if _, err := uuid.Parse(id); err == nil {
		return id
	}
	return kind + "/" + id
}

// touch keeps which version an event makes of its record.
func (tx *Tx) touch(e Event) {
	if e.Version == 0 || e.State || tx.History {
		return
	}
	kind, _, _ := strings.Cut(e.Kind, ".")
	key := RecordKey(kind, e.Key)
	tx.Touch(key, Versions{e.Version - 1, e.Version})
}

// Touch keeps which versions the transaction makes of a record. Events say so of their own records; this is for one without events, such as the order of
// others, whose key is that of the operation that changes it.
func (tx *Tx) Touch(key string, made Versions) {
	v, again := tx.touched[key]
	if tx.touched == nil {
		tx.touched = map[string]Versions{}
	}
	if !again {
		v.Was = made.Was
	}
	v.Became = max(v.Became, made.Became)
	tx.touched[key] = v
}

// TouchNext is Touch for a record that nothing numbers: its changes are counted by what is kept of calls. The caller holds a lock by which they come one
// after the other.
func (tx *Tx) TouchNext(ctx context.Context, key string) error {
	var last int64
	if err := tx.QueryRow(ctx, `select coalesce(max(became), 0) from `+deedVersions+` r where record = $1`, key).Scan(&last); err != nil {
		return fmt.Errorf("db: count the changes of %s: %w", key, err)
	}
	tx.Touch(key, Versions{last, last + 1})
	return nil
}

// Touched are the versions of the records that the transaction has published.
func (tx *Tx) Touched() map[string]Versions { return maps.Clone(tx.touched) }

// Matched is the version that Match was called with, and whether it was.
func (tx *Tx) Matched() (int64, bool) { return tx.present, tx.compared }

// TakeBack adds a call by which the one of this transaction is taken back, see Deed. The last one is made first. Without an
// operation it adds nothing.
func (tx *Tx) TakeBack(operation string, input map[string]any) {
	if operation != "" {
		tx.steps = append(tx.steps, Step{operation, input})
	}
}

// Steps are the calls that TakeBack has added since the last audit entry.
func (tx *Tx) Steps() []Step { return slices.Clone(tx.steps) }

// Was gives values of before that the audit log must not have, by which the call is taken back.
func (tx *Tx) Was(s change.Set) {
	if tx.was == nil {
		tx.was = change.Set{}
	}
	maps.Copy(tx.was, s)
}

// Before are the changes since the last audit entry, those of Was among them.
func (tx *Tx) Before() change.Set {
	all := change.Set{}
	maps.Copy(all, tx.changed)
	maps.Copy(all, tx.was)
	return all
}

// KeepDeed stores d with the versions that the transaction made of records.
func (tx *Tx) KeepDeed(d Deed, touched map[string]Versions) error {
	tx.steps, tx.was, tx.touched = nil, nil, nil
	if !tx.Who.SignedIn() && tx.Who.Channel != ChannelSystem {
		return nil
	}
	var about []uuid.UUID
	var people [][]byte
	var steps []byte
	if len(d.Steps) > 0 {
		var err error
		if steps, err = json.Marshal(d.Steps); err != nil {
			return fmt.Errorf("db: how %s is taken back: %w", d.Operation, err)
		}
		if tx.hash != nil {
			about, people = erasure.Mentions(tx.hash, steps, []byte(d.RecordID))
		}
	}
	var undoes *uuid.UUID
	var step *int
	if d.Undoes != nil {
		undoes = &d.Undoes.Entry
		if !tx.undid { // of several entries of a transaction the first stands for the step
			step, tx.undid = &d.Undoes.Step, true
		}
	}
	var own string
	var made Versions
	if len(touched) == 1 {
		for own, made = range touched {
		}
	}
	tx.Defer(`insert into deed (entry, operation, user_id, credential, label, record_type, record_id, reason, steps, undoes, step, about, people, at, record, was, became)
		values (@entry, @operation, @user, @credential, @label, @type, @id, @reason, @steps::jsonb, @undoes, @step, coalesce(@about::uuid[], '{}'), coalesce(@people::bytea[], '{}'), @now,
			@record, @was, @became)`,
		Args{"entry": d.Entry, "operation": d.Operation, "user": tx.Who.UserID, "credential": tx.Who.KeyID(), "label": tx.Who.Label, "type": d.RecordType, "id": d.RecordID,
			"reason": d.Reason, "steps": steps, "undoes": undoes, "step": step, "about": about, "people": people, "now": tx.Now,
			"record": own, "was": made.Was, "became": made.Became})
	if len(touched) > 1 {
		var records []string
		var was, became []int64
		for _, record := range slices.Sorted(maps.Keys(touched)) {
			records, was, became = append(records, record), append(was, touched[record].Was), append(became, touched[record].Became)
		}
		tx.Defer(`insert into deed_record (record, entry, was, became) select r, $1, w, b from unnest($2::text[], $3::bigint[], $4::bigint[]) x (r, w, b)`, d.Entry, records, was, became)
	}
	return nil
}

// deedVersions are the versions that calls made of records: of one record in the row of the call, of several in deed_record.
const deedVersions = `(select entry, record, was, became from deed where record <> '' union all select entry, record, was, became from deed_record)`

// keepConsequence keeps which versions a transaction made that no call stands behind: a worker's, in the name of who has given it the work. What an import
// makes has its own undo.
func (tx *Tx) keepConsequence() error {
	if len(tx.touched) == 0 || tx.Who.Channel == ChannelImport {
		return nil
	}
	return tx.KeepDeed(Deed{Entry: NewID()}, tx.touched)
}

// Undone is 409 svc_conflict undone if u was taken back already.
func (tx *Tx) Undone(ctx context.Context, u Undoing) error {
	var undone bool
	if err := tx.QueryRow(ctx, `select exists (select from deed where undoes = $1 and step = $2)`, u.Entry, u.Step).Scan(&undone); err != nil {
		return err
	}
	if undone {
		return fault.Conflict("undone", "This was taken back already.")
	}
	return nil
}

// Untouched fails if u was taken back already, which is 409 svc_conflict undone, or if somebody else has changed one of the records since the call that u
// names: 412 svc_version_mismatch with by, the name of who did it last; empty if it was nobody of the team. What the caller of that call did later, background
// work, what was taken back, and what took something back do not count. present are the records' versions before this transaction. Records that the call has
// not changed are left out; known reports whether it has changed one of them.
func (tx *Tx) Untouched(ctx context.Context, u Undoing, present map[string]int64) (known bool, err error) {
	// Who takes back the same call at this moment comes one after the other, each with a statement that sees what the one before did.
	err = tx.QueryRow(ctx, `select false from deed where entry = $1 for update`, u.Entry).Scan(&known)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, fault.NotFound("call to take back")
	}
	if err == nil {
		err = tx.Undone(ctx, u)
	}
	if err != nil {
		return false, fmt.Errorf("db: whether %s was taken back: %w", u.Entry, err)
	}
	for _, record := range slices.Sorted(maps.Keys(present)) {
		var left, explained int64
		var by string
		err := tx.QueryRow(ctx, `
			with made as (select d.user_id, d.credential, r.became from deed d join `+deedVersions+` r on r.entry = d.entry where d.entry = @entry and r.record = @record),
			since as (
				select r.became - r.was as n, b.label, b.entry, (b.user_id = made.user_id and (@of_user or b.credential = made.credential) or b.undoes is not null or b.user_id = 0
					or exists (select from deed t where t.undoes = b.entry)) as fine
				from made join `+deedVersions+` r on r.record = @record and r.was >= made.became join deed b on b.entry = r.entry)
			select became, (select coalesce(sum(n), 0)::bigint from since where fine), coalesce((select label from since where not fine order by entry desc limit 1), '')
			from made`, Args{"entry": u.Entry, "record": record, "of_user": u.OfUser}).Scan(&left, &explained, &by)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			continue
		case err != nil:
			return known, fmt.Errorf("db: who has changed %s since: %w", record, err)
		case present[record] != left+explained:
			return true, fault.New(http.StatusPreconditionFailed, "svc_version_mismatch", "Somebody else has changed this in the meantime. Look at it again.", "version", present[record], "by", by)
		}
		known = true
	}
	return known, nil
}

// Deeds are those of calls by their audit entries; entries that are not known are left out. Steps that were taken back have no operation.
func (tx *Tx) Deeds(ctx context.Context, entries []uuid.UUID) ([]Deed, error) {
	rows, err := tx.Query(ctx, `select d.entry, d.operation, d.record_type, d.record_id, d.reason, d.steps,
		array(select step from deed t where t.undoes = d.entry and step is not null) from deed d where d.entry = any($1) and d.at > $2`, entries, tx.Now.AddDate(0, 0, -DeedsKept))
	if err != nil {
		return nil, fmt.Errorf("db: read deeds: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Deed, err error) {
		var done []int
		if err := row.Scan(&d.Entry, &d.Operation, &d.RecordType, &d.RecordID, &d.Reason, &d.Steps, &done); err != nil {
			return d, err
		}
		for _, n := range done {
			if n < len(d.Steps) {
				d.Steps[n] = Step{}
			}
		}
		return d, nil
	})
}

// forgetDeeds takes what names a person out of how calls are taken back.
func (tx *Tx) forgetDeeds(ctx context.Context, p *erasure.Person) error {
	_, err := tx.Exec(ctx, `update deed set steps = null, reason = case when steps is null then reason else 'erased' end, record_id = '', about = '{}', people = '{}'
		where about && $1 or people && $2 or record_id = any($1::uuid[]::text[])`, p.IDs(), p.Called())
	return err
}
