// Package mailsink takes mail over SMTP, sends none of it on, and shows it on a page and as JSON.
package mailsink

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/emersion/go-smtp"
)

const (
	largestMail = 30 << 20
	mailsKept   = 500
)

// Serve runs the sink on the two listeners until ctx ends. The newest mails outlive a restart in dir.
func Serve(ctx context.Context, dir string, smtpListener, webListener net.Listener) error {
	mails, err := openStore(dir, mailsKept)
	if err != nil {
		return err
	}
	in := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{mails: mails}, nil }))
	in.Domain = "localhost"
	in.MaxMessageBytes = largestMail
	in.ReadTimeout, in.WriteTimeout = time.Minute, time.Minute
	in.EnableSMTPUTF8 = true
	web := &http.Server{Handler: pages(mails), ReadHeaderTimeout: 10 * time.Second}

	ended := make(chan error, 2)
	go func() { ended <- in.Serve(smtpListener) }()
	go func() { ended <- web.Serve(webListener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(web.Shutdown(ctx), in.Shutdown(ctx))
}

type session struct {
	mails *store
	to    []string
}

func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return s.mails.add(s.to, raw)
}

func (s *session) Reset()        { s.to = nil }
func (s *session) Logout() error { return nil }
