package settings

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// AuditEntry says who did what, through which channel.
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

// takeAudit stores an entry that some service wrote in the transaction of its change.
func (s *service) takeAudit(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != "audit" {
		return nil
	}
	var a proto.Audit
	if err := e.Decode(&a); err != nil {
		return err
	}
	var visitor []byte
	if e.Actor.UserID == 0 && e.Actor.Label != "" {
		visitor = s.Keys.Person(e.Actor.Label)
	}
	_, err := tx.Exec(ctx, `insert into audit (`+auditColumns+`, person)
		select $1::uuid, $2, $3, case when f.person is null then $4 else '' end, nullif($5::bigint, 0), $6, $7, $8, $9::timestamptz,
			case when f.person is null then $10::bytea end
		from (select) x left join forgotten f on f.person = $10 and f.at >= $9 on conflict (id) do nothing`,
		e.ID, a.GetAction(), e.Actor.Channel, e.Actor.Label, e.Actor.UserID, a.GetRecordType(), a.GetRecordId(), a.GetOutcome(), e.At.Truncate(time.Second), visitor)
	return err
}

// AuditFilter selects entries.
type AuditFilter struct {
	Channel string `json:"channel,omitempty" enum:"app,portal,api,ability,form,booking,import,email,system"`
	Action  string `json:"action,omitempty" maxLength:"60" doc:"The ability's name without svc/, or the operation's id."`
}

// where is the condition of the filter, on the arguments from $1 on.
func (f AuditFilter) where() (sql string, args []any) {
	conditions := []string{"true"}
	for _, c := range []struct{ column, value string }{{"channel", f.Channel}, {"action", strings.TrimPrefix(f.Action, "svc/")}} {
		if c.value != "" {
			args = append(args, c.value)
			conditions = append(conditions, c.column+" = $"+strconv.Itoa(len(args)))
		}
	}
	return strings.Join(conditions, " and "), args
}

func findAuditEntries(ctx context.Context, tx *db.Tx, in struct {
	AuditFilter
	db.Page
}) (db.List[AuditEntry], error) {
	c, err := tx.Page(in.Page, "audit", in)
	if err != nil {
		return db.List[AuditEntry]{}, err
	}
	where, args := in.where()
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from audit where `+where, args...).Scan(&c.Total); err != nil {
			return db.List[AuditEntry]{}, err
		}
	} else {
		args = append(args, c.At, c.ID)
		where += " and (created_at, id) < ($" + strconv.Itoa(len(args)-1) + ", $" + strconv.Itoa(len(args)) + ")"
	}
	args = append(args, c.Limit)
	rows, err := tx.Query(ctx, `select `+auditColumns+` from audit where `+where+` order by created_at desc, id desc limit $`+strconv.Itoa(len(args)), args...)
	if err != nil {
		return db.List[AuditEntry]{}, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[AuditEntry])
	return db.Close(c, all, func(a AuditEntry) (time.Time, uuid.UUID) { return a.CreatedAt, a.ID }), err
}

func exportAuditLog(ctx context.Context, tx *db.Tx, in AuditFilter, d *op.Download) error {
	where, args := in.where()
	rows, err := tx.Query(ctx, `select `+auditColumns+` from audit where `+where+` order by created_at desc, id desc`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	d.Start("audit-log.csv", "")
	if err := d.Row([]string{"id", "created_at", "action", "outcome", "channel", "actor_label", "user_id", "record_type", "record_id"}); err != nil {
		return err
	}
	for rows.Next() {
		a, err := pgx.RowToStructByPos[AuditEntry](rows)
		if err != nil {
			return err
		}
		user := ""
		if a.UserID != nil {
			user = id(*a.UserID)
		}
		err = d.Row([]string{a.ID.String(), a.CreatedAt.Format(time.RFC3339), a.Action, a.Outcome, a.Channel, a.ActorLabel, user, a.RecordType, a.RecordID})
		if err != nil {
			return err
		}
	}
	return rows.Err()
}
