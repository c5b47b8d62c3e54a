package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"frontdesk/deploy/bench/world"
)

const createTurns = 5

// create compares creating contacts through the API with the bare transaction on tables of the same shape.
func (b *bench) create(ctx context.Context) error {
	limit, err := b.BareCreate(ctx)
	if err != nil {
		return err
	}
	handler, err := b.HandleCreate(ctx)
	if err != nil {
		return err
	}
	var n atomic.Int64
	n.Store(time.Now().UnixNano() % 1_000_000_000)
	load := func(base string) func() (float64, error) {
		return func() (float64, error) {
			caller, err := world.NewCaller(b.API, base, *clients)
			if err != nil {
				return 0, err
			}
			defer caller.Close()
			return world.Load(*clients, *length, func() error {
				_, err := caller.Call("POST", "/v1/contacts", fmt.Appendf(nil,
					`{"first_name": "Grace", "last_name": "Hopper %d", "email": "grace%[1]d@example.com", "phone": "+32470123456"}`, n.Add(1)))
				return err
			})
		}
	}
	rates, err := world.Turns(createTurns, func() (float64, error) { return limit.Rate(ctx, *clients, *length) },
		b.Costing(b.Report, "create", load(b.URL)), b.Costing(b.Report, "the same behind HTTP", load(handler)))
	if err != nil {
		return err
	}
	b.Note(fmt.Sprintf("create, %d clients", *clients), world.PerSecond(world.Median(rates[1])))
	b.Note("the same transaction by pgbench", world.PerSecond(world.Median(rates[0])))
	b.Note("the same transaction behind HTTP", world.PerSecond(world.Median(rates[2])))
	b.Note("the same behind HTTP ÷ by pgbench, which is the limit of the next", world.Plain(world.Median(world.Ratios(rates[2], rates[0]))))
	b.AtLeast("create ÷ the same transaction by pgbench", world.Plain(world.Median(world.Ratios(rates[1], rates[0]))), world.Plain(0.5))
	return nil
}

// measured is one kind of page: its first page, which takes the total, and a later one, which does not.
type measured struct{ first, next time.Duration }

// queries of the list.
var queries = []string{"", "status=customer", "owner=3", "tag=tag-7", "source=fair"}

// pages measures the list, plain and with filters.
func (b *bench) pages() (map[string]measured, error) {
	out := map[string]measured{}
	for _, query := range queries {
		var page struct {
			NextCursor string `json:"next_cursor"`
			Total      int64
		}
		if _, err := b.Call("GET", "/contacts?"+query, nil, &page); err != nil {
			return nil, err
		}
		times, err := world.Times(300, b.Get("/contacts?"+query), b.Get("/contacts?"+query+"&cursor="+url.QueryEscape(page.NextCursor)))
		if err != nil {
			return nil, err
		}
		out[query] = measured{world.Median(times[0]), world.Median(times[1])}
	}
	return out, nil
}

const page = `select c.id, c.version, c.first_name, c.last_name, c.email, c.phone, c.status, c.marketing, c.marketing_updated_at, c.source,
	c.owner_user_id, c.tags, c.fields, c.last_activity, c.created_at, c.updated_at, c.deleted_at, po.id, po.name, p.role
	from contact c left join contact_organization p on p.contact_id = c.id and p.is_primary left join organization po on po.id = p.organization_id
	where c.deleted_at is null order by c.created_at desc, c.id desc limit 21`

// list compares pages of the large site with their SQL alone, and with those of the small site.
func (b *bench) list(ctx context.Context, small map[string]measured) error {
	large, err := b.pages()
	if err != nil {
		return err
	}
	conn, err := b.DB.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	bare := func() error {
		rows, err := conn.Query(ctx, page)
		if err != nil {
			return err
		}
		for rows.Next() {
			if _, err := rows.Values(); err != nil {
				return err
			}
		}
		return rows.Err()
	}
	var first struct {
		NextCursor string `json:"next_cursor"`
	}
	if _, err := b.Call("GET", "/contacts", nil, &first); err != nil {
		return err
	}
	// The way to the service and back costs as much as an empty answer, whatever is asked.
	times, err := world.Times(500, b.Get("/contacts?cursor="+url.QueryEscape(first.NextCursor)), bare, b.Get("/field-groups?entity=contact"))
	if err != nil {
		return err
	}
	alone, empty := world.Median(times[1]), world.Median(times[2])
	b.Note("list page, its SQL alone, p50", world.Ms(alone))
	b.Note("an empty answer, p50", world.Ms(empty))
	b.AtMost("list page, p50", world.Ms(world.Median(times[0])), world.Ms(2*alone+empty))
	for _, query := range queries {
		name, l := "list "+query, large[query]
		b.AtMost(name+", with total ÷ without", world.Ratio(l.first, l.next), world.Plain(1.1))
		b.AtMost(name+", large site ÷ 10,000 contacts", world.Ratio(l.next, small[query].next), world.Plain(1.5))
	}
	return nil
}

// search measures searches of the large site.
func (b *bench) search() error {
	_, p99, err := b.searches()
	if err == nil {
		b.AtMost("search, worst term, p99", world.Ms(p99), world.Ms(50*time.Millisecond))
	}
	return err
}

// searches looks for terms that are rare, common, short and in vain, and returns the times of the worst of them.
func (b *bench) searches() (p50, p99 time.Duration, err error) {
	// Of ten million contacts the terms take minutes otherwise.
	rounds := min(200, max(50, 200_000_000 / *contacts))
	for _, term := range []string{"person77777@", "Müller", "muller jurgen", "Anna", "an", "a", "example.com", "0470 12", "32470123", "xyzzy nobody", "peeters 4f", "@", "e"} {
		times, err := world.Times(rounds, b.Get("/contacts?search="+url.QueryEscape(term)))
		if err != nil {
			return 0, 0, err
		}
		middle, late := world.Median(times[0]), world.Quantile(.99, times[0])
		b.Note(fmt.Sprintf("search %q, p50", term), world.Ms(middle))
		b.Note(fmt.Sprintf("search %q, p99", term), world.Ms(late))
		p50, p99 = max(p50, middle), max(p99, late)
	}
	return p50, p99, nil
}

// export compares an export with COPY TO of the same query.
func (b *bench) export(ctx context.Context) error {
	query := strings.TrimSuffix(page, " limit 21")
	conn, err := b.DB.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	start := time.Now()
	if _, err := conn.Conn().PgConn().CopyTo(ctx, io.Discard, "copy ("+query+") to stdout with (format csv, header)"); err != nil {
		return err
	}
	alone := time.Since(start)
	export, err := world.ReadExport(b.API, b.PID, "/exports/contacts.csv")
	if err != nil {
		return err
	}
	if export.Lines != *contacts+1 {
		return fmt.Errorf("%d lines for %d contacts", export.Lines, *contacts)
	}
	b.Note(fmt.Sprintf("export of %d contacts", *contacts), world.Seconds(export.Took))
	b.Note("COPY TO of the same", world.Seconds(alone))
	b.AtMost("export ÷ COPY TO", world.Ratio(export.Took, alone), world.Plain(3))
	b.AtMost("export, first byte", world.Ms(export.FirstByte), world.Ms(100*time.Millisecond))
	b.AtMost("export, more memory", world.MiB(export.More), world.MiB(16<<10))
	return nil
}
