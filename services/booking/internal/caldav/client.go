package caldav

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/icholy/digest"
	"golang.org/x/net/publicsuffix"
)

const (
	// MaxBytes is the most that the answers of one Client may have together. The http.Client has to keep one byte more of each.
	MaxBytes = 20 << 20
	// maxObjects is the most events that are read of a calendar.
	maxObjects = 10_000
	// maxRedirects bounds the redirects of one request.
	maxRedirects = 3
)

// Account is where somebody has calendars, and how they sign in there.
type Account struct{ Address, Username, Password string }

// Client makes the requests of one visit to a server, one after the other.
type Client struct {
	http    http.Client
	address string
	left    int64
}

// New returns a client that makes its requests by base, which decides which addresses it reaches and does not follow redirects. It signs in when it is
// asked to, by digest if the server takes it, and nowhere but at the site of the account's address.
func New(base *http.Client, a Account) *Client {
	c := &Client{*base, a.Address, MaxBytes}
	at, _ := url.Parse(a.Address)
	c.http.Transport = &signer{base: base.Transport, account: a, at: at}
	return c
}

// Errors of servers, beside those of the network.
var (
	// ErrSignIn says that the server does not take the name and password.
	ErrSignIn = errors.New("the server does not accept the user name and password")
	// ErrForbidden says that the person may not do this.
	ErrForbidden = errors.New("the server does not allow this")
	// ErrMissing says that nothing is at the address.
	ErrMissing = errors.New("the server has nothing at this address")
	// ErrChanged says that an event is another one by now, is there already, or is gone.
	ErrChanged = errors.New("the event was changed on the server")
	// ErrLater says that the server wants to be left alone for a while.
	ErrLater = errors.New("the server is busy")
	// ErrBroken says that the server has failed.
	ErrBroken = errors.New("the server has failed")
	// ErrTooLarge says that a calendar is larger than what is read of one.
	ErrTooLarge = errors.New("the calendar has more than 20 MB or 10,000 events")
	// ErrNoCalendars says that an address does not lead to calendars.
	ErrNoCalendars = errors.New("the address does not lead to a CalDAV server")
)

// Later is how long the server that answered with err wants to be left alone; zero if it does not say.
func Later(err error) time.Duration {
	if l, ok := errors.AsType[later](err); ok {
		return l.after
	}
	return 0
}

type later struct {
	error
	after time.Duration
}

func (l later) Unwrap() error { return l.error }

// RetryAfter is how long an answer wants that nothing is asked; zero if it does not say. A moment counts from that of the answer.
func RetryAfter(h http.Header) time.Duration {
	given := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(given, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(given)
	sent, noDate := http.ParseTime(h.Get("Date"))
	if err != nil || noDate != nil {
		return 0
	}
	return max(at.Sub(sent), 0)
}

// refusal is one of the errors above, with the status of the answer.
func refusal(status int, h http.Header) error {
	kind := ErrBroken
	switch {
	case status == http.StatusUnauthorized:
		kind = ErrSignIn
	case status == http.StatusNotFound || status == http.StatusGone:
		kind = ErrMissing
	case status == http.StatusPreconditionFailed:
		kind = ErrChanged
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		kind = ErrLater
	case status == http.StatusInsufficientStorage || status < 500 && status >= 400:
		kind = ErrForbidden
	}
	err := fmt.Errorf("%w (%d)", kind, status)
	if errors.Is(kind, ErrLater) {
		return later{err, RetryAfter(h)}
	}
	return err
}

// answer is what a server said, with the address that it is from.
type answer struct {
	at     *url.URL
	header http.Header
	body   []byte
}

// do makes a request and reads the answer. Redirects are followed with the same method and body.
func (c *Client) do(ctx context.Context, method, address, body string, header map[string]string) (answer, error) {
	at, err := url.Parse(address)
	if err != nil {
		return answer{}, ErrNoCalendars
	}
	for range maxRedirects + 1 {
		r, err := http.NewRequestWithContext(ctx, method, at.String(), strings.NewReader(body))
		if err != nil {
			return answer{}, ErrNoCalendars
		}
		for name, value := range header {
			r.Header.Set(name, value)
		}
		res, err := c.http.Do(r) //nolint:bodyclose // read closes it
		if err != nil {
			return answer{}, plain(err)
		}
		a, err := c.read(res, at)
		next, isRedirect := redirect(res)
		if err != nil || !isRedirect {
			return a, err
		}
		at = next
	}
	return answer{}, fmt.Errorf("%w: it redirects more than %d times", ErrBroken, maxRedirects)
}

// redirect is where an answer leads, if it is elsewhere.
func redirect(res *http.Response) (*url.URL, bool) {
	if !slices.Contains([]int{301, 302, 307, 308}, res.StatusCode) {
		return nil, false
	}
	next, err := res.Location()
	return next, err == nil
}

func (c *Client) read(res *http.Response, at *url.URL) (answer, error) {
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.left+1))
	if err != nil {
		return answer{}, plain(err)
	}
	if c.left -= int64(len(body)); c.left < 0 {
		return answer{}, ErrTooLarge
	}
	if _, isRedirect := redirect(res); !isRedirect && res.StatusCode/100 != 2 {
		return answer{}, refusal(res.StatusCode, res.Header)
	}
	return answer{at, res.Header, body}, nil
}

