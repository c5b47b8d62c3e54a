package settings

import (
	"crypto/subtle"
	"strconv"
	"time"
)

// id is a user's or page's number as events and the audit log have it.
func id(n int64) string { return strconv.FormatInt(n, 10) }

func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// sameText compares secrets in constant time.
func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
