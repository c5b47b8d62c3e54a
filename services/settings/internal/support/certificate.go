package support

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// certificate is what was last seen of the certificate at the public address.
type certificate struct{ last atomic.Pointer[flaw] }

// flaw is why browsers refuse a certificate now, or soon: the key of the hint that says so, and the names or the day in the certificate.
type flaw struct{ key, found string }

// flaw is the certificate's, empty if it has no flaw, and if it could not be seen from here.
func (c *certificate) flaw() flaw {
	if f := c.last.Load(); f != nil {
		return *f
	}
	return flaw{}
}

const (
	certificateEvery = time.Minute
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
			f := flawOf(leaf, u.Hostname(), r.DB.Now())
			r.certificate.last.Store(&f)
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

// flawOf finds why browsers refuse a certificate for a host now, or soon.
func flawOf(leaf *x509.Certificate, host string, now time.Time) flaw {
	from, to := leaf.NotBefore.UTC().Format(time.DateOnly), leaf.NotAfter.UTC().Format(time.DateOnly)
	switch {
	case leaf.VerifyHostname(host) != nil:
		return flaw{"certificate_name", cmp.Or(strings.Join(leaf.DNSNames[:min(3, len(leaf.DNSNames))], ", "), leaf.Subject.CommonName, "?")}
	case now.Before(leaf.NotBefore):
		return flaw{"certificate_early", from}
	case now.After(leaf.NotAfter):
		return flaw{"certificate_ended", to}
	case now.Add(lastDays).After(leaf.NotAfter):
		return flaw{"certificate_ends", to}
	}
	return flaw{}
}
