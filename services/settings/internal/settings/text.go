package settings

import (
	"crypto/subtle"
	netmail "net/mail"
	"strconv"
	"time"

	"frontdesk/libs/fault"
)

// number is the id of a user or page as events and the audit log have it.
func number(id int64) string { return strconv.FormatInt(id, 10) }

func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// sameText compares secrets in constant time.
func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// checkEmail says what is wrong with the address of somebody who gets mail: a bare address, without a name.
func checkEmail(email string) fault.Problem {
	if a, err := netmail.ParseAddress(email); err != nil || a.Address != email || a.Name != "" {
		return fault.Email()
	}
	return fault.Problem{}
}
