package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/row"
)

// auditEntry is one line of the audit log: who did what, through which channel.
type auditEntry struct {
	ID         uuid.UUID      `json:"id" format:"uuid" doc:"The id of the record."`
	Action     string         `json:"action" doc:"What was done: the operation."`
	Channel    string         `json:"channel" doc:"How it came: app, portal, api, ability, form, booking, import, email or system."`
	ActorLabel string         `json:"actor_label" doc:"Name of the person, key or agent."`
	UserID     *int64         `json:"user_id" doc:"The user id of who did it; null for nobody of the team."`
	RecordType string         `json:"record_type" doc:"The kind of the record."`
	RecordID   string         `json:"record_id" doc:"The id of the record; empty for none."`
	RecordIDs  []string       `json:"record_ids" doc:"The ids of the records of a call that changed many; else empty."`
	Outcome    string         `json:"outcome" enum:"done,refused" doc:"done or refused."`
	Address    string         `json:"address" doc:"Where the actor called from; empty where that is unknown."`
	Changes    map[string]any `json:"changes" nullable:"true" doc:"Fields that changed, {field: {old, new}}; a long value is \"…\". Null where no values are recorded, and once a person in them was erased."`
	ApprovalID *uuid.UUID     `json:"approval_id" nullable:"true" doc:"The approval of a call that waited for a person; null for any other."`
	ApprovedBy *int64         `json:"approved_by" doc:"The user id of who approved it; null for a call that did not wait."`
	CreatedAt  time.Time      `json:"created_at" doc:"When it was done."`
}

// DaysKept is for how many days the log is kept.
const DaysKept = 365

const columns = `id, action, channel, actor_label, user_id, record_type, record_id, record_ids, outcome, address, changes, approval_id, approved_by, created_at`

// onAudit stores an entry that some service wrote in the transaction of its change, once per event. The name of a visitor who was
// erased since stays out, and so do values that name a person who was.
func (r *Room) onAudit(ctx context.Context, tx *db.Tx, e bus.Event, a *proto.Audit) error {
	var visitor []byte
	if e.Actor.UserID == 0 && e.Actor.Label != "" {
		// A visitor without a name is called by the address.
		visitor = r.Keys.Person(address.Key(e.Actor.Label))
	}
	changes := a.GetChanges()
	if visitor != nil || len(changes) > 0 {
		if err := besideErasures(ctx, tx); err != nil {
			return err
		}
	}
	var people [][]byte
	if len(changes) > 0 {
		people = tx.PeopleNamed(changes)
		about := people
		if id, err := uuid.Parse(a.GetRecordId()); err == nil {
			about = append(slices.Clone(people), id[:])
		}
		gone, err := tx.Forgotten(ctx, e.At, about...)
		if err != nil {
			return err
		}
		if gone {
			changes, people = nil, nil
		}
	}
	_, err := tx.Exec(ctx, `with stored as (insert into audit (`+columns+`, person, people, read_as, credential, undoes)
		select @id::uuid, @action, @channel, case when f.called is null then @label else '' end, nullif(@user_id::bigint, 0),
			@record_type, @record_id, coalesce(@record_ids::text[], '{}'), @outcome, case when f.called is null then @address else '' end, @changes::text::jsonb, nullif(@approval, '')::uuid, nullif(@approved_by::bigint, 0), @at::timestamptz, case when f.called is null then @visitor::bytea end, @people::bytea[], @read_as::smallint,
			nullif(@credential::text, ''), nullif(@undoes::text, '')::uuid
		from (select) x left join forgotten_person f on f.called = @visitor and f.at > @at
		on conflict (id) do nothing returning id)
		insert into audit_unsent (id) select id from stored where exists (select from audit_stream where one and wanted_until > @now)`,
		db.Args{"now": tx.Now, "credential": a.GetCredential(), "undoes": a.GetUndoes(), "approval": a.GetApprovalId(), "approved_by": a.GetApprovedBy(), "changes": textOrNull(changes), "people": people, "read_as": erasure.Reading, "id": e.ID, "action": a.GetAction(), "channel": e.Actor.Channel, "label": e.Actor.Label, "user_id": e.Actor.UserID,
			"record_type": a.GetRecordType(), "record_id": a.GetRecordId(), "record_ids": a.GetRecordIds(), "outcome": a.GetOutcome(), "address": a.GetAddress(), "at": e.At.Truncate(time.Second), "visitor": visitor})
	if err != nil {
		return fmt.Errorf("store audit entry: %w", err)
	}
	return nil
}

