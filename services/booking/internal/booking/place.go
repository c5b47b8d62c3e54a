package booking

import (
	"net/url"
	"strings"

	"frontdesk/libs/fault"
)

// place is where an appointment takes place, as it was set: empty texts stand for the service's address
// or the staff member's link.
type place struct{ kind, location, meetingURL string }

// reachable refuses a place online that has no link: neither its own nor the fixed one of the staff member.
func (p place) reachable(staffLink string) error {
	if p.kind == "online" && p.meetingURL == "" && staffLink == "" {
		return fault.Conflict("no_meeting_link", "An appointment online needs a meeting link. Give one, or set the fixed link of the staff member.")
	}
	return nil
}

// checked is the place as it is stored. It refuses a client's place without an address, and a meeting link that is no link.
func (p place) checked() (place, error) {
	p.location, p.meetingURL = strings.TrimSpace(p.location), strings.TrimSpace(p.meetingURL)
	if p.kind == "client" && p.location == "" {
		return p, fault.Invalid("location", fault.NewProblem("required", "is required: the address of the client"))
	}
	if p.meetingURL != "" && !webAddress(p.meetingURL) {
		return p, fault.Invalid("meeting_url", fault.Website())
	}
	if p.kind == "online" {
		p.location = ""
	} else {
		p.meetingURL = ""
	}
	return p, nil
}

func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}
