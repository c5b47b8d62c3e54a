package support

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"sync/atomic"
	"time"
)

// certificate is what was last seen of the certificate at the public address.
type certificate struct{ last atomic.Pointer[string] }

// problem says what is wrong with it; empty for nothing, and for what could not be seen from here.
func (c *certificate) problem() string {
	if p := c.last.Load(); p != nil {
		return *p
	}
	return ""
}

const (
	certificateEvery = 10 * time.Minute
	// lastDays of a certificate are reported: programs that renew them do so a month before.
	lastDays = 7 * 24 * time.Hour
)

// watchCertificate looks at the certificate of a public address with https until ctx ends.
func (r *Room) watchCertificate(ctx context.Context) {
	u, err := url.Parse(r.Config.PublicURL)
	if err != nil || u.Scheme != "https" {
		<-ctx.Done()
		return
	}
	at := u.Host
	if u.Port() == "" {
		at = net.JoinHostPort(u.Hostname(), "443")
	}
	for ctx.Err() == nil {
		if leaf := leafAt(ctx, at, u.Hostname()); leaf != nil {
			problem := problemOf(leaf, u.Hostname(), r.DB.Now())
			r.certificate.last.Store(&problem)
		}
		select {
		case <-ctx.Done():
		case <-time.After(certificateEvery):
		}
	}
}

// leafAt is the certificate that a server shows; nil if it cannot be reached from here, which says nothing about visitors.
func leafAt(ctx context.Context, address, host string) *x509.Certificate {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	// Browsers judge who signed it: they may trust an authority that this machine does not know.
	d := tls.Dialer{Config: &tls.Config{ServerName: host, InsecureSkipVerify: true}} //nolint:gosec // nothing is sent
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	defer conn.Close()
	if shown := conn.(*tls.Conn).ConnectionState().PeerCertificates; len(shown) > 0 {
		return shown[0]
	}
	return nil
}

// problemOf says why browsers refuse a certificate for a host now, or soon.
func problemOf(leaf *x509.Certificate, host string, now time.Time) string {
	day := leaf.NotAfter.UTC().Format(time.DateOnly)
	switch {
	case leaf.VerifyHostname(host) != nil:
		return "it is for another name"
	case now.Before(leaf.NotBefore):
		return "it is not valid before " + leaf.NotBefore.UTC().Format(time.DateOnly)
	case now.After(leaf.NotAfter):
		return "it ended on " + day
	case now.Add(lastDays).After(leaf.NotAfter):
		return "it ends on " + day
	}
	return ""
}