// auditFilter selects entries.
type auditFilter struct {
	Channel      string    `json:"channel,omitempty" enum:"app,portal,api,ability,form,booking,import,email,system"`
	Action       string    `json:"action,omitempty" maxLength:"60" doc:"The ability's name without svc/, or the operation's id."`
	User         int64     `json:"user,omitempty" minimum:"1" doc:"The user id of who did it."`
	Outcome      string    `json:"outcome,omitempty" enum:"done,refused" doc:"Only what was done, or what was refused."`
	RecordType   string    `json:"record_type,omitempty" maxLength:"60" doc:"The kind of the record, such as contact."`
	RecordID     string    `json:"record_id,omitempty" maxLength:"190" doc:"The id of the record; also entries of calls that changed many, it among them."`
	CreatedSince time.Time `json:"created_since,omitzero" doc:"Done at this moment or later."`
	CreatedUntil time.Time `json:"created_until,omitzero" doc:"Done before this moment."`
}

// where is the condition of the filter on the table audit, called a, of what the actor may see: who sees only their own
// records sees only what they did themselves.
func (f auditFilter) where(tx *db.Tx) *db.Where {
	w := &db.Where{}
	if tx.Who.Own {
		w.And("a.user_id = ?", tx.Who.UserID)
	}
	if f.Channel != "" {
		w.And("a.channel = ?", f.Channel)
	}
	if action := f.action(); action != "" {
		w.And("a.action = ?", action)
	}
	if f.User != 0 {
		w.And("a.user_id = ?", f.User)
	}
	switch f.Outcome {
	case "refused":
		w.And("a.outcome = 'refused'") // what the index of refusals is for
	case "done":
		w.And("a.outcome = 'done'")
	}
	if f.RecordType != "" {
		w.And("a.record_type = ?", f.RecordType)
	}
	if f.RecordID != "" {
		w.And("(a.record_id = ? or a.record_ids <> '{}' and a.record_ids @> array[?::text])", f.RecordID, f.RecordID)
	}
	if !f.CreatedSince.IsZero() {
		w.And("a.created_at >= ?", f.CreatedSince)
	}
	if !f.CreatedUntil.IsZero() {
		w.And("a.created_at < ?", f.CreatedUntil)
	}
	return w
}

func (f auditFilter) action() string { return strings.TrimPrefix(f.Action, "svc/") }

// total is how many entries w allows, which is f.where.
func (f auditFilter) total(ctx context.Context, tx *db.Tx, w *db.Where) (n int64, err error) {
	user := f.User
	switch {
	case f.Outcome != "" || f.RecordType != "" || f.RecordID != "" || !f.CreatedSince.IsZero() || !f.CreatedUntil.IsZero():
		err = tx.QueryRow(ctx, `select count(*) from audit a where `+w.String(), w.Args...).Scan(&n)
		return n, err
	case tx.Who.Own && user != 0 && user != tx.Who.UserID:
		return 0, nil
	case tx.Who.Own:
		user = tx.Who.UserID
	}
	var theirs []string
	if user != 0 {
		theirs = []string{row.Key(user)}
	}
	return tx.CountRows(ctx, "audit", db.Only(f.Channel), db.Only(f.action()), theirs)
}

func find(ctx context.Context, tx *db.Tx, in struct {
	auditFilter
	db.Page
}) (db.List[auditEntry], error) {
	c, err := tx.Page(in.Page, "audit", in)
	if err != nil {
		return db.List[auditEntry]{}, err
	}
	where := in.where(tx)
	if c.First {
		if c.Total, err = in.total(ctx, tx, where); err != nil {
			return db.List[auditEntry]{}, fmt.Errorf("count audit entries: %w", err)
		}
	}
	where.After(c, "a")
	all, err := db.Rows[auditEntry](ctx, tx, db.LimitTo(`select `+columns+` from audit a where `+where.String()+` order by created_at desc, id desc`, c.Limit), where.Args...)
	if err != nil {
		return db.List[auditEntry]{}, fmt.Errorf("list audit entries: %w", err)
	}
	return db.Close(c, all, func(a auditEntry) (time.Time, uuid.UUID) { return a.CreatedAt, a.ID }), nil
}

