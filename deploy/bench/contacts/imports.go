package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"frontdesk/deploy/bench/world"
)

const importTurns = 3

// importRows compares an import with COPY into a plain table and one INSERT … SELECT on the same indexes.
func (b *bench) importRows(ctx context.Context) error {
	if _, err := b.DB.Exec(ctx, `create table copied_contact (like contact including all);
		create table copied_raw (first_name text, last_name text, email text, phone text, source text)`); err != nil {
		return err
	}
	turn, most := 0, 0
	var text string
	seconds, err := world.Turns(importTurns,
		func() (float64, error) {
			turn++
			text = people("import" + strconv.Itoa(turn))
			took, err := b.copyRows(ctx, text)
			return took.Seconds(), err
		},
		func() (float64, error) {
			took, more, err := b.importFile(text, *rows)
			most = max(most, more)
			return took.Seconds(), err
		})
	if err != nil {
		return err
	}
	ratio := world.Median(world.Ratios(seconds[1], seconds[0]))
	b.Note(fmt.Sprintf("import of %d rows", *rows), world.Value{Number: world.Median(seconds[1]), Unit: "s"})
	b.Note("COPY and INSERT … SELECT of the same", world.Value{Number: world.Median(seconds[0]), Unit: "s"})
	b.AtMost("import ÷ COPY and INSERT … SELECT", world.Plain(ratio), world.Plain(3))
	b.AtMost("import, more memory", world.MiB(most), world.MiB(64<<10))
	return nil
}

func (b *bench) copyRows(ctx context.Context, text string) (time.Duration, error) {
	conn, err := b.DB.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	start := time.Now()
	if _, err := conn.Conn().PgConn().CopyFrom(ctx, strings.NewReader(text), `copy copied_raw from stdin with (format csv, header)`); err != nil {
		return 0, err
	}
	_, err = conn.Exec(ctx, `insert into copied_contact (id, first_name, last_name, email, email_key, phone, source, last_activity, created_at, updated_at)
		select gen_random_uuid(), first_name, last_name, email, lower(email), phone, source, now(), now(), now() from copied_raw
		on conflict (email_key) where deleted_at is null and email_key <> '' do nothing`)
	took := time.Since(start)
	if err == nil {
		_, err = conn.Exec(ctx, `truncate copied_raw`)
	}
	return took, err
}

// people are a file of as many rows as are measured.
func people(called string) string {
	var csv strings.Builder
	csv.WriteString("first_name,last_name,email,phone,source\n")
	for i := range *rows {
		fmt.Fprintf(&csv, "Grace,Hopper %d,%s-%d@example.com,+3247%07d,file\n", i, called, i, i)
	}
	return csv.String()
}

// imported is an import as far as it is measured.
type imported struct {
	ID     string
	Status string
	Totals struct{ Created int }
	Undo   *struct{ Removed int }
}

// upload uploads a file.
func (b *bench) upload(text string) (m imported, err error) {
	_, err = b.Call("POST", "/imports", map[string]any{"file_name": "bench.csv", "csv": text}, &m)
	return m, err
}

// goOn lets an import do something, and is how long it takes until it has a status.
func (b *bench) goOn(m *imported, verb string, body any, status string) (time.Duration, error) {
	start := time.Now()
	if _, err := b.Call("POST", "/imports/"+m.ID+"/"+verb, body, m); err != nil {
		return 0, err
	}
	for m.Status != status {
		if m.Status == "failed" {
			return 0, fmt.Errorf("import %s has failed", m.ID)
		}
		time.Sleep(50 * time.Millisecond)
		if _, err := b.Call("GET", "/imports/"+m.ID, nil, m); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// importFile is how long an import of n rows takes, and how many KiB of memory it needs.
func (b *bench) importFile(text string, n int) (took time.Duration, more int, err error) {
	m, err := b.upload(text)
	if err != nil {
		return 0, 0, err
	}
	before := world.Memory(b.PID, "VmRSS")
	world.ForgetPeak(b.PID)
	if took, err = b.goOn(&m, "start", nil, "completed"); err == nil && m.Totals.Created != n {
		err = fmt.Errorf("%d of %d rows became contacts", m.Totals.Created, n)
	}
	return took, world.Memory(b.PID, "VmHWM") - before, err
}

// undo compares a dry run with the import of the same file, and measures its undo.
func (b *bench) undo(context.Context) error {
	turn := 0
	var m imported
	timed := func(verb string, body any, status string) func() (float64, error) {
		return func() (float64, error) {
			took, err := b.goOn(&m, verb, body, status)
			return took.Seconds(), err
		}
	}
	seconds, err := world.Turns(importTurns,
		func() (_ float64, err error) {
			turn++
			if m, err = b.upload(people("undo" + strconv.Itoa(turn))); err != nil {
				return 0, err
			}
			return timed("start", map[string]any{"options": map[string]any{"dry_run": true}}, "checked")()
		},
		timed("start", nil, "completed"),
		func() (float64, error) {
			took, err := timed("undo", nil, "undone")()
			if err == nil && (m.Undo == nil || m.Undo.Removed != *rows) {
				err = fmt.Errorf("the undo of %d rows is %+v", *rows, m.Undo)
			}
			return took, err
		})
	if err != nil {
		return err
	}
	b.AtMost("dry run ÷ import", world.Plain(world.Median(world.Ratios(seconds[0], seconds[1]))), world.Plain(1))
	b.AtMost(fmt.Sprintf("undo of %d rows", *rows), world.Value{Number: world.Median(seconds[2]), Unit: "s"}, world.Value{Number: 60, Unit: "s"})
	return nil
}
