package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"frontdesk/libs/ics"
	"frontdesk/proto"
)

// ErrRejected is the error of a mail that the server will never take: sending it again is no use. Any
// other error of Send is one to try again after.
var ErrRejected = errors.New("mail: rejected")

// ErrUnknown is the error of a mail that the server may have taken: the whole message was sent, and no answer came.
var ErrUnknown = errors.New("mail: the server did not answer whether it took the mail")

const (
	// patience is how long a mail may take to be handed over, and then how long the server may take to answer.
	patience = 30 * time.Second
	// lastWait is how much longer Send waits for that answer once its context has ended.
	lastWait = 4 * time.Second
)

// CheckURL checks the address of an SMTP server: smtp://host:port with STARTTLS where the server has
// it, smtps://host:port with TLS from the start, both with user:password@ when the server wants them.
// ?tls=required refuses a server without STARTTLS and is the default with a password, except on
// loopback; ?tls=none never asks for it. The error does not repeat the address, which may hold a
// password.
func CheckURL(smtpURL string) error {
	_, _, err := options(smtpURL, patience)
	return err
}

// CheckSender checks the address that mails come from, with an optional name: salon@example.com, or Salon <salon@example.com>.
func CheckSender(from string) error {
	a, err := mail.ParseAddress(from)
	if err != nil || line(from) != from || bare(a.Address) != nil {
		return fmt.Errorf("has to be one address such as salon@example.com or Salon <salon@example.com>, not %q", from)
	}
	return nil
}

// Sender is an address that CheckSender takes, with a name before it unless it has one.
func Sender(from, name string) string {
	a, err := mail.ParseAddress(from)
	if err != nil || a.Name != "" {
		return from
	}
	return (&mail.Address{Name: cut(line(name), 190), Address: a.Address}).String()
}

// Send hands a mail to the server, from an address that CheckSender takes. It is one attempt. A server that refuses the sender, or wants
// a password, has not rejected the mail: that is for whoever runs the site to mend.
//
// It calls handOver right before the end of the message, with which the server may take it. An error of handOver ends the
// attempt. Until then nothing was sent, and the end of ctx ends the attempt at once. From then on Send waits for the server's
// answer, lastWait longer than ctx at most, and without an answer it returns ErrUnknown. A mail that the server has accepted is
// never reported as failed, whatever happens to the connection afterwards.
func Send(ctx context.Context, smtpURL string, m *proto.Mail, from string, handOver func(context.Context) error) error {
	_, err := hand(ctx, smtpURL, m, from, handOver)
	return err
}

// Ask is Send for somebody who waits for what comes of it: answer is what the server said, word for word, or why there was no server to say
// anything. It takes lastWait longer than ctx at most.
func Ask(ctx context.Context, smtpURL string, m *proto.Mail, from string) (answer string, err error) {
	answer, err = hand(ctx, smtpURL, m, from, func(context.Context) error { return nil })
	if refusal, ok := errors.AsType[*textproto.Error](err); ok {
		return refusal.Error(), err
	}
	if err != nil {
		return err.Error(), err
	}
	return answer, nil
}

// Server is where mails are handed to, as host:port and without the password, and the page that shows them where that server keeps them
// to itself, as the sink of a local run does: ?page= of its address.
func Server(smtpURL string) (server, page string) {
	u, err := url.Parse(smtpURL)
	if err != nil {
		return "", ""
	}
	return u.Host, u.Query().Get("page")
}

