package mailer

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
)

// picky is a mail server that refuses our sender until it is told to take it. It keeps what it takes.
type picky struct {
	mu     sync.Mutex
	takes  bool
	letter string
}

func (p *picky) NewSession(*smtp.Conn) (smtp.Session, error) { return p, nil }
func (p *picky) Mail(string, *smtp.MailOptions) error        { return nil }
func (p *picky) Reset()                                      {}
func (p *picky) Logout() error                               { return nil }

func (p *picky) Rcpt(string, *smtp.RcptOptions) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.takes {
		return nil
	}
	return &smtp.SMTPError{Code: 553, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "Sender address rejected: not owned by user"}
}

func (p *picky) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.letter = string(raw)
	return err
}

func TestAMailWaitsWhileItsSenderIsRefusedAndComesFromTheBusiness(t *testing.T) {
	t.Parallel()
	box, l := &picky{}, listen(t)
	server := smtp.NewServer(box)
	server.Domain = "localhost"
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	s, _ := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + l.Addr().String() })
	c := s.As("site_admin")
	post(t, s, letterOf(t, "an@example.com"))
	s.Eventually(func() bool { return len(c.Get("/mails?status=retrying").Is(200).Items()) == 1 })
	require.Contains(t, c.Get("/mails").Text("items.0.error"), "Sender address rejected")

	box.mu.Lock()
	box.takes = true
	box.mu.Unlock()
	s.Travel(time.Hour)
	s.Eventually(func() bool { return len(c.Get("/mails?status=sent").Is(200).Items()) == 1 })
	box.mu.Lock()
	defer box.mu.Unlock()
	require.True(t, strings.Contains(box.letter, "From: =?utf-8?q?Salon_Lumi=C3=A8re?= <frontdesk@example.com>"), box.letter)
}
