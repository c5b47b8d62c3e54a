package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"frontdesk/proto"
)

// ErrRejected is the error of a mail that the server will never take: sending it again is no use. Any
// other error of Send is one to try again after.
var ErrRejected = errors.New("mail: rejected")

// patience is how long one mail may take.
const patience = 30 * time.Second

// CheckURL checks the address of an SMTP server: smtp://host:port with STARTTLS where the server has
// it, smtps://host:port with TLS from the start, both with user:password@ when the server wants them.
// ?tls=required refuses a server without STARTTLS and is the default with a password, except on
// loopback; ?tls=none never asks for it. The error does not repeat the address, which may hold a
// password.
func CheckURL(smtpURL string) error {
	_, _, err := options(smtpURL, patience)
	return err
}

// Send hands a mail to the server, from an address with an optional name ("Salon <salon@example.com>").
// It is one attempt. A mail that the server has accepted is never reported as failed, whatever happens
// to the connection afterwards.
func Send(ctx context.Context, smtpURL string, m *proto.Mail, from string) error {
	msg, err := message(m, from)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRejected, err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// The library looks at the context only while connecting, so the time left is its time-out too.
	until, _ := ctx.Deadline()
	host, opts, err := options(smtpURL, max(time.Until(until), time.Millisecond))
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(host, opts...)
	if err != nil {
		return fmt.Errorf("mail: client: %w", err)
	}
	conn, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("mail: connect: %w", err)
	}
	err = client.SendWithSMTPClient(conn, msg)
	// The mail is with the server or it is not; how the farewell goes changes nothing.
	_ = client.CloseWithSMTPClient(conn)
	if err == nil || msg.IsDelivered() {
		return nil
	}
	if refused := (*gomail.SendError)(nil); errors.As(err, &refused) && refused.ErrorCode() >= 500 &&
		(refused.Reason == gomail.ErrSMTPRcptTo || refused.Reason == gomail.ErrSMTPDataClose || refused.Reason == gomail.ErrSMTPData) {
		return fmt.Errorf("%w: %w", ErrRejected, err)
	}
	return fmt.Errorf("mail: send: %w", err)
}

// message writes the mail as MIME: text, HTML and calendar as alternatives, the calendar file once more
// as an attachment for programs that look there.
func message(m *proto.Mail, from string) (*gomail.Msg, error) {
	sender, err := mail.ParseAddress(from)
	if err != nil || line(from) != from {
		return nil, fmt.Errorf("%w: sender", ErrContent)
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
	// Keeps holiday answers and other robots from replying (RFC 3834).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
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
		if method != "REQUEST" && method != "CANCEL" {
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
	for _, r := range id {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' {
			id = ""
			break
		}
	}
	if id == "" || len(id) > 64 {
		return "", fmt.Errorf("%w: id", ErrContent)
	}
	domain := sender[strings.LastIndexByte(sender, '@')+1:]
	return id + "@" + domain, nil
}

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