// hand is Send, and returns the server's answer to a mail that it took.
func hand(ctx context.Context, smtpURL string, m *proto.Mail, from string, handOver func(context.Context) error) (answer string, err error) {
	if err := CheckSender(from); err != nil {
		return "", fmt.Errorf("mail: the sender %w", err)
	}
	msg, err := message(m, from)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRejected, err)
	}
	before, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := dial(before, smtpURL)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Text.Close() }()
	cut := context.AfterFunc(before, func() { _ = conn.Text.Close() })
	end, err := begin(conn, msg)
	if err == nil {
		err = handOver(before)
	}
	if !cut() && err == nil {
		err = before.Err()
	}
	if err != nil {
		return "", fmt.Errorf("mail: send: %w", err)
	}
	stop := context.AfterFunc(ctx, func() {
		time.Sleep(lastWait)
		_ = conn.Text.Close()
	})
	defer stop()
	_ = conn.UpdateDeadline(patience)
	if err := end.Close(); err != nil {
		if _, answered := errors.AsType[*textproto.Error](err); !answered {
			return "", fmt.Errorf("%w: %w", ErrUnknown, err)
		}
		return "", fmt.Errorf("mail: send: %w", rejected(err))
	}
	// The mail is with the server. How the farewell goes changes nothing.
	_ = conn.Quit()
	return end.ServerResponse(), nil
}

// dial connects and signs in. The library looks at the context only while it connects, so it runs beside.
func dial(ctx context.Context, smtpURL string) (*smtp.Client, error) {
	until, _ := ctx.Deadline()
	host, opts, err := options(smtpURL, max(time.Until(until), time.Millisecond))
	if err != nil {
		return nil, err
	}
	client, err := gomail.NewClient(host, opts...)
	if err != nil {
		return nil, fmt.Errorf("mail: client: %w", err)
	}
	type dialed struct {
		conn *smtp.Client
		err  error
	}
	done := make(chan dialed, 1)
	go func() {
		conn, err := client.DialToSMTPClientWithContext(ctx)
		done <- dialed{conn, err}
	}()
	select {
	case d := <-done:
		if d.err != nil {
			return nil, fmt.Errorf("mail: connect: %w", d.err)
		}
		return d.conn, nil
	case <-ctx.Done():
		go func() {
			if d := <-done; d.err == nil {
				_ = d.conn.Text.Close()
			}
		}()
		return nil, fmt.Errorf("mail: connect: %w", ctx.Err())
	}
}

// begin sends the message up to its end, for which the server waits: Close of what it returns sends the end and reads the
// answer.
func begin(conn *smtp.Client, msg *gomail.Msg) (*smtp.DataCloser, error) {
	from, err := msg.GetSender(false)
	if err != nil {
		return nil, err
	}
	to, err := msg.GetRecipients()
	if err != nil {
		return nil, err
	}
	if err := conn.Mail(from); err != nil {
		return nil, err
	}
	for _, address := range to {
		if err := conn.Rcpt(address); err != nil {
			return nil, rejected(err)
		}
	}
	w, err := conn.Data()
	if err != nil {
		return nil, rejected(err)
	}
	end, ok := w.(*smtp.DataCloser)
	if !ok {
		return nil, fmt.Errorf("the library writes with %T", w)
	}
	_, err = msg.WriteTo(end)
	return end, err
}

// rejected is err with ErrRejected where it is an answer that refuses the mail for good.
func rejected(err error) error {
	if answer, ok := errors.AsType[*textproto.Error](err); ok && answer.Code >= 500 && answer.Code != authenticationRequired && !ofSender.MatchString(answer.Msg) {
		return fmt.Errorf("%w: %w", ErrRejected, err)
	}
	return err
}

const authenticationRequired = 530

// ofSender are answers that refuse the sender. Many servers give them to the recipient or to the message, as Postfix does. The codes are
// those of RFC 3463 and RFC 7372: the sender's address is malformed, its domain is unknown, or the server does not let this client use it.
var ofSender = regexp.MustCompile(`(?i)^5\.(1\.[78]|7\.(2[0-9]|60))\b|\b(sender|send as)\b.*\b(rejected|refused|denied|not (owned|allowed|verified|permitted|authorized))`)

