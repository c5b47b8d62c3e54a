package appointments

import (
	"net/url"
	"strings"

	"frontdesk/libs/fault"
)

// Place is where an appointment takes place, as it was set: empty texts stand for the service's address
// or the staff member's link.
type Place struct {
	Kind                 string `db:"location_type"`
	Location, MeetingURL string
}

// Reachable refuses a place online that has no link: neither its own nor the fixed one of the staff member.
func (p Place) Reachable(staffLink string) error {
	if p.Kind == "online" && p.MeetingURL == "" && staffLink == "" {
		return NoLink()
	}
	return nil
}

// NoLink refuses a place online without a link.
func NoLink() error {
	return fault.Conflict("no_meeting_link", "An appointment online needs a meeting link. Give one, or set the fixed link of the staff member.")
}

// Checked is the place as it is stored. It refuses a client's place without an address, and a meeting link that is no link.
func (p Place) Checked() (Place, error) {
	p.Location, p.MeetingURL = strings.TrimSpace(p.Location), strings.TrimSpace(p.MeetingURL)
	if p.Kind == "client" && p.Location == "" {
		return p, fault.Invalid("location", fault.NewProblem("required", "is required: the address of the client"))
	}
	if p.MeetingURL != "" && !WebAddress(p.MeetingURL) {
		return p, fault.Invalid("meeting_url", fault.Website())
	}
	if p.Kind == "online" {
		p.Location = ""
	} else {
		p.MeetingURL = ""
	}
	return p, nil
}

// WebAddress reports whether a text is the address of a page, without a name and password.
func WebAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}
