package form

import (
	"slices"
	"strconv"
	"strings"

	"frontdesk/libs/address"
	"frontdesk/libs/fault"
)

// Addressees are the addresses that are mailed about something, from a list that replaces had. A new one is taken from a person in the app only:
// whoever holds a key cannot send clients' data to themselves. What is wrong is handed to wrong, with its place in the list.
func Addressees(given, had []string, mayAdd bool, wrong func(at string, p fault.Problem)) []string {
	out := []string{}
	for i, email := range given {
		at := "[" + strconv.Itoa(i) + "]"
		email = strings.TrimSpace(email)
		same := func(other string) bool { return strings.EqualFold(email, other) }
		switch {
		case slices.ContainsFunc(out, same):
			wrong(at, fault.Twice())
			continue
		case slices.ContainsFunc(had, same):
		case !mayAdd:
			wrong(at, fault.NewProblem("new_address", "is new: addresses can be kept or removed here, and added in the app only"))
			continue
		default:
			if _, err := address.Parse(email); err != nil {
				wrong(at, fault.Email())
				continue
			}
		}
		out = append(out, email)
	}
	return out
}
