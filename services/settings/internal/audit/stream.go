package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/lines"
)

// Entries stand in audit_unsent until the stream outside has taken them. They are put there while audit_stream says that somebody wants
// them: what is set in the environment of one replica counts in all, and a stream that was off for less than wantedFor misses nothing.

const (
	streamEvery = time.Second
	streamBatch = 500
	wantedFor   = 7 * 24 * time.Hour
)

// streamOn is whether a stream has been on in the last two hours: each run renews what it wants after an hour.
const streamOn = `exists (select from audit_stream where one and wanted_until > clock_timestamp() + interval '7 days' - interval '2 hours')`

var streamGauges = []app.Gauge{
	{Name: "audit.stream.waiting", Unit: "{entry}", Doc: "audit entries that wait for the stream of SVC_AUDIT_STREAM", SQL: `select count(*) from audit_unsent where ` + streamOn},
	{Name: "audit.stream.age", Unit: "s", Doc: "age of the oldest audit entry that waits for the stream of SVC_AUDIT_STREAM",
		SQL: `select coalesce(extract(epoch from clock_timestamp() - (select queued_at from audit_unsent where ` + streamOn + ` order by seq limit 1)), 0)`},
}

// jobs are the stream, if there is one. One replica at a time runs it.
func (r *Room) jobs() []app.Job {
	if !r.Config.Audit.On() {
		return nil
	}
	return []app.Job{{Name: "audit-stream", Every: streamEvery, Run: r.stream}}
}

// stream hands over what waits, oldest first. An entry is taken off when the stream has it, so a crash in between has it sent twice.
func (r *Room) stream(ctx context.Context) error {
	until := r.DB.Now().UTC().Add(wantedFor)
	if _, err := r.DB.Pool.Exec(ctx, `insert into audit_stream (wanted_until) values ($1) on conflict (one) do update set wanted_until = excluded.wanted_until
		where audit_stream.wanted_until < $2`, until, until.Add(-time.Hour)); err != nil {
		return fmt.Errorf("have audit entries kept for the stream: %w", err)
	}
	for {
		rows, err := r.DB.Pool.Query(ctx, `select `+columns+` from audit_unsent u join audit a using (id) order by u.seq limit $1`, streamBatch)
		if err != nil {
			return err
		}
		entries, err := pgx.CollectRows(rows, pgx.RowToStructByName[auditEntry])
		if err != nil || len(entries) == 0 {
			return err
		}
		ids, text := make([]uuid.UUID, len(entries)), make([]lines.Line, len(entries))
		for i, e := range entries {
			ids[i] = e.ID
			if text[i], err = ocsf(e, r.Config.PublicURL); err != nil {
				return fmt.Errorf("audit entry %s: %w", e.ID, err)
			}
		}
		if err := r.Config.Audit.Write(ctx, text); err != nil {
			return fmt.Errorf("hand over %d audit entries: %w", len(entries), err)
		}
		if _, err := r.DB.Pool.Exec(ctx, `delete from audit_unsent where id = any($1)`, ids); err != nil {
			return fmt.Errorf("note that %d audit entries were handed over: %w", len(entries), err)
		}
	}
}
