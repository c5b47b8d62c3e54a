package knob

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kind checks a value that is not empty. Its error is for a person and stands behind the variable's name: "has to be host:port". Of a
// kind for secrets it does not repeat the value.
type Kind func(value string) error

// Kinds are kinds by name. The tag takes of a field, and the same words for Check, begin with a name; the words behind it narrow it.
type Kinds map[string]Kind

// KindOf makes a kind of what reads a value, whose error is a sentence of its own.
func KindOf[T any](read func(value string) (T, error)) Kind {
	return func(value string) error {
		if _, err := read(value); err != nil {
			return fmt.Errorf("cannot be used: %w", err)
		}
		return nil
	}
}

// Check checks a value by words such as "address" or "number 0 100". An empty value fits all kinds. more are the caller's own kinds, the
// others are:
//
//	text                  anything on one line
//	bool, factor          true or false; a number that is not negative
//	number FROM TO        a whole number
//	duration [FROM TO]    such as 1s or 5m, not negative
//	address               host:port; the host may be empty, and the port 0
//	brokers               host:port, separated by commas
//	url SCHEME...         an absolute address with one of the schemes
//	urls SCHEME...        such addresses, separated by commas
//	email                 an address without a name
//	hosts                 names and addresses of hosts, separated by commas
//	networks              see Networks
//	key, keys             at least 32 characters, separated by commas
//	zone                  a zone of the IANA database
//	one of WORD...        one of the words
func Check(takes, value string, more Kinds) error {
	if value == "" {
		return nil
	}
	if err := text(value); err != nil {
		return err
	}
	if own, ok := more[takes]; ok {
		return own(value)
	}
	words := strings.Fields(takes)
	if len(words) == 0 {
		return errors.New("has no kind in this program")
	}
	switch name, rest := words[0], words[1:]; name {
	case "text":
		return nil
	case "bool":
		if _, err := strconv.ParseBool(value); err != nil {
			return fmt.Errorf("has to be true or false, not %q", value)
		}
	case "factor":
		if f, err := strconv.ParseFloat(value, 64); err != nil || math.IsNaN(f) || f < 0 || f > math.MaxInt32 {
			return fmt.Errorf("has to be a number, 0 or more, not %q", value)
		}
	case "number":
		from, _ := strconv.Atoi(rest[0])
		to, _ := strconv.Atoi(rest[1])
		if n, err := strconv.Atoi(value); err != nil || n < from || n > to {
			return fmt.Errorf("has to be a number from %d to %d, not %q", from, to, value)
		}
	case "duration":
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return fmt.Errorf("has to be a time such as 1s, not %q", value)
		}
		if len(rest) == 0 {
			break
		}
		from, _ := time.ParseDuration(rest[0])
		to, _ := time.ParseDuration(rest[1])
		if d < from || d > to {
			return fmt.Errorf("has to be a time from %s to %s, not %q", rest[0], rest[1], value)
		}
	case "address":
		if !hostPort(value, 0) {
			return fmt.Errorf("has to be host:port, not %q", value)
		}
	case "brokers":
		for b := range strings.SplitSeq(value, ",") {
			if b = strings.TrimSpace(b); !hostPort(b, 1) || strings.HasPrefix(b, ":") {
				return fmt.Errorf("has to be host:port, separated by commas; %q is not", b)
			}
		}
	case "url", "urls":
		all := []string{value}
		if name == "urls" {
			all = strings.Split(value, ",")
		}
		// An address may hold a password, so the error does not repeat it.
		for _, a := range all {
			u, err := url.Parse(a)
			if err == nil && u.Scheme == "mailto" {
				u.Host = u.Opaque[strings.IndexByte(u.Opaque, '@')+1:]
			}
			if err != nil || u.Hostname() == "" || !slices.Contains(rest, u.Scheme) || u.Port() != "" && !hostPort(u.Host, 1) {
				return fmt.Errorf("has to be an address that begins with %s", strings.Replace(strings.Join(rest, ":// or ")+"://", "mailto://", "mailto:", 1))
			}
		}
	case "email":
		if a, err := mail.ParseAddress(value); err != nil || a.Address != value {
			return fmt.Errorf("has to be an email address, not %q", value)
		}
	case "hosts":
		for h := range strings.SplitSeq(value, ",") {
			if h = strings.TrimSpace(h); h != "" && !host.MatchString(h) {
				return fmt.Errorf("has to be names of hosts, separated by commas; %q is not the name of a host", h)
			}
		}
	case "networks":
		if _, err := Networks(value); err != nil {
			return fmt.Errorf("does not fit: %w", err)
		}
	case "key", "keys":
		keys := []string{value}
		if name == "keys" {
			keys = strings.Split(value, ",")
		}
		if slices.ContainsFunc(keys, func(k string) bool { return len(k) < shortestKey }) {
			return fmt.Errorf("needs at least %d characters", shortestKey)
		}
	case "zone":
		if _, err := time.LoadLocation(value); err != nil || value == "Local" {
			return fmt.Errorf("has to be a zone of the IANA database such as Europe/Brussels, not %q", value)
		}
	case "one": // of
		if !slices.Contains(rest[1:], value) {
			return fmt.Errorf("has to be %s, not %q", strings.Join(rest[1:], " or "), value)
		}
	default:
		return fmt.Errorf("is of the kind %q, which this program does not know", takes)
	}
	return nil
}

// Networks reads addresses and networks, separated by commas: 10.0.0.0/8,192.0.2.7. An address is a network of one.
func Networks(list string) (all []netip.Prefix, err error) {
	for n := range strings.SplitSeq(list, ",") {
		if n = strings.TrimSpace(n); n == "" {
			continue
		}
		if a, err := netip.ParseAddr(n); err == nil {
			all = append(all, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(n)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", n)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// shortestKey is the least length of a key that encrypts or hashes.
const shortestKey = 32

var host = regexp.MustCompile(`^[\pL\pN_.:%\[\]-]+$`)

// text refuses what no knob may hold. A control character is one that came along by accident.
func text(value string) error {
	if !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		return errors.New("holds a line break or another control character")
	}
	return nil
}

func hostPort(value string, least int) bool {
	name, port, err := net.SplitHostPort(value)
	if err != nil || name != "" && !host.MatchString(name) {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= least && n <= 65535
}
