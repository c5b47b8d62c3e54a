// Command contacts measures the contacts service alone, on a database and a broker of its own that lose
// nothing: `go run ./deploy/bench/contacts`. Each figure stands beside a limit taken in the same run.
package main

import (
	"context"
	"flag"
	"time"

	"frontdesk/deploy/bench/world"
)

var (
	contacts = flag.Int("contacts", 1_000_000, "contacts of the large site")
	rows     = flag.Int("rows", 50_000, "rows of the import")
	length   = flag.Duration("length", 5*time.Second, "length of each turn of measuring throughput")
	clients  = flag.Int("clients", 16, "clients who create contacts at once")
)

// colleagues own the contacts of the sites.
const colleagues = 20

// bench is the service and the report of one run.
type bench struct {
	*world.World
	*world.Report
}

func main() {
	world.Run(func(ctx context.Context, r *world.Report) ([]world.Part, func(), error) {
		w, err := world.New(ctx, world.Options{Service: "contacts", People: colleagues})
		if err != nil {
			return nil, nil, err
		}
		b := &bench{w, r}
		return []world.Part{{Name: "create", Take: b.create}, {Name: "import", Take: b.importRows}, {Name: "undo", Take: b.undo}, {Name: "large", Take: b.large},
			{Name: "directory", Take: b.directory}}, w.Close, nil
	})
}

// large measures lists, searches and the export of the large site, lists against those of a small one too.
func (b *bench) large(ctx context.Context) error {
	if err := b.fill(ctx, 10_000); err != nil {
		return err
	}
	small, err := b.pages()
	if err != nil {
		return err
	}
	if err := b.fill(ctx, *contacts); err != nil {
		return err
	}
	if err := b.list(ctx, small); err != nil {
		return err
	}
	if err := b.search(); err != nil {
		return err
	}
	return b.export(ctx)
}
