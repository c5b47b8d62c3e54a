package mailsink

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/durable"
)

// The envelope becomes headers on top of the stored mail, so each mail is one ordinary .eml file.
const (
	recipientHeader = "X-Sink-Recipient"
	receivedHeader  = "X-Sink-Received"
)

// store keeps the newest mails, on disk and in memory.
type store struct {
	dir  string
	keep int

	mu    sync.Mutex
	mails []Mail // oldest first
}

// openStore reads the mails that an earlier process kept in dir.
func openStore(dir string, keep int) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths) // version 7 ids sort by time
	s := &store{dir: dir, keep: keep}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		s.mails = append(s.mails, stored(strings.TrimSuffix(filepath.Base(p), ".eml"), raw))
	}
	s.forgetOldest()
	return s, nil
}

func stored(id string, raw []byte) Mail {
	m := parse(raw)
	m.ID = id
	m.To = m.Headers[recipientHeader]
	if r := m.Headers[receivedHeader]; len(r) > 0 {
		m.ReceivedAt, _ = time.Parse(time.RFC3339Nano, r[0])
	}
	delete(m.Headers, recipientHeader)
	delete(m.Headers, receivedHeader)
	for i := range m.Attachments {
		m.Attachments[i].URL = fmt.Sprintf("/mails/%s/attachments/%d", id, i)
	}
	return m
}

// add returns once the mail is on disk: a mail that the sender saw accepted survives a crash.
func (s *store) add(to []string, raw []byte) error {
	var b bytes.Buffer
	for _, r := range to {
		fmt.Fprintf(&b, "%s: %s\r\n", recipientHeader, r)
	}
	fmt.Fprintf(&b, "%s: %s\r\n", receivedHeader, time.Now().UTC().Format(time.RFC3339Nano))
	b.Write(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, id.String()+".eml")
	if err := durable.Write(path, b.Bytes()); err != nil {
		return err
	}
	s.mails = append(s.mails, stored(id.String(), b.Bytes()))
	s.forgetOldest()
	return nil
}

func (s *store) forgetOldest() {
	for len(s.mails) > s.keep {
		os.Remove(filepath.Join(s.dir, s.mails[0].ID+".eml"))
		s.mails = s.mails[1:]
	}
}

// list answers the mails to an address, or all if it is empty, newest first.
func (s *store) list(to string) []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []Mail{}
	for _, m := range slices.Backward(s.mails) {
		if to == "" || slices.ContainsFunc(m.To, func(r string) bool { return strings.EqualFold(r, to) }) {
			found = append(found, m)
		}
	}
	return found
}

func (s *store) get(id string) (Mail, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mails {
		if m.ID == id {
			return m, true
		}
	}
	return Mail{}, false
}

func (s *store) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mails {
		os.Remove(filepath.Join(s.dir, m.ID+".eml"))
	}
	s.mails = nil
}
