package settings

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
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// AuditEntry is one line of the audit log: who did what, through which channel.
type AuditEntry struct {
	ID         uuid.UUID `json:"id" format:"uuid"`
	Action     string    `json:"action"`
	Channel    string    `json:"channel"`
	ActorLabel string    `json:"actor_label" doc:"Name of the person, key or agent."`
	UserID     *int64    `json:"user_id"`
	RecordType string    `json:"record_type"`
	RecordID   string    `json:"record_id"`
	Outcome    string    `json:"outcome" enum:"done,refused"`
	CreatedAt  time.Time `json:"created_at"`
}

const auditColumns = `id, action, channel, actor_label, user_id, record_type, record_id, outcome, created_at`

// insertAuditEntry stores the entry that e carries, once per event. The name of a visitor who was erased since stays out.
func (s *service) insertAuditEntry(ctx context.Context, tx *db.Tx, e bus.Event, a *proto.Audit) error {
	var visitor []byte
	if e.Actor.UserID == 0 && e.Actor.Label != "" {
		// A visitor without a name is called by the address.
		visitor = s.Keys.Person(address.Key(e.Actor.Label))
	}
	_, err := tx.Exec(ctx, `insert into audit (`+auditColumns+`, person)
		select @id::uuid, @action, @channel, case when f.called is null then @label else '' end, nullif(@user_id::bigint, 0),
			@record_type, @record_id, @outcome, @at::timestamptz, case when f.called is null then @visitor::bytea end
		from (select) x left join forgotten_person f on f.called = @visitor and f.at > @at
		on conflict (id) do nothing`,
		pgx.NamedArgs{"id": e.ID, "action": a.GetAction(), "channel": e.Actor.Channel, "label": e.Actor.Label, "user_id": e.Actor.UserID,
			"record_type": a.GetRecordType(), "record_id": a.GetRecordId(), "outcome": a.GetOutcome(), "at": e.At.Truncate(time.Second), "visitor": visitor})
	if err != nil {
		return fmt.Errorf("store audit entry: %w", err)
	}
	return nil
}

// AuditFilter selects entries.
type AuditFilter struct {
	Channel string `json:"channel,omitempty" enum:"app,portal,api,ability,form,booking,import,email,system"`
	Action  string `json:"action,omitempty" maxLength:"60" doc:"The ability's name without svc/, or the operation's id."`
}

// where is the condition of the filter on the table audit, called a.
func (f AuditFilter) where() *db.Where {
	w := &db.Where{}
	if f.Channel != "" {
		w.And("a.channel = ?", f.Channel)
	}
	if action := strings.TrimPrefix(f.Action, "svc/"); action != "" {
		w.And("a.action = ?", action)
	}
	return w
}

func findAuditEntries(ctx context.Context, tx *db.Tx, in struct {
	AuditFilter
	db.Page
}) (db.List[AuditEntry], error) {
	c, err := tx.Page(in.Page, "audit", in)
	if err != nil {
		return db.List[AuditEntry]{}, err
	}
	where := in.where()
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from audit a where `+where.String(), where.Args...).Scan(&c.Total); err != nil {
			return db.List[AuditEntry]{}, fmt.Errorf("count audit entries: %w", err)
		}
	}
	where.After(c, "a")
	all, err := many[AuditEntry](ctx, tx, db.LimitTo(`select `+auditColumns+` from audit a where `+where.String()+` order by created_at desc, id desc`, c.Limit), where.Args...)
	if err != nil {
		return db.List[AuditEntry]{}, fmt.Errorf("list audit entries: %w", err)
	}
	return db.Close(c, all, func(a AuditEntry) (time.Time, uuid.UUID) { return a.CreatedAt, a.ID }), nil
}

func exportAuditLog(ctx context.Context, tx *db.Tx, in AuditFilter, d *op.Download) error {
	where := in.where()
	rows, err := tx.Query(ctx, `select `+auditColumns+` from audit a where `+where.String()+` order by created_at desc, id desc`, where.Args...)
	if err != nil {
		return fmt.Errorf("read audit entries: %w", err)
	}
	defer rows.Close()
	d.Start("audit-log.csv", "")
	if err := d.Row([]string{"id", "created_at", "action", "outcome", "channel", "actor_label", "user_id", "record_type", "record_id"}); err != nil {
		return err
	}
	for rows.Next() {
		a, err := pgx.RowToStructByName[AuditEntry](rows)
		if err != nil {
			return err
		}
		user := ""
		if a.UserID != nil {
			user = number(*a.UserID)
		}
		err = d.Row([]string{a.ID.String(), a.CreatedAt.Format(time.RFC3339), a.Action, a.Outcome, a.Channel, a.ActorLabel, user, a.RecordType, a.RecordID})
		if err != nil {
			return err
		}
	}
	return rows.Err()
}
