package op

import (
	"io"
	"os"
	"sync"
)

// spool is a temporary file that is read while it is written.
type spool struct {
	file *os.File

	mu      sync.Mutex
	size    int64
	ended   bool
	err     error
	changed sync.Cond
}

// newSpool makes an empty spool in the folder for temporary files (TMPDIR). The file has no name, so nothing is left of it
// when the process dies.
func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "frontdesk-download-")
	if err != nil {
		return nil, err
	}
	s := &spool{file: f}
	s.changed.L = &s.mu
	return s, os.Remove(f.Name())
}

// Write appends b.
func (s *spool) Write(b []byte) (int, error) {
	n, err := s.file.Write(b)
	s.mu.Lock()
	s.size += int64(n)
	s.mu.Unlock()
	s.changed.Broadcast()
	return n, err
}

// end says that nothing more is written, because all is there or because of err.
func (s *spool) end(err error) {
	s.mu.Lock()
	s.ended, s.err = true, err
	s.mu.Unlock()
	s.changed.Broadcast()
}

// read reads from offset at, and waits until there is something. It returns io.EOF at the end, and at once the error by
// which the writer ended.
func (s *spool) read(b []byte, at int64) (int, error) {
	s.mu.Lock()
	for s.size <= at && !s.ended {
		s.changed.Wait()
	}
	size, err := s.size, s.err
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if size <= at {
		return 0, io.EOF
	}
	return s.file.ReadAt(b[:min(int64(len(b)), size-at)], at)
}

func (s *spool) close() { _ = s.file.Close() }
