package directory_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/services/contacts/internal/directory"
)

// answer is what the directory, or SQL, says to a query.
type answer struct {
	Total int64
	IDs   []uuid.UUID
}

// bySQL asks the table what q asks the directory.
func bySQL(ctx context.Context, tx *db.Tx, q directory.Query) (a answer, err error) {
	var w db.Where
	for _, l := range q.Has {
		w.And(labelled[l.Kind], l.Value)
	}
	for _, l := range q.Lacks {
		w.And("not "+labelled[l.Kind], l.Value)
	}
	for _, word := range q.Words {
		w.And("search like ?", "%"+word+"%")
	}
	w.And("created_at >= ?", time.UnixMicro(q.Since).UTC())
	rows, err := tx.Query(ctx, `select id from contact where `+w.String()+` order by created_at desc, id desc`, w.Args...)
	if err != nil {
		return a, err
	}
	a.IDs, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	a.Total = int64(len(a.IDs))
	a.IDs = a.IDs[:min(len(a.IDs), 10)]
	return a, err
}

var labelled = map[directory.Kind]string{
	directory.Status:  "status = ?",
	directory.Tag:     "tags @> array[?]",
	directory.Owner:   "coalesce(owner_user_id::text = ?, false)",
	directory.Trashed: "coalesce(deleted_at is not null and ? = '', false)",
}

// both asks the directory and the table in one transaction.
func both(ctx context.Context, d *db.DB, r *directory.Replica, q directory.Query) (held, kept answer, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		c := r.Newest()
		if c == nil {
			return db.RunAgainAfter(func(context.Context) error {
				time.Sleep(time.Millisecond)
				return nil
			})
		}
		if err := c.Check(ctx, tx, nil); err != nil {
			return err
		}
		keys, total := c.First(q, 10)
		held = answer{total, []uuid.UUID{}}
		for _, k := range keys {
			held.IDs = append(held.IDs, k.ID)
		}
		kept, err = bySQL(ctx, tx, q)
		return err
	})
	return held, kept, err
}

// writer is the pool or one transaction of it.
type writer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// changesOf are statements on the contacts of one lane, whose number is $1. $2 is a random number.
var changesOf = []string{
	`insert into contact (id, first_name, source, status, owner_user_id, tags, created_at, updated_at)
		select gen_random_uuid(), (array['Anna', 'Ann', 'Jan', 'Zoë'])[1 + ($2 + i) % 4], $1, (array['lead', 'customer'])[1 + i % 2], nullif($2 % 3, 0),
			case when i % 2 = 0 then array['VIP'] else '{}' end, to_timestamp(1e9 + ($2 + i) % 5), now() from generate_series(1, 1 + $2 % 4) i`,
	`update contact set status = (array['lead', 'customer', 'inactive'])[1 + $2 % 3] where source = $1 and abs(hashtext(id::text)) % 3 = $2 % 3`,
	`update contact set first_name = 'Jan', tags = array['VIP', 'Tag ' || $2 % 2] where source = $1 and abs(hashtext(id::text)) % 3 = $2 % 3`,
	`update contact set created_at = to_timestamp(1e9 + $2 % 5) where source = $1 and abs(hashtext(id::text)) % 3 = $2 % 3`,
	`update contact set deleted_at = case when deleted_at is null then now() end where source = $1 and abs(hashtext(id::text)) % 3 = $2 % 3`,
	`update contact set last_activity = now() where source = $1 and $2 >= 0`,
	`delete from contact where source = $1 and abs(hashtext(id::text)) % 3 = $2 % 3`,
}

func TestTheDirectoryAnswersAsSQLDoesInWhateverOrderTransactionsEnd(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "contacts", migrations)
	r := directory.NewReplica(d)
	r.InSlicesOf(3)
	stop := keepUp(t, r)
	ctx := t.Context()
	label := rapid.SampledFrom([]directory.Label{{Kind: directory.Status, Value: "lead"}, {Kind: directory.Status, Value: "customer"}, {Kind: directory.Tag, Value: "VIP"},
		{Kind: directory.Tag, Value: "Tag 1"}, {Kind: directory.Owner, Value: "2"}, {Kind: directory.Trashed}})
	rapid.Check(t, func(rt *rapid.T) {
		_, err := d.Pool.Exec(ctx, `delete from contact`)
		require.NoError(rt, err)
		// Each lane has a transaction of its own, and contacts that no other lane changes. Lane 0 commits at once.
		open := map[int]pgx.Tx{}
		defer func() {
			for _, tx := range open {
				_ = tx.Rollback(context.Background())
			}
		}()
		agree := func(rt *rapid.T) {
			q := directory.Query{Has: rapid.SliceOfN(label, 0, 2).Draw(rt, "has"), Lacks: rapid.SliceOfN(label, 0, 1).Draw(rt, "lacks"),
				Words: rapid.SliceOfN(rapid.SampledFrom([]string{"an", "ann", "zoe", "j"}), 0, 2).Draw(rt, "words"),
				Since: rapid.SampledFrom([]int64{0, 1e15 + 2e6}).Draw(rt, "since")}
			held, kept, err := both(ctx, d, r, q)
			require.NoError(rt, err)
			require.Equal(rt, kept, held)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) {},
			"change": func(rt *rapid.T) {
				lane := rapid.IntRange(0, 3).Draw(rt, "lane")
				var w writer = d.Pool
				if lane > 0 {
					if open[lane] == nil {
						var err error
						open[lane], err = d.Pool.Begin(ctx)
						require.NoError(rt, err)
					}
					w = open[lane]
				}
				_, err := w.Exec(ctx, rapid.SampledFrom(changesOf).Draw(rt, "change"), fmt.Sprint("lane ", lane), rapid.IntRange(0, 100).Draw(rt, "n"))
				require.NoError(rt, err)
			},
			"end": func(rt *rapid.T) {
				lane := rapid.IntRange(1, 3).Draw(rt, "lane")
				tx := open[lane]
				if tx == nil {
					rt.Skip("no transaction is open")
				}
				delete(open, lane)
				if rapid.IntRange(0, 3).Draw(rt, "end") == 0 {
					require.NoError(rt, tx.Rollback(ctx))
				} else {
					require.NoError(rt, tx.Commit(ctx))
				}
			},
			"load anew": func(*rapid.T) {
				stop()
				r.Forget()
				stop = keepUp(t, r)
			},
			"ask": agree,
		})
		agree(rt)
	})
	stop()
	differences, err := r.Compare(ctx)
	require.NoError(t, err)
	require.Zero(t, differences)
}