// message writes the mail as MIME: text, HTML and calendar as alternatives, the calendar file once more
// as an attachment for programs that look there.
func message(m *proto.Mail, from string) (*gomail.Msg, error) {
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, err
	}
	if err := bare(m.GetTo()); err != nil {
		return nil, fmt.Errorf("recipient: %w", err)
	}
	id, err := domainID(m.GetId(), sender.Address)
	if err != nil {
		return nil, err
	}

	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(sender)
	msg.ToMailAddress(&mail.Address{Name: line(m.GetToName()), Address: m.GetTo()})
	if reply := m.GetReplyTo(); reply != "" {
		if err := bare(reply); err != nil {
			return nil, fmt.Errorf("reply address: %w", err)
		}
		msg.ReplyToMailAddress(&mail.Address{Address: reply})
	}
	msg.Subject(cut(line(m.GetSubject()), 200))
	msg.SetMessageIDWithValue(id)
	msg.SetDate()
	if m.GetKind() != ByHand {
		// Keeps holiday answers and other robots from replying (RFC 3834).
		msg.SetGenHeader("Auto-Submitted", "auto-generated")
	}
	if u := m.GetUnsubscribeUrl(); u != "" {
		address, err := web(u)
		if err != nil {
			return nil, fmt.Errorf("unsubscribe: %w", err)
		}
		msg.SetListUnsubscribe(address)
		msg.SetListUnsubscribePost()
	}

	msg.SetBodyString(gomail.TypeTextPlain, m.GetText())
	if m.GetHtml() != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.GetHtml())
	}
	if file := m.GetCalendar(); len(file) > 0 {
		method := m.GetCalendarMethod()
		if !slices.Contains(methods, ics.Method(method)) {
			return nil, fmt.Errorf("%w: calendar method", ErrContent)
		}
		msg.AddAlternativeString(gomail.ContentType("text/calendar; method="+method), string(file),
			gomail.WithPartEncoding(gomail.EncodingB64))
		if err := msg.AttachReader("appointment.ics", bytes.NewReader(file),
			gomail.WithFileContentType("application/ics")); err != nil {
			return nil, fmt.Errorf("mail: calendar: %w", err)
		}
	}
	return msg, nil
}

// domainID is the Message-ID, the same on every attempt so that receivers can tell a repeat.
func domainID(id, sender string) (string, error) {
	if !plainID.MatchString(id) {
		return "", fmt.Errorf("%w: id", ErrContent)
	}
	return id + sender[strings.LastIndexByte(sender, '@'):], nil
}

var plainID = regexp.MustCompile(`^[0-9a-zA-Z-]{1,64}$`)

func options(smtpURL string, timeout time.Duration) (host string, opts []gomail.Option, err error) {
	u, err := url.Parse(smtpURL)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return "", nil, errors.New("mail: the SMTP address is not of the form smtp://user:password@host:port")
	}
	host = u.Hostname()
	port := 25
	policy := gomail.TLSOpportunistic
	opts = []gomail.Option{gomail.WithTimeout(timeout), gomail.WithoutNoop()}
	switch u.Scheme {
	case "smtp":
		if u.User != nil {
			port = 587
			if !loopback(host) {
				policy = gomail.TLSMandatory
			}
		}
	case "smtps":
		port = 465
		opts = append(opts, gomail.WithSSL())
	default:
		return "", nil, errors.New("mail: the SMTP address begins neither with smtp:// nor with smtps://")
	}
	switch u.Query().Get("tls") {
	case "":
	case "required":
		policy = gomail.TLSMandatory
	case "none":
		if u.User != nil && !loopback(host) {
			return "", nil, errors.New("mail: a password goes over TLS only")
		}
		policy = gomail.NoTLS
	default:
		return "", nil, errors.New("mail: tls is required, none or left out")
	}
	if u.Scheme == "smtp" {
		opts = append(opts, gomail.WithTLSPolicy(policy))
	}
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			return "", nil, errors.New("mail: the SMTP address has no valid port")
		}
	}
	opts = append(opts, gomail.WithPort(port))
	if u.User != nil {
		password, _ := u.User.Password()
		opts = append(opts, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return host, opts, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
