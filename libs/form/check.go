package form

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"frontdesk/libs/address"
	"frontdesk/libs/fault"
)

var none fault.Problem

// check returns the answer that a sent value gives to the question: a string, a json.Number, a bool or a []string; nil if
// the value is null or blank.
func (q *Question) check(sent any) (answer any, wrong fault.Problem) {
	if sent == nil {
		return nil, none
	}
	switch q.Kind {
	case KindCheckbox, KindConsent:
		return checkTick(sent)
	case KindChoices:
		return q.checkChoices(sent)
	case KindNumber:
		return checkNumber(sent)
	}
	s, ok := sent.(string)
	if !ok {
		return nil, fault.Type("a string")
	}
	if s = strings.TrimSpace(s); s == "" {
		return nil, none
	}
	if q.Kind == KindDropdown {
		if !slices.Contains(q.Options, s) {
			return nil, notAnOption()
		}
		return s, none
	}
	if wrong := q.checkText(s); !wrong.IsZero() {
		return nil, wrong
	}
	switch q.Kind {
	case KindEmail:
		stored, err := address.Parse(s)
		if err != nil {
			return nil, fault.Email()
		}
		s = stored
	case KindPhone:
		if s = strings.TrimSpace(address.Number(s)); !isPhone(s) {
			return nil, fault.Format("phone", "a phone number", "+32 470 12 34 56")
		}
	case KindURL:
		site, ok := Website(s, "http", "https")
		if !ok || utf8.RuneCountInString(site) > q.Max {
			return nil, fault.Website()
		}
		s = site
	case KindDate:
		if day, err := time.Parse(time.DateOnly, s); err != nil || day.Year() < 1000 {
			return nil, fault.Day()
		}
	}
	return s, none
}

func (q *Question) checkText(s string) fault.Problem {
	switch {
	case q.Max == 0:
		return none
	case q.Kind == KindLongText:
		return Text(s, q.Max)
	}
	return OneLine(s, q.Max)
}

// OneLine checks a text of one line: at most most characters, and no control characters besides tabs.
func OneLine(s string, most int) fault.Problem { return text(s, most, "\t") }

// Text checks a text that may have several lines: at most most characters, and no control characters besides tabs and
// line ends.
func Text(s string, most int) fault.Problem { return text(s, most, "\t\r\n") }

// Name checks a name that somebody gives to a record: not blank, at most most characters, and no control characters.
func Name(s string, most int) fault.Problem {
	if strings.TrimSpace(s) == "" {
		return fault.Empty()
	}
	return text(s, most, "")
}

func text(s string, most int, allowed string) fault.Problem {
	if utf8.RuneCountInString(s) > most {
		return fault.TooLong(most)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(allowed, r) }) {
		return fault.ControlCharacters(strings.Contains(allowed, "\n"))
	}
	return none
}

// Page checks the address of the page that something was sent from: empty, or http or https.
func Page(s string) fault.Problem {
	if s == "" {
		return none
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsFunc(s, unicode.IsControl) {
		return fault.Website()
	}
	return none
}

func notAnOption() fault.Problem { return fault.NewProblem("not_one_of", "must be one of the options") }

func checkTick(sent any) (any, fault.Problem) {
	switch v := sent.(type) {
	case bool:
		return v, none
	case string: // as an HTML form sends it
		switch strings.TrimSpace(v) {
		case "":
			return nil, none
		case "true", "1", "on":
			return true, none
		case "false", "0", "off":
			return false, none
		}
	}
	return nil, fault.Type("true or false")
}

func (q *Question) checkChoices(sent any) (any, fault.Problem) {
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
		return nil, fault.Type("an array of options")
	}
	if len(list) > MaxOptions {
		return nil, fault.TooMany(MaxOptions)
	}
	var out []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, fault.Type("an array of options")
		}
		if s = strings.TrimSpace(s); s == "" || slices.Contains(out, s) {
			continue
		}
		if !slices.Contains(q.Options, s) {
			return nil, notAnOption()
		}
		out = append(out, s)
	}
	if out == nil {
		return nil, none
	}
	return out, none
}

var (
	number = regexp.MustCompile(`^(-?)0*([0-9]{1,15})(\.[0-9]{1,10})?$`)
	// Numbers as they may be sent. Others are more than the database keeps of a number.
	numeral = regexp.MustCompile(`^-?[0-9.]{1,64}([eE][+-]?[0-9]{1,2})?$`)
)

func checkNumber(sent any) (any, fault.Problem) {
	var s string
	switch v := sent.(type) {
	case string:
		if s = strings.TrimSpace(v); s == "" {
			return nil, none
		}
	case json.Number:
		s = v.String()
	case float64:
		s = strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		s = strconv.Itoa(v)
	}
	if !numeral.MatchString(s) {
		return nil, notANumber()
	}
	if strings.ContainsAny(s, "eE") {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			s = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	m := number.FindStringSubmatch(s)
	if m == nil {
		return nil, notANumber()
	}
	if m[1] == "-" && strings.Trim(m[2]+m[3], "0.") == "" {
		m[1] = "" // there is no zero below zero
	}
	return json.Number(m[1] + m[2] + m[3]), none
}

func notANumber() fault.Problem {
	return fault.NewProblem("number", "must be a number of at most 15 digits before and 10 behind the point")
}

// storable checks a value that goes nowhere: it is stored as it was sent.
func storable(sent any) fault.Problem {
	switch v := sent.(type) {
	case nil, bool:
		return none
	case float64, json.Number, int:
		_, wrong := checkNumber(v)
		return wrong
	case string:
		return Text(v, maxLongText)
	case []any:
		if len(v) > MaxOptions {
			return fault.TooMany(MaxOptions)
		}
		for _, one := range v {
			s, ok := one.(string)
			if !ok {
				return fault.Type("an array of options")
			}
			if wrong := OneLine(s, MaxOption); !wrong.IsZero() {
				return wrong
			}
		}
		return none
	}
	return fault.Type("a string, a number, true, false or an array of options")
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
	scheme   = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.\-]*:`)
	hostPort = regexp.MustCompile(`^[^/?#]*:[0-9]{1,5}([/?#]|$)`)
)

// Website gives a web address of one of these schemes, with https:// put in front where s names none; ok is false when s
// is no address of a public host.
func Website(s string, schemes ...string) (site string, ok bool) {
	if strings.ContainsAny(s, " \t\r\n\\") {
		return "", false
	}
	if !scheme.MatchString(s) || hostPort.MatchString(s) {
		s = "https://" + strings.TrimPrefix(s, "//")
	}
	u, err := url.Parse(s)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.User != nil || u.Opaque != "" {
		return "", false
	}
	if n, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return "", false
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		if _, err := address.Host(strings.ToLower(u.Hostname())); err != nil {
			return "", false
		}
	}
	return s, true
}
