// Package authority makes certificates for connections between our own processes and servers: a certificate authority in a
// folder, and what it signs. It is for installations that have no authority of their own, and for tests.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"time"

	"frontdesk/libs/durable"
)

const (
	authorityLasts   = 20 * 365 * 24 * time.Hour
	certificateLasts = 2 * 365 * 24 * time.Hour
	// renewWithin is how long before its end a certificate is replaced.
	renewWithin = certificateLasts / 2
)

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// PEM is its certificate, which others need to verify those that it signs.
	PEM []byte
}

// Open returns the authority whose key is in the file authority.pem of dir. If that file is missing, it makes a new authority.
func Open(dir string) (*Authority, error) {
	path := filepath.Join(dir, "authority.pem")
	pair, err := tls.LoadX509KeyPair(path, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		template := &x509.Certificate{
			Subject: pkix.Name{CommonName: "Frontdesk"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(authorityLasts),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		}
		if err := write(path, template, nil); err != nil {
			return nil, err
		}
		return Open(dir)
	case err != nil:
		return nil, fmt.Errorf("certificate authority in %s: %w", path, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%s is not an authority of ours", path)
	}
	return &Authority{certificate: pair.Leaf, key: key, PEM: encode("CERTIFICATE", pair.Leaf.Raw)}, nil
}

// Issue writes a certificate and its key into one PEM file at path, which only its owner can read: for a server at these hosts, names or
// addresses, and for a client of this name. A file that has the same already and lasts for a year more stays.
func (a *Authority) Issue(path, name string, hosts ...string) error {
	if a.issued(path, name, hosts) {
		return nil
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certificateLasts),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	return write(path, template, a)
}

// issued reports whether the file at path has a certificate of this name for these hosts.
func (a *Authority) issued(path, name string, hosts []string) bool {
	pair, err := tls.LoadX509KeyPair(path, path)
	if err != nil {
		return false
	}
	c := pair.Leaf
	return !slices.ContainsFunc(hosts, func(h string) bool { return c.VerifyHostname(h) != nil }) &&
		c.Subject.CommonName == name && c.CheckSignatureFrom(a.certificate) == nil && time.Until(c.NotAfter) > renewWithin
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// write makes a key and a certificate that an authority signs, or the key itself if by is nil.
func write(path string, template *x509.Certificate, by *Authority) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if by == nil {
		by = &Authority{certificate: template, key: key}
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), by.key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key) // the form that Java reads
	if err != nil {
		return err
	}
	return durable.Write(path, append(encode("PRIVATE KEY", der), encode("CERTIFICATE", certificate)...))
}