func exportLog(ctx context.Context, tx *db.Tx, in struct {
	auditFilter
	Separator op.Separator `json:"separator,omitempty"`
}, d *op.Download) error {
	where := in.where(tx)
	rows, err := d.Query(ctx, tx, `select `+columns+` from audit a where `+where.String()+` order by created_at desc, id desc`, where.Args...)
	if err != nil {
		return fmt.Errorf("read audit entries: %w", err)
	}
	defer rows.Close()
	d.Start("audit-log.csv", in.Separator)
	if err := d.Row([]string{"id", "created_at", "action", "outcome", "channel", "actor_label", "user_id", "record_type", "record_id", "address", "changes", "record_ids", "approval_id", "approved_by"}); err != nil {
		return err
	}
	for rows.Next() {
		a, err := pgx.RowToStructByName[auditEntry](rows)
		if err != nil {
			return err
		}
		user := ""
		if a.UserID != nil {
			user = row.Key(*a.UserID)
		}
		changes := []byte{}
		if a.Changes != nil {
			if changes, err = json.Marshal(a.Changes); err != nil {
				return err
			}
		}
		approval, approver := "", ""
		if a.ApprovalID != nil {
			approval = a.ApprovalID.String()
		}
		if a.ApprovedBy != nil {
			approver = row.Key(*a.ApprovedBy)
		}
		err = d.Row([]string{a.ID.String(), a.CreatedAt.Format(time.RFC3339), a.Action, a.Outcome, a.Channel, a.ActorLabel, user, a.RecordType, a.RecordID, a.Address, string(changes), strings.Join(a.RecordIDs, " "), approval, approver})
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// textOrNull is JSON as a text parameter; nil for none.
func textOrNull(raw []byte) *string {
	if len(raw) == 0 {
		return nil
	}
	text := string(raw)
	return &text
}

// erasing is the lock that transactions which store an entry about people share, and that an erasure has alone: so it sees what they stored,
// or they see the erasure.
const erasing = "settings.audit.erasing"

func besideErasures(ctx context.Context, tx *db.Tx) error {
	b := &pgx.Batch{}
	db.QueueLockShared(b, erasing, "")
	return tx.SendBatch(ctx, b).Close()
}

// forget takes a person's name and network address, and changes that name them, out of the audit log.
func forget(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	if err := tx.Lock(ctx, erasing, ""); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `update audit set actor_label = '', address = '', person = null where person = any($1) and created_at < $2`, p.Called(), p.At); err != nil {
		return nil, err
	}
	unread, err := unreadAbout(ctx, tx, p)
	if err != nil {
		return nil, fmt.Errorf("find entries that were not read yet: %w", err)
	}
	// The values of changes to the person's own records, and values elsewhere that name them.
	ids := make([]string, 0, len(p.IDs()))
	for _, id := range p.IDs() {
		ids = append(ids, id.String())
	}
	_, err = tx.Exec(ctx, `update audit set changes = null, people = null where changes is not null and created_at < $3
		and id in (select id from audit where changes is not null and record_id = any($1) union all select id from audit where changes is not null and people && $2
			union all select unnest($4::uuid[]))`,
		ids, p.Called(), p.At, unread)
	return nil, err
}

// reread makes the hashes of addresses in changes anew.
var reread = app.Reread{
	Rows:  `select id, array[changes::text] as texts, people from audit where changes is not null and read_as < $1 and id <> all($2) order by read_as, id`,
	Store: `update audit set people = $2, read_as = $3 where id = $1`,
}

// unreadAbout are the entries with changes that name the person and wait to be read again: their hashes may be those of other addresses.
func unreadAbout(ctx context.Context, tx *db.Tx, p *erasure.Person) (ids []uuid.UUID, err error) {
	rows, err := tx.Query(ctx, `select id, changes from audit where changes is not null and read_as < $1 and created_at < $2`, erasure.Reading, p.At)
	if err != nil {
		return nil, err
	}
	var id uuid.UUID
	var changes []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &changes}, func() error {
		if p.MentionedInJSON(changes) {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

// DeleteOutdated deletes up to n entries whose time of keeping is over, and returns how many.
func DeleteOutdated(ctx context.Context, tx *db.Tx, n int) (deleted int, err error) {
	tag, err := tx.Exec(ctx, `delete from audit where id = any(array(select id from audit where created_at < $1 order by created_at limit $2 for update skip locked))`,
		tx.Now.AddDate(0, 0, -DaysKept), n)
	return int(tag.RowsAffected()), err
}
