package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Refused is the error of Ensure about a topic or a login that this installation must not use. It says what to do.
type Refused string

func (r Refused) Error() string { return "Kafka: " + string(r) }

// Login is how a process gets to the brokers. The zero value is plain TCP without a user.
type Login struct {
	tls  *tls.Config
	sasl sasl.Mechanism
	user string
}

// LoginOptions are the knobs that a Login is made of.
type LoginOptions struct {
	// TLS encrypts the connections. The authorities of the system sign for the brokers unless CA is set.
	TLS bool
	// CA is a PEM file with the authorities that sign the brokers' certificates. It implies TLS.
	CA string
	// Cert and Key are PEM files with the process's own certificate, for brokers that ask for one. They imply TLS.
	Cert, Key string
	// User signs in with Password by SCRAM-SHA-512; an empty one does not sign in.
	User, Password string
}

// NewLogin reads the files of o. Its error is for a person and names the knob.
func NewLogin(o LoginOptions) (Login, error) {
	l := Login{user: o.User}
	if o.TLS || o.CA != "" || o.Cert != "" {
		l.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return l, fmt.Errorf("SVC_KAFKA_CA cannot be read: %w", err)
		}
		l.tls.RootCAs = x509.NewCertPool()
		if !l.tls.RootCAs.AppendCertsFromPEM(pem) {
			return l, fmt.Errorf("SVC_KAFKA_CA: %s holds no certificate in PEM", o.CA)
		}
	}
	if (o.Cert == "") != (o.Key == "") {
		return l, errors.New("SVC_KAFKA_CERT and SVC_KAFKA_CERT_KEY belong together")
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return l, fmt.Errorf("SVC_KAFKA_CERT and SVC_KAFKA_CERT_KEY cannot be used: %w", err)
		}
		l.tls.Certificates = []tls.Certificate{pair}
	}
	if (o.User == "") != (o.Password == "") {
		return l, errors.New("SVC_KAFKA_USER and SVC_KAFKA_PASSWORD belong together")
	}
	if o.User != "" {
		var err error
		if l.sasl, err = scram.Mechanism(scram.SHA512, o.User, o.Password); err != nil {
			return l, fmt.Errorf("SVC_KAFKA_USER and SVC_KAFKA_PASSWORD cannot be used: %w", err)
		}
	}
	return l, nil
}

// Transport connects a client of the brokers.
func (l Login) Transport() *kafka.Transport { return &kafka.Transport{TLS: l.tls, SASL: l.sasl} }

// Dialer connects readers and group members, each connection within a time.
func (l Login) Dialer(clientID string, within time.Duration) *kafka.Dialer {
	return &kafka.Dialer{ClientID: clientID, Timeout: within, DualStack: true, TLS: l.tls, SASLMechanism: l.sasl}
}

func (l Login) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case is[x509.UnknownAuthorityError](err):
		return Refused(fmt.Sprintf("the brokers' certificate is signed by an authority that SVC_KAFKA_CA does not hold (%v)", err))
	case is[x509.HostnameError](err), is[x509.CertificateInvalidError](err):
		return Refused(fmt.Sprintf("the brokers' certificate is not valid for the address in KAFKA_BROKERS (%v)", err))
	case is[tls.AlertError](err):
		return Refused(fmt.Sprintf("the brokers refuse the certificate of this process, SVC_KAFKA_CERT (%v)", err))
	case is[tls.RecordHeaderError](err):
		return Refused("the brokers do not speak TLS at the addresses in KAFKA_BROKERS: leave SVC_KAFKA_TLS and SVC_KAFKA_CA empty, or name the port that does")
	case errors.Is(err, kafka.SASLAuthenticationFailed):
		return Refused(fmt.Sprintf("the brokers refuse the user %q with the password in SVC_KAFKA_PASSWORD", l.user))
	case errors.Is(err, kafka.UnsupportedSASLMechanism), errors.Is(err, kafka.IllegalSASLState):
		return Refused("the brokers do not offer SCRAM-SHA-512 at the addresses in KAFKA_BROKERS, which SVC_KAFKA_USER asks for")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%w: besides an outage, brokers that expect TLS, no TLS, or another user or password end a connection in this way, see SVC_KAFKA_CA, SVC_KAFKA_TLS, "+
			"SVC_KAFKA_USER and SVC_KAFKA_PASSWORD", err)
	}
	return err
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
