package controller

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// TLS is the entry point for visitors over https. Its certificate is in two files, or comes by ACME.
type TLS struct {
	Listen   string // empty for none
	Redirect string // of http to https; empty for none

	Cert, Key string

	Email, Server, Challenge, File string
	// CA is a PEM file of the authority behind the ACME server's own certificate; empty for those of the system.
	CA string
}

func (t TLS) check(public *url.URL) (bad []error) {
	switch {
	case t.Email != "" && t.Cert != "":
		bad = append(bad, errors.New("SVC_ACME_EMAIL and SVC_TLS_CERT exclude each other"))
	case t.Email != "":
		if t.File == "" {
			bad = append(bad, errors.New("SVC_ACME_FILE has to name the file in which Traefik keeps the certificate"))
		}
		if t.Challenge != "tls" && t.Challenge != "http" {
			bad = append(bad, fmt.Errorf("SVC_ACME_CHALLENGE has to be tls or http, not %q", t.Challenge))
		}
		if t.Challenge == "http" && t.Redirect == "" {
			bad = append(bad, errors.New("SVC_REDIRECT_LISTEN has to be set, because the challenge http comes there"))
		}
	case t.Cert == "" || t.Key == "":
		bad = append(bad, errors.New("SVC_TLS_CERT and SVC_TLS_KEY have to name the certificate's files, or SVC_ACME_EMAIL an account"))
	default:
		if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
			bad = append(bad, fmt.Errorf("SVC_TLS_CERT and SVC_TLS_KEY cannot be used: %w", err))
		}
	}
	if public.Scheme != "https" {
		bad = append(bad, fmt.Errorf("SVC_PUBLIC_URL has to begin with https where SVC_HTTPS_LISTEN is set, not %q", public))
	}
	return bad
}

// certificate is what Traefik loads, nil by ACME. Of files that cannot be used together, while they are replaced for instance, it has no
// digest, so that Traefik keeps what it has loaded.
func (t TLS) certificate() *Certificate {
	if t.Listen == "" || t.Cert == "" {
		return nil
	}
	c := &Certificate{CertFile: t.Cert, KeyFile: t.Key}
	if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
		return c
	}
	cert, err := os.ReadFile(t.Cert)
	if err == nil {
		sum := sha256.Sum256(cert)
		c.digest = hex.EncodeToString(sum[:8])
	}
	return c
}
