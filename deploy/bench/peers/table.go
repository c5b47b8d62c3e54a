package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"frontdesk/deploy/bench/world"
)

// table is what one run prints.
type table struct {
	rows   []*row
	limits []*limited
}

// row is an operation at a size.
type row struct {
	size    int
	name    string
	clients int
	cells   map[*subject]*cell
}

// cell is what was measured of one subject.
type cell struct {
	rates []float64 // a second, by turn
	took  []time.Duration
}

// limited is a figure that stands beside its limit.
type limited struct {
	name  string
	rates []float64
	took  []time.Duration // empty if only the rate is measured
}

func (t *table) row(size int, name string, clients int) *row {
	r := &row{size, name, clients, map[*subject]*cell{}}
	t.rows = append(t.rows, r)
	return r
}

func (r *row) cell(s *subject) *cell {
	r.cells[s] = &cell{}
	return r.cells[s]
}

func (c *cell) rate() float64 {
	if c == nil {
		return 0
	}
	return world.Median(c.rates)
}

// number is a rate or a time without its unit, with about three digits.
func number(n float64) string {
	if n >= 100 {
		return fmt.Sprintf("%.0f", n)
	}
	return strings.TrimSpace(world.Value{Number: n}.String())
}

func (c *cell) String() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s · %s · %s", number(c.rate()), number(ms(world.Median(c.took))), number(ms(world.Quantile(.99, c.took))))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// write puts the table into the file that -table names.
func (b *bench) write(context.Context) error {
	if *into == "" {
		return nil
	}
	raw, err := os.ReadFile(*into)
	if err != nil {
		return err
	}
	const begin, end = "<!-- table -->\n", "<!-- end of table -->\n"
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return fmt.Errorf("%s has no marks of a table", *into)
	}
	return os.WriteFile(*into, []byte(before+begin+b.text()+end+after), 0o644)
}

// text is what was measured so far.
func (b *bench) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%s, %s, %d processors, %s, load %s at the end. Medians of %d turns.\n", time.Now().Format(time.DateOnly), processor(), runtime.NumCPU(), memory(), load(), *turns)
	if b.without != "" {
		fmt.Fprintln(&out, b.without)
	}
	if len(b.table.rows) > 0 {
		fmt.Fprintln(&out, "\nA cell is requests a second · p50 · p99 in ms. Bold is a peer that is ahead of Frontdesk through the gateway.")
		b.beside(&out)
		fmt.Fprintln(&out, "\nThe cost of a hop: the p50 of one client that it adds, and the share of the rate of 16 clients that it leaves.")
		b.hops(&out)
	}
	if len(b.table.limits) > 0 {
		fmt.Fprintln(&out, "\nBesides contacts, 16 clients at once:")
		head(&out, "", "a second", "p50, ms", "p99, ms")
		for _, l := range b.table.limits {
			middle, late := "", ""
			if len(l.took) > 0 {
				middle, late = number(ms(world.Median(l.took))), number(ms(world.Quantile(.99, l.took)))
			}
			line(&out, l.name, number(world.Median(l.rates)), middle, late)
		}
	}
	fmt.Fprintln(&out)
	return out.String()
}

func line(out io.Writer, cells ...string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }

func head(out io.Writer, cells ...string) {
	fmt.Fprintln(out)
	line(out, cells...)
	fmt.Fprintln(out, strings.Repeat("|---", len(cells))+"|")
}

// beside has a column for each subject.
func (b *bench) beside(out io.Writer) {
	names := []string{"", "clients"}
	for _, s := range b.subjects {
		names = append(names, s.name)
	}
	head(out, names...)
	for _, r := range b.table.rows {
		cells := []string{thousands(r.size) + ": " + r.name, fmt.Sprint(r.clients)}
		for i, s := range b.subjects {
			text := r.cells[s].String()
			if i >= len(b.ours.subjects) && r.cells[s].rate() > r.cells[b.subjects[0]].rate() {
				text = "**" + text + "**"
			}
			cells = append(cells, text)
		}
		line(out, cells...)
	}
	for _, r := range []struct {
		name string
		of   func(s *subject) string
	}{
		{"a commit waits for", func(s *subject) string { return s.commits }},
		{"first start, s", func(s *subject) string { return seconds(s.first) }},
		{"next start, s", func(s *subject) string { return seconds(s.next) }},
		{"memory without contacts, MiB: its processes + its databases and brokers", func(s *subject) string { return s.mebibytes(s.rest) }},
		{"memory in the end, MiB", func(s *subject) string { return s.mebibytes(s.held()) }},
	} {
		cells := []string{r.name, ""}
		for _, s := range b.subjects {
			cells = append(cells, r.of(s))
		}
		line(out, cells...)
	}
}

// mebibytes is the text of an amount of memory; empty for a way to a system that another column has.
func (s *subject) mebibytes(held [2]int) string {
	switch {
	case s.fill == nil:
		return ""
	case held[1] == 0:
		return fmt.Sprint(held[0] >> 10)
	}
	return fmt.Sprintf("%d + %d", held[0]>>10, held[1]>>10)
}

// hops compares the three ways to contacts.
func (b *bench) hops(out io.Writer) {
	through, past, alone := b.ours.subjects[0], b.ours.subjects[1], b.ours.subjects[2]
	head(out, "", "the rest of the system, ms", "leaves", "the gateway, ms", "leaves")
	for i := 0; i+1 < len(b.table.rows); i += 2 {
		busy, one := b.table.rows[i], b.table.rows[i+1]
		added := func(to, from *subject) string {
			return fmt.Sprintf("%+.2f", ms(world.Median(one.cells[to].took)-world.Median(one.cells[from].took)))
		}
		left := func(to, from *subject) string {
			return world.Ratio(busy.cells[to].rate(), busy.cells[from].rate()).String()
		}
		line(out, thousands(busy.size)+": "+busy.name, added(past, alone), left(past, alone), added(through, past), left(through, past))
	}
}

func seconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", d.Seconds())
}

// processor is the name of this machine's.
func processor() string {
	raw, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(line, "model name\t: "); ok {
			return strings.TrimSpace(name)
		}
	}
	return runtime.GOARCH
}

// memory is that of the machine.
func memory() string {
	raw, _ := os.ReadFile("/proc/meminfo")
	var kib int
	_, _ = fmt.Sscanf(string(raw), "MemTotal: %d kB", &kib)
	return fmt.Sprintf("%d GB of memory", kib>>20)
}

// load is how many processes ran or waited for a processor in the last minute, on average.
func load() string {
	raw, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(raw), " ")
	return first
}
