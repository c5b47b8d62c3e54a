package definition

import (
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// check gives the answer in a value that was sent for an element: nil when it is none, else a string, a
// json.Number, a bool or a []string. problem is a phrase to put behind the name of the value.
func check(e *Element, sent any) (answer any, problem string) {
	if sent == nil {
		return nil, ""
	}
	switch e.Kind() {
	case KindCheckbox, KindConsent:
		return checkTick(sent)
	case KindChoices:
		return checkChoices(e, sent)
	case KindNumber:
		return checkNumber(sent)
	}
	s, ok := sent.(string)
	if !ok {
		return nil, "must be a string"
	}
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return nil, ""
	case utf8.RuneCountInString(s) > e.input.max:
		return nil, "must have at most " + strconv.Itoa(e.input.max) + " characters"
	case !printable(s, e.Kind() == KindLongText):
		return nil, unprintable(e.Kind() == KindLongText)
	}
	switch e.Kind() {
	case KindEmail:
		if !isEmail(s) {
			return nil, "must be an email address such as name@example.com"
		}
	case KindPhone:
		if !isPhone(s) {
			return nil, "must be a phone number such as +32 470 12 34 56"
		}
	case KindURL:
		site, err := website(s, "http", "https")
		if err != nil || utf8.RuneCountInString(site) > e.input.max {
			return nil, "must be a web address such as https://example.com"
		}
		s = site
	case KindDate:
		if day, err := time.Parse(time.DateOnly, s); err != nil || day.Year() < 1000 {
			return nil, "must be a date such as 2026-12-31"
		}
	case KindDropdown:
		if !slices.Contains(e.Choices(), s) {
			return nil, "must be one of the options"
		}
	}
	return s, ""
}

func checkTick(sent any) (any, string) {
	switch v := sent.(type) {
	case bool:
		return v, ""
	case string: // as an HTML form sends it
		switch strings.TrimSpace(v) {
		case "":
			return nil, ""
		case "true", "1", "on":
			return true, ""
		case "false", "0", "off":
			return false, ""
		}
	}
	return nil, "must be true or false"
}

func checkChoices(e *Element, sent any) (any, string) {
	var list []any
	switch v := sent.(type) {
	case []any:
		list = v
	case []string:
		for _, s := range v {
			list = append(list, s)
		}
	case string:
		list = []any{v}
	default:
		return nil, "must be an array of options"
	}
	if len(list) > MaxOptions {
		return nil, "must have at most " + strconv.Itoa(MaxOptions) + " options"
	}
	var out []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, "must be an array of options"
		}
		if s = strings.TrimSpace(s); s == "" || slices.Contains(out, s) {
			continue
		}
		if !slices.Contains(e.Choices(), s) {
			return nil, "must be options that can be chosen"
		}
		out = append(out, s)
	}
	if out == nil {
		return nil, ""
	}
	return out, ""
}

var number = regexp.MustCompile(`^(-?)0*([0-9]{1,15})(\.[0-9]{1,10})?$`)

func checkNumber(sent any) (any, string) {
	var s string
	switch v := sent.(type) {
	case string:
		s = strings.TrimSpace(v)
		if s == "" {
			return nil, ""
		}
	case json.Number:
		s = v.String()
	case float64:
		s = strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		s = strconv.Itoa(v)
	default:
		return nil, "must be a number"
	}
	if strings.ContainsAny(s, "eE") && len(s) <= 40 {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			s = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	if len(s) > 64 {
		return nil, "must be a number of at most 15 digits before and 10 behind the point"
	}
	m := number.FindStringSubmatch(s)
	if m == nil {
		return nil, "must be a number of at most 15 digits before and 10 behind the point"
	}
	if m[1] == "-" && strings.Trim(m[2]+m[3], "0.") == "" {
		m[1] = "" // there is no zero below zero
	}
	return json.Number(m[1] + m[2] + m[3]), ""
}

// storable says what keeps a value that goes nowhere from being stored as it was sent.
func storable(sent any) (problem string) {
	switch v := sent.(type) {
	case nil, bool, float64, json.Number, int:
		return ""
	case string:
		if utf8.RuneCountInString(v) > MaxLongText {
			return "must have at most " + strconv.Itoa(MaxLongText) + " characters"
		}
		if !printable(v, true) {
			return "must not have control characters"
		}
		return ""
	case []any:
		if len(v) > MaxOptions {
			return "must have at most " + strconv.Itoa(MaxOptions) + " options"
		}
		for _, one := range v {
			s, ok := one.(string)
			if !ok || utf8.RuneCountInString(s) > MaxOption || !printable(s, false) {
				return "must be an array of options"
			}
		}
		return ""
	}
	return "must be a string, a number, true, false or an array of options"
}

// isEmail accepts what contacts stores: a plain ASCII part without quotes before the @, a domain of two labels
// or more behind it, internationalized or not.
func isEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || len(local) > 64 || strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..") {
		return false
	}
	for _, c := range []byte(local) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", c) < 0 {
			return false
		}
	}
	return isHost(domain) && utf8.RuneCountInString(s) <= MaxEmail
}

func isHost(host string) bool {
	ascii, err := idna.Lookup.ToASCII(strings.ToLower(host))
	labels := strings.Split(ascii, ".")
	if err != nil || len(ascii) > 189 || len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return len(last) >= 2 && strings.Trim(last, "0123456789") != ""
}

var phone = regexp.MustCompile(`^[+(]?[0-9][0-9 ().\-/]*( ?(#|x|ext\.?|toestel|poste) ?[0-9]{1,7})?$`)

func isPhone(s string) bool {
	digits := 0
	for _, c := range []byte(s) {
		if '0' <= c && c <= '9' {
			digits++
		}
	}
	return digits >= 3 && phone.MatchString(s)
}

var (
	errWebsite = errors.New("not a web address")
	scheme     = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.\-]*:`)
	hostPort   = regexp.MustCompile(`^[^/?#]*:[0-9]{1,5}([/?#]|$)`)
)

// website is a web address of one of these schemes, with https:// put in front where none is named.
func website(s string, schemes ...string) (string, error) {
	if strings.ContainsAny(s, " \t\r\n\\") {
		return "", errWebsite
	}
	if !scheme.MatchString(s) || hostPort.MatchString(s) {
		s = "https://" + strings.TrimPrefix(s, "//")
	}
	u, err := url.Parse(s)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.User != nil || u.Opaque != "" {
		return "", errWebsite
	}
	if n, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return "", errWebsite
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil && !isHost(u.Hostname()) {
		return "", errWebsite
	}
	return s, nil
}
