// Package lines hands lines of text to a stream outside: the standard output, a file, or a server that takes syslog.
package lines

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Line is one line, without its line break.
type Line struct {
	At     time.Time
	Text   []byte
	Notice bool // of syslog's severity notice, else informational
}

// Stream is where lines go. It keeps nothing open between two calls of Write: a file that was rotated, and a server that was started
// anew, are found by the next.
type Stream struct {
	scheme, target string
	authority      string // PEM file, for TLS
	source         string // the name of this host in syslog
}

// ports are those that the standards name.
var ports = map[string]string{"syslog": "601", "syslog+udp": "514", "syslog+tls": "6514"}

// Parse reads where lines go: stdout, file:/path, syslog://host[:601] (TCP), syslog+tls://host[:6514][?ca=/file.pem] or
// syslog+udp://host[:514]. source names this host to the server.
func Parse(text, source string) (Stream, error) {
	if text == "stdout" {
		return Stream{scheme: text}, nil
	}
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		if !filepath.IsAbs(path) || strings.HasSuffix(path, "/") {
			return Stream{}, fmt.Errorf("file: needs the absolute path of a file behind it, not %q", path)
		}
		return Stream{scheme: "file", target: filepath.Clean(path)}, nil
	}
	u, err := url.Parse(text)
	if err != nil || ports[u.Scheme] == "" {
		return Stream{}, errors.New("has to be stdout, file:/path, or an address that begins with syslog://, syslog+tls:// or syslog+udp://")
	}
	ca := u.Query().Get("ca")
	if u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.Fragment != "" || len(u.Query()) > 1 || u.RawQuery != "" && (ca == "" || u.Scheme != "syslog+tls") {
		return Stream{}, errors.New("holds a host and a port, and with syslog+tls:// a file of authorities (?ca=/path) at most")
	}
	port := cmp.Or(u.Port(), ports[u.Scheme])
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return Stream{}, fmt.Errorf("has no port %s", port)
	}
	return Stream{u.Scheme, net.JoinHostPort(u.Hostname(), port), ca, source}, nil
}

// On reports whether there is a stream.
func (s Stream) On() bool { return s.scheme != "" }

// writeWithin is how long one call may take.
const writeWithin = 10 * time.Second

// Write returns when the stream has taken all lines. After an error it may have taken some of them. Over UDP nobody tells what arrived.
func (s Stream) Write(ctx context.Context, all []Line) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	switch s.scheme {
	case "stdout":
		_, err := os.Stdout.Write(broken(all))
		return err
	case "file":
		return s.append(broken(all))
	case "syslog+udp":
		return s.datagrams(ctx, all)
	default:
		return s.messages(ctx, all)
	}
}

func broken(all []Line) (text []byte) {
	for _, l := range all {
		text = append(append(text, l.Text...), '\n')
	}
	return text
}

// append brings text to the disk at the end of the file. What a crash has left of a line there is ended before.
func (s Stream) append(text []byte) error {
	f, err := os.OpenFile(s.target, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && info.Size() > 0 {
		last := []byte{'\n'}
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		return f.Sync()
	}
	return nil
}

// message is a line as RFC 5424 has it, of the facility "log audit".
func (s Stream) message(l Line) []byte {
	severity := 6
	if l.Notice {
		severity = 5
	}
	return fmt.Appendf(nil, "<%d>1 %s %s frontdesk - audit - %s", 13*8+severity, l.At.UTC().Format("2006-01-02T15:04:05.000Z"), cmp.Or(s.source, "-"), l.Text)
}

func (s Stream) datagrams(ctx context.Context, all []Line) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", s.target)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, l := range all {
		m := s.message(l)
		// A datagram has no more room. A line that was cut is better than none, and than a stream that stands still.
		if _, err := conn.Write(m[:min(len(m), 65_000)]); err != nil {
			return err
		}
	}
	return nil
}

// messages sends lines over a connection of their own, each behind its length (RFC 6587). The server ends the connection when it has read
// them to their end: syslog has no other answer that tells what arrived.
func (s Stream) messages(ctx context.Context, all []Line) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.target)
	if err != nil {
		return err
	}
	defer conn.Close()
	until, _ := ctx.Deadline()
	if err := conn.SetDeadline(until); err != nil {
		return err
	}
	if s.scheme == "syslog+tls" {
		if conn, err = s.encrypt(ctx, conn); err != nil {
			return err
		}
	}
	var text []byte
	for _, l := range all {
		m := s.message(l)
		text = append(strconv.AppendInt(text, int64(len(m)), 10), ' ')
		text = append(text, m...)
	}
	if _, err := conn.Write(text); err != nil {
		return err
	}
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return fmt.Errorf("the server did not end the connection: %w", err)
	}
	return nil
}

func (s Stream) encrypt(ctx context.Context, conn net.Conn) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(s.target)
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if s.authority != "" {
		pem, err := os.ReadFile(s.authority)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", s.authority)
		}
	}
	encrypted := tls.Client(conn, config)
	err := encrypted.HandshakeContext(ctx)
	return encrypted, err
}