// plain is an error of net/http without the address, which names the person.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

const typeXML = "application/xml; charset=utf-8"

// ask makes a request with an XML document and reads the list that comes back.
func (c *Client) ask(ctx context.Context, method, address, depth, body string) (list, error) {
	a, err := c.do(ctx, method, address, xml.Header+body, map[string]string{"Content-Type": typeXML, "Depth": depth})
	if err != nil {
		return list{}, err
	}
	l := list{at: a.at}
	if err := xml.Unmarshal(a.body, &l); err != nil {
		return list{}, ErrNoCalendars
	}
	return l, nil
}

// signer signs requests in, as the server wants it.
type signer struct {
	base    http.RoundTripper
	account Account
	at      *url.URL

	mu   sync.Mutex
	with http.RoundTripper // how to sign in, once it was asked for
}

func (s *signer) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.mayKnow(r.URL) {
		return s.base.RoundTrip(r)
	}
	s.mu.Lock()
	with := s.with
	s.mu.Unlock()
	if with != nil {
		return with.RoundTrip(r)
	}
	res, err := s.base.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusUnauthorized || s.account.Username == "" {
		return res, err
	}
	with = s.wanted(res)
	if with == nil {
		return res, nil
	}
	_ = res.Body.Close()
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.with = with
	s.mu.Unlock()
	return with.RoundTrip(again)
}

// wanted is how an answer wants to be signed in; nil if it is not known here.
func (s *signer) wanted(res *http.Response) http.RoundTripper {
	if _, err := digest.FindChallenge(res.Header); err == nil {
		return &digest.Transport{Username: s.account.Username, Password: s.account.Password, Transport: s.base}
	}
	if slices.ContainsFunc(res.Header.Values("WWW-Authenticate"), func(v string) bool { return strings.Contains(strings.ToLower(v), "basic") }) {
		return basic{s.base, s.account}
	}
	return nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (s *signer) CloseIdleConnections() { (&http.Client{Transport: s.base}).CloseIdleConnections() }

// mayKnow reports whether a host may be told the password: that of the account's address, or one of the same site, because large providers have
// the calendars elsewhere than the address. None is told it in the clear by a server that was asked over TLS.
func (s *signer) mayKnow(u *url.URL) bool {
	if s.at == nil || s.at.Scheme == "https" && u.Scheme != "https" {
		return false
	}
	if strings.EqualFold(u.Host, s.at.Host) {
		return true
	}
	return u.Scheme == "https" && u.Port() == s.at.Port() && site(u) == site(s.at)
}

// site is the part of a host's name that one owner has registered.
func site(u *url.URL) string {
	name := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(name); err == nil {
		return name
	}
	registered, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return registered
}

type basic struct {
	base    http.RoundTripper
	account Account
}

func (b basic) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.SetBasicAuth(b.account.Username, b.account.Password)
	return b.base.RoundTrip(r)
}
