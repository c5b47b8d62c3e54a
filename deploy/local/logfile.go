package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	logSize     = 50 << 20
	longestLine = 64 << 10
)

// logFile is the log of a process. When it has grown large it is renamed to .1 and begins anew. trouble gets a short form of
// lines with errors, at most one a second.
type logFile struct {
	trouble func(line string)

	mu      sync.Mutex
	file    *os.File
	size    int64
	partial []byte
	last    string
	shown   time.Time // when trouble was called last
}

func openLog(path string, trouble func(string)) (*logFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &logFile{trouble: trouble, file: f, size: info.Size()}, nil
}

// Write never fails: a full disk must not stop a process for want of its log.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > logSize {
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
	path := l.file.Name()
	if os.Rename(path, path+".1") != nil {
		return
	}
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
		l.file.Close()
		l.file, l.size = f, 0
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