func TestALoadHoldsWhatChangedBetweenItsSlices(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "contacts", migrations)
	_, err := d.Pool.Exec(t.Context(), `insert into contact (id, first_name, source, created_at, updated_at)
		select gen_random_uuid(), 'Anna', 'lane', to_timestamp(1e9 + i % 5), now() from generate_series(1, 600) i`)
	require.NoError(t, err)
	r := directory.NewReplica(d)
	r.InSlicesOf(3)
	for range 5 {
		ended, written := make(chan struct{}), make(chan error)
		go func() {
			var err error
			for n := 0; err == nil; n++ {
				select {
				case <-ended:
					written <- nil
					return
				default:
				}
				_, err = d.Pool.Exec(t.Context(), changesOf[n%len(changesOf)]+map[bool]string{true: ` and $2 % 7 = 0`}[n%len(changesOf) == len(changesOf)-1], "lane", n)
			}
			written <- err
		}()
		r.Load(t.Context())
		close(ended)
		require.NoError(t, <-written)
		differences, err := r.Compare(t.Context())
		require.NoError(t, err)
		require.Zero(t, differences)
	}
}

func TestManyWriteAndSearchWhileTheDirectoryIsLoadedAgainAndAgain(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "contacts", migrations)
	r := directory.NewReplica(d)
	r.InSlicesOf(10)
	stop := keepUp(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	finds := func(q directory.Query, want int64) error {
		held, _, err := both(ctx, d, r, q)
		if err == nil && held.Total != want {
			err = fmt.Errorf("%v finds %d, not %d", q, held.Total, want)
		}
		return err
	}
	const writers, turns = 4, 30
	var all, beside sync.WaitGroup
	errs := make(chan error, writers+2)
	for n := range writers {
		all.Go(func() {
			for turn := range turns {
				name := fmt.Sprintf("w%dx%d;", n, turn)
				id := uuid.New()
				for _, step := range []struct {
					sql  string
					q    directory.Query
					want int64
				}{
					{newContact, directory.Query{Words: []string{name}}, 1},
					{`update contact set status = 'customer', created_at = created_at - interval '1 day' where id = $1 and first_name = $2`,
						directory.Query{Words: []string{name}, Has: []directory.Label{{Kind: directory.Status, Value: "customer"}}}, 1},
					{`update contact set deleted_at = now() where id = $1 and first_name = $2`, directory.Query{Words: []string{name}, Lacks: []directory.Label{{Kind: directory.Trashed}}}, 0},
				} {
					_, err := d.Pool.Exec(ctx, step.sql, id, name)
					if err == nil {
						err = finds(step.q, step.want)
					}
					if err != nil {
						errs <- fmt.Errorf("%.30s: %w", strings.TrimSpace(step.sql), err)
						return
					}
				}
			}
		})
	}
	ended := make(chan struct{})
	beside.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
			}
			// The table gets other files, as after a restore.
			if _, err := d.Pool.Exec(ctx, `vacuum full contact`); err != nil {
				errs <- err
				return
			}
		}
	})
	beside.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
			}
			if c := r.Newest(); c != nil {
				_ = c.Bytes()
				c.After(directory.Query{Words: []string{"w1"}}, directory.KeyOf(time.Now(), uuid.Max), 10)
			}
			time.Sleep(time.Millisecond)
		}
	})
	all.Wait()
	close(ended)
	beside.Wait()
	select {
	case err := <-errs:
		require.NoError(t, err)
	default:
	}
	require.NoError(t, finds(directory.Query{Words: []string{"w"}}, writers*turns))
	stop()
	differences, err := r.Compare(ctx)
	require.NoError(t, err)
	require.Zero(t, differences)
}
