package relay

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// claim is the work of a round, none unless it is mine. due says that no process has checked the log for checkEvery.
type claim struct {
	mine, busy, due bool
	rows            []*row
	// published is the newest message of each partition in which this service has published.
	published map[Partition]own
	// tick is higher in each claim of this schema.
	tick int64
}

// notHeld is the condition under which a row o of the outbox is in none of the partitions that are left out.
const notHeld = `not exists (select from unnest(@topics::text[], @ofs::int[], @numbers::int[]) s (topic, of, number)
	where s.topic = o.topic and (s.of = 0 or abs(o.hash % nullif(s.of, 0)) = s.number))`

// claim takes the claim if there is something to send or to check, or if needed says so. It has no rows then: the round verifies.
func (s *sender) claim(ctx context.Context, needed bool) (c claim, err error) {
	topics, ofs, numbers := []string{}, []int32{}, []int32{}
	for _, p := range s.leftOut() {
		topics, ofs, numbers = append(topics, p.Topic), append(ofs, int32(s.partitions[p].of)), append(numbers, int32(p.Number))
	}
	args := db.Args{"topics": topics, "ofs": ofs, "numbers": numbers, "holder": s.holder, "lasts": claimLasts, "needed": needed,
		"every": checkEvery, "most": relayBatch}
	const due, ours = `checked_at not between clock_timestamp() - @every::interval and clock_timestamp()`, `exists (select from relay where holder = @holder and until > clock_timestamp())`
	b := &pgx.Batch{}
	b.Queue(`begin`)
	// A crash may undo what the relay stores. It is repeated then, so the commit need not wait for the disk.
	b.Queue(`set local synchronous_commit = off`)
	b.Queue(`update relay set holder = @holder, until = clock_timestamp() + @lasts::interval, ticked = `+db.NextTick+`
		where (holder = @holder or not held(until, @lasts)) and (@needed or `+due+` or exists (select from outbox o where sent_at is null and `+notHeld+`))
		returning true, `+due+`, ticked`, args).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&c.mine, &c.due, &c.tick); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	if !needed { // else nothing is sent, and all that waits for partitions that are left out would be read
		b.Queue(`select seq, topic, key, value, coalesce(committed_at, created_at) from outbox o where sent_at is null and `+notHeld+`
			and `+ours+` order by seq limit @most`, args).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var x row
				if err := rows.Scan(&x.seq, &x.Topic, &x.Key, &x.Value, &x.Committed); err != nil {
					return err
				}
				c.rows = append(c.rows, &x)
			}
			return rows.Err()
		})
	}
	c.published = map[Partition]own{}
	b.Queue(`select topic, partition, "offset", coalesce(appended_at, 'epoch'), digest, sent_at, next_sent_at, next_offset from published where `+ours, args).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var x own
			var nextSent *time.Time
			var next *int64
			if err := rows.Scan(&x.Topic, &x.Number, &x.Offset, &x.At, &x.Digest, &x.SentAt, &nextSent, &next); err != nil {
				return err
			}
			if nextSent != nil && next != nil {
				x.next = &since{*nextSent, *next}
			}
			c.published[x.Partition] = x
		}
		return rows.Err()
	})
	// Asked last: another process may have taken the claim while this one waited to. What still waits behind such a process is busy too, even if
	// it has given the claim back by now.
	b.Queue(`select holder is distinct from @holder and (held(until, @lasts) or exists (select from outbox o where sent_at is null and `+notHeld+`)) from relay`, args).
		QueryRow(func(row pgx.Row) error { return row.Scan(&c.busy) })
	b.Queue(`commit`)
	err = s.DB.Pool.SendBatch(ctx, b).Close()
	return c, err
}

// release gives the claim back, and stores that the log was checked. mine is false if the claim is another process's by now.
func (s *sender) release(ctx context.Context, checked bool) (mine bool, err error) {
	tag, err := s.DB.Pool.Exec(ctx, `update relay set until = '-infinity', checked_at = case when $2 then clock_timestamp() else checked_at end where holder = $1`,
		s.holder, checked)
	mine = err == nil && tag.RowsAffected() > 0
	s.over(mine, nil)
	return mine, err
}

// mark stores which rows were sent, and the newest message of each partition, and gives the claim back, in one round trip. It changes nothing and
// returns false if the claim is another process's by now: that may have sent the same rows, and newer ones.
func (s *sender) mark(ctx context.Context, rows []*row) (mine bool, err error) {
	seqs, numbers, offsets, times := make([]int64, len(rows)), make([]int32, len(rows)), make([]int64, len(rows)), make([]time.Time, len(rows))
	for i, x := range rows {
		seqs[i], numbers[i], offsets[i], times[i] = x.seq, int32(x.placed.Partition), x.placed.Offset, x.placed.At
	}
	b := &pgx.Batch{}
	b.Queue(`begin`)
	b.Queue(`set local synchronous_commit = off`)
	b.Queue(`select holder = $1 from relay for update`, s.holder).QueryRow(func(row pgx.Row) error { return row.Scan(&mine) })
	const ifMine = ` where exists (select from relay where holder = $1)`
	b.Queue(`update outbox o set partition = s.partition, "offset" = s."offset", appended_at = s.at, sent_at = now()
		from unnest($2::bigint[], $3::int[], $4::bigint[], $5::timestamptz[]) s (seq, partition, "offset", at)`+ifMine+` and o.seq = s.seq and o.sent_at is null`,
		s.holder, seqs, numbers, offsets, times)
	last, _ := newestOf(rows)
	for p, x := range last {
		b.Queue(`insert into published (topic, partition, "offset", appended_at, digest, sent_at) select $2, $3, $4, $5, $6, now()`+ifMine+`
			on conflict (topic, partition) do update set "offset" = excluded."offset", appended_at = excluded.appended_at, digest = excluded.digest,
			sent_at = excluded.sent_at where published."offset" < excluded."offset"`, s.holder, p.Topic, p.Number, x.placed.Offset, x.placed.At, x.Digest())
	}
	b.Queue(`update relay set until = '-infinity' where holder = $1`, s.holder)
	b.Queue(`commit`)
	err = s.DB.Pool.SendBatch(ctx, b).Close()
	return mine, err
}
