package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// Bare is a transaction that pgbench runs without any service: the limit of a write.
type Bare struct{ program, file, url, searchPath string }

// NewBare keeps script in dir, for the database at url.
func NewBare(dir, url, searchPath, script string) (*Bare, error) {
	program, err := pgbench()
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("bare-%d.sql", time.Now().UnixNano())))
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString(script); err != nil {
		return nil, err
	}
	return &Bare{program, f.Name(), url, searchPath}, f.Close()
}

// Run runs the transaction again and again from so many clients, with prepared statements, and answers pgbench's
// words, which have the latency of each statement.
func (b *Bare) Run(ctx context.Context, clients int, length time.Duration) (string, error) {
	cmd := exec.CommandContext(ctx, b.program, "-n", "-r", "-M", "prepared", "-f", b.file, "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(max(1, int(length.Seconds()))), b.url)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path="+b.searchPath)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pgbench: %w: %s", err, out)
	}
	return string(out), nil
}

var transactions = regexp.MustCompile(`tps = ([0-9.]+)`)

// Rate is the transactions per second.
func (b *Bare) Rate(ctx context.Context, clients int, length time.Duration) (float64, error) {
	out, err := b.Run(ctx, clients, length)
	if err != nil {
		return 0, err
	}
	m := transactions.FindStringSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("pgbench names no rate: %s", out)
	}
	return strconv.ParseFloat(m[1], 64)
}
