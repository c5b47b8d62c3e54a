package person

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontdesk/libs/address"
)

// maxWebsite is the length of the longest website, in characters.
const maxWebsite = 2048

var (
	errWebsite     = errors.New("must be a web address such as https://example.com")
	errWebsiteLong = errors.New("must have at most 2048 characters")

	scheme = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.\-]*:`)
	port   = regexp.MustCompile(`^[^/?#]*:[0-9]{1,5}([/?#]|$)`)
)

// Website is the stored form of a web address: https:// is put in front of one that names no scheme,
// the rest stays as typed. The empty string is no website and no error. Only http and https are
// taken, to a host name with at least two labels or to an IP address, without user information.
func Website(typed string) (string, error) {
	typed = strings.TrimFunc(typed, isBlank)
	if typed == "" {
		return "", nil
	}
	if strings.ContainsFunc(typed, isBlank) || strings.Contains(typed, `\`) {
		return "", errWebsite
	}
	switch {
	case strings.HasPrefix(typed, "//"):
		typed = "https:" + typed
	case !scheme.MatchString(typed), port.MatchString(typed):
		typed = "https://" + typed
	}
	if utf8.RuneCountInString(typed) > maxWebsite {
		return "", errWebsiteLong
	}
	u, err := url.Parse(typed)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.Opaque != "" {
		return "", errWebsite
	}
	if n, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return "", errWebsite
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		if _, err := address.Host(strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")); err != nil {
			return "", errWebsite
		}
	}
	// The scheme is compared in lower case everywhere, so it is stored so.
	return u.Scheme + typed[len(u.Scheme):], nil
}
