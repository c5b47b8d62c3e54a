package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/deploy/bench/world"
)

// call is one that somebody of the team waits for. Its path may name {contact}, {organization}, {form} and so on.
type call struct{ name, path string }

var calls = []call{
	{"contacts", "/contacts"},
	{"contacts, second page", "/contacts?cursor={next}"},
	{"contacts of a status", "/contacts?status=customer"},
	{"contacts of an owner", "/contacts?owner={owner}"},
	{"contacts with a tag", "/contacts?tag=tag-7"},
	{"contacts of a source", "/contacts?source=fair"},
	{"contacts, a name", "/contacts?search=peeters+4f"},
	{"contacts, an address", "/contacts?search=person7777@"},
	{"contacts, two letters", "/contacts?search=an"},
	{"contacts, in vain", "/contacts?search=xyzzy"},
	{"contacts of an organization, two letters", "/contacts?search=an&organization={organization}"},
	{"contact", "/contacts/{contact}"},
	{"timeline", "/contacts/{contact}/activities"},
	{"organizations", "/organizations"},
	{"organizations, two letters", "/organizations?search=an"},
	{"organizations, one name", "/organizations?search=organization+777"},
	{"people of an organization", "/organizations/{organization}/contacts"},
	{"possible duplicates", "/organizations/possible-duplicates"},
	{"tags", "/tags"},
	{"sources", "/contacts/sources"},
	{"overview", "/overview"},
	{"statistics of contacts", "/statistics/contacts"},
	{"appointments", "/appointments"},
	{"appointments of a status", "/appointments?status=cancelled"},
	{"appointments of a contact", "/appointments?contact={contact}"},
	{"appointments of a week", "/appointments?from={monday}&to={sunday}"},
	{"calendar", "/calendar"},
	{"free times of the team", "/slots?service={service}"},
	{"free times for visitors", "/booking/slots?service={service}"},
	{"statistics of bookings", "/statistics/bookings"},
	{"submissions", "/submissions"},
	{"submissions of a form", "/submissions?form={form}"},
	{"submissions of a contact", "/submissions?contact={contact}"},
	{"statistics of submissions", "/statistics/submissions"},
	{"forms", "/forms"},
	{"webhooks", "/webhooks"},
	{"deliveries", "/webhooks/{webhook}/deliveries"},
	{"deliveries that failed", "/webhooks/{webhook}/deliveries?status=failed"},
	{"events", "/events"},
	{"audit log", "/audit-log"},
	{"audit log of an action", "/audit-log?action=update-contact"},
	{"mails", "/mails"},
	{"team", "/team"},
}

// exports are the files that hold all of something, with the service that writes them.
var exports = []struct{ service, path string }{
	{"contacts", "/exports/contacts.csv"},
	{"contacts", "/exports/organizations.csv"},
	{"forms", "/exports/submissions.csv"},
	{"settings", "/exports/audit-log.csv"},
}

// export reads each file once and answers how many rows it brings a second.
func (b *bench) export(n int) (map[string]float64, error) {
	rates := map[string]float64{}
	for _, x := range exports {
		p, err := b.Process(x.service)
		if err != nil {
			return nil, err
		}
		e, err := world.ReadExport(b.API, p.PID, x.path)
		if err != nil {
			return nil, err
		}
		rates[x.path] = float64(e.Lines-1) / e.Took.Seconds()
		b.Note(fmt.Sprintf("%d: %s, rows", n, x.path), world.Plain(e.Lines-1))
		b.Note(fmt.Sprintf("%d: %s", n, x.path), world.PerSecond(rates[x.path]))
		b.AtMost(fmt.Sprintf("%d: %s, first byte", n, x.path), world.Ms(e.FirstByte), world.Ms(100*time.Millisecond))
		b.AtMost(fmt.Sprintf("%d: %s, more memory", n, x.path), world.MiB(e.More), world.MiB(32<<10))
	}
	return rates, nil
}

// took is how long the calls of one kind took.
type took struct{ p50, p99 time.Duration }

// take makes each call as often as -rounds says.
func (b *bench) take() (map[string]took, error) {
	names, err := b.names()
	if err != nil {
		return nil, err
	}
	all := map[string]took{}
	for _, c := range calls {
		times, err := world.Times(*rounds, b.Get(names.Replace(c.path)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all[c.name] = took{world.Median(times[0]), world.Quantile(.99, times[0])}
	}
	return all, nil
}

// names are what stands for the names in paths, in the system as it is filled now.
func (b *bench) names() (*strings.Replacer, error) {
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	if _, err := b.Call("GET", "/contacts", nil, &page); err != nil {
		return nil, err
	}
	monday := time.Now()
	for monday.Weekday() != time.Monday {
		monday = monday.AddDate(0, 0, -1)
	}
	return strings.NewReplacer(
		"{next}", url.QueryEscape(page.NextCursor), "{owner}", fmt.Sprint(b.team[0]), "{contact}", id(7), "{organization}", id(7),
		"{service}", b.service, "{form}", fmt.Sprint(b.form), "{webhook}", b.webhook,
		"{monday}", monday.Format(time.DateOnly), "{sunday}", monday.AddDate(0, 0, 6).Format(time.DateOnly)), nil
}

// sizes notes what the data take on disk, by service, and what the processes hold.
func (b *bench) sizes(ctx context.Context, n int) error {
	for _, service := range services {
		var table, index int64
		if err := b.DB.QueryRow(ctx, `select coalesce(sum(pg_table_size(c.oid)), 0)::bigint, coalesce(sum(pg_indexes_size(c.oid)), 0)::bigint
			from pg_class c join pg_namespace s on s.oid = c.relnamespace where s.nspname = $1 and c.relkind = 'r'`, service).Scan(&table, &index); err != nil {
			return err
		}
		b.Note(fmt.Sprintf("%d: %s, tables", n, service), world.MiB(int(table>>10)))
		b.Note(fmt.Sprintf("%d: %s, indexes", n, service), world.MiB(int(index>>10)))
	}
	for _, name := range slices.Concat(services, []string{"gateway"}) {
		p, err := b.Process(name)
		if err != nil {
			return err
		}
		b.Note(fmt.Sprintf("%d: %s, memory", n, name), world.MiB(world.Memory(p.PID, "VmRSS")))
	}
	return nil
}
