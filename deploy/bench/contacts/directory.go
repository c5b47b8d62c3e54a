package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"frontdesk/deploy/bench/world"
)

// held is what the directory reads of each contact.
const held = `select id, created_at, owner_user_id, deleted_at is not null, search, status, marketing, source, tags from contact order by created_at, id`

// directory measures how a process that starts loads the contacts into its memory, and searches in it.
func (b *bench) directory(ctx context.Context) error {
	b.StopService()
	// A service does not start with tables that it does not know.
	if _, err := b.DB.Exec(ctx, `drop table if exists bare_contact, bare_activity, bare_outbox, copied_contact, copied_raw`); err != nil {
		return err
	}
	if err := b.onlyContacts(ctx, *contacts); err != nil {
		return err
	}
	conn, err := b.DB.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	// Once before, so that both read from the cache as far as it reaches.
	var alone time.Duration
	for range 2 {
		start := time.Now()
		if _, err := conn.Conn().PgConn().CopyTo(ctx, io.Discard, `copy (`+held+`) to stdout with (format binary)`); err != nil {
			return err
		}
		alone = time.Since(start)
	}
	if err := b.StartService(time.Hour); err != nil {
		return err
	}
	load, err := b.Metric("frontdesk_directory_load_seconds")
	if err != nil {
		return err
	}
	memory, err := b.Metric("frontdesk_directory_bytes")
	if err != nil {
		return err
	}
	n, err := b.Metric("frontdesk_directory_contacts")
	if err != nil {
		return err
	}
	if int(n) != *contacts {
		return fmt.Errorf("the directory holds %.0f of %d contacts", n, *contacts)
	}
	b.Note(fmt.Sprintf("load of %d contacts into the directory", *contacts), world.Value{Number: load, Unit: "s"})
	b.Note("COPY TO of the same", world.Seconds(alone))
	b.AtMost("load ÷ COPY TO", world.Plain(load/alone.Seconds()), world.Plain(3))
	b.AtMost("directory, bytes per contact", world.Plain(memory/n), world.Plain(150.))
	b.Note("directory", world.MiB(int(memory)>>10))
	// Go's collector leaves a tenth of what lives, the process without contacts takes about 64 MiB.
	b.AtMost("process, most memory while it loaded", world.MiB(world.Memory(b.PID, "VmHWM")), world.MiB(64<<10+int(memory*1.25)>>10))

	// Each byte of the texts, read once from memory: no search can look at all of them in less.
	texts := bytes.Repeat([]byte("anna peeters 4f12ab person1234567@example.com +32470123456 "), int(n))
	scan, err := world.Times(10, func() error {
		if bytes.IndexByte(texts, 0) >= 0 {
			return fmt.Errorf("there is no zero byte")
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.Note("one pass of IndexByte over as much text, p50", world.Ms(world.Median(scan[0])))
	p50, p99, err := b.searches()
	if err != nil {
		return err
	}
	b.Note("search in the directory, worst term, p50", world.Ms(p50))
	b.Note("search in the directory, worst term, p99", world.Ms(p99))
	b.Note("search, worst term, p50 ÷ one pass of IndexByte", world.Ratio(p50, world.Median(scan[0])))
	return nil
}
