package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	logSize     = 50 << 20
	longestLine = 64 << 10
	// closedLogs is how many closed files of a process are kept at most, so that a flood does not fill the disk.
	closedLogs = 10
	// closedAt is the end of a closed file's name: the time at which it was closed.
	closedAt = "2006-01-02T150405.000"
)

// logFile is the log of a process. Each day, and when it has grown large, the file is closed under another name and begins anew.
// A closed file is deleted after keep, because the gateway's log holds addresses of visitors. trouble gets a short form of lines
// with errors, at most one a second.
type logFile struct {
	trouble func(line string)
	keep    time.Duration
	now     func() time.Time

	mu      sync.Mutex
	file    *os.File
	size    int64
	day     string // of the lines in the file
	partial []byte
	last    string
	shown   time.Time // when trouble was called last
}

// openLog opens the log at path. keep is for how long a closed file stays.
func openLog(path string, keep time.Duration, trouble func(string)) (*logFile, error) {
	l := &logFile{trouble: trouble, keep: keep, now: time.Now}
	err := l.open(path)
	return l, err
}

func (l *logFile) open(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	l.file, l.size, l.day = f, info.Size(), dayOf(l.now())
	if l.size > 0 {
		l.day = dayOf(info.ModTime())
	}
	return nil
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Write never fails: a full disk must not stop a process for want of its log.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > logSize || l.day != dayOf(l.now()) {
		l.rotate()
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
	l.partial = append(l.partial, p...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			break
		}
		l.partial = rest
		l.look(string(line))
	}
	if len(l.partial) > longestLine {
		l.partial = nil
	}
	return len(p), nil
}

func (l *logFile) rotate() {
	path, before := l.file.Name(), l.file
	if os.Rename(path, path+"."+l.now().UTC().Format(closedAt)) != nil || l.open(path) != nil {
		return
	}
	before.Close()
	closed, _ := filepath.Glob(path + ".*")
	slices.Sort(closed)
	for i, name := range closed {
		at, err := time.Parse(closedAt, strings.TrimPrefix(name, path+"."))
		if err == nil && (l.now().Sub(at) >= l.keep || i < len(closed)-closedLogs) {
			_ = os.Remove(name)
		}
	}
}

func (l *logFile) look(line string) {
	short, bad := problem(line)
	if !bad {
		return
	}
	l.last = short
	if time.Since(l.shown) > time.Second {
		l.shown = time.Now()
		l.trouble(short)
	}
}

// lastProblem is the short form of the newest line with an error.
func (l *logFile) lastProblem() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// problem reports whether a log line is an error, and its short form. It knows JSON as slog and Traefik write it, PostgreSQL's
// lines and panics.
func problem(line string) (string, bool) {
	var record struct {
		Level, Msg, Message string
		Err, Error          json.RawMessage
	}
	if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &record) == nil {
		switch strings.ToLower(record.Level) {
		case "error", "fatal", "panic":
		default:
			return "", false
		}
		short := record.Msg + record.Message
		for _, e := range []json.RawMessage{record.Err, record.Error} {
			var text string
			if len(e) > 0 && json.Unmarshal(e, &text) == nil && text != "" {
				short += ": " + text
			}
		}
		return clip(short), true
	}
	if strings.Contains(line, "FATAL:  the database system is ") {
		return "", false // starting up or shutting down, to a client that will ask again
	}
	for _, mark := range []string{"panic: ", "fatal error: ", "FATAL:", "PANIC:", " ERROR ", "level=ERROR", "frontdesk: "} {
		if i := strings.Index(line, mark); i >= 0 {
			return clip(strings.TrimSpace(line[i:])), true
		}
	}
	return "", false
}

func clip(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
