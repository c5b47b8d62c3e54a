package booking

import (
	"time"

	"github.com/google/uuid"
)

// PublicAppointment is an appointment as its client sees it.
type PublicAppointment struct {
	Status       string    `json:"status" doc:"pending while somebody has to confirm it, else confirmed."`
	StartsAt     time.Time `json:"starts_at" doc:"When it begins."`
	EndsAt       time.Time `json:"ends_at" doc:"When it ends."`
	Service      Ref       `json:"service"`
	Staff        StaffRef  `json:"staff"`
	LocationType string    `json:"location_type" doc:"Where it takes place."`
	Location     string    `json:"location" doc:"The address or other words about the place."`

	id uuid.UUID
}

// RecordID is what the audit log names.
func (p PublicAppointment) RecordID() string { return p.id.String() }

// publicly is the appointment as a visitor gets to see it. Nothing in it is read from the contact: whoever booked may have
// given somebody else's address.
func publicly(a record) PublicAppointment {
	p := PublicAppointment{Status: a.Status, StartsAt: a.StartsAt, EndsAt: a.EndsAt, Service: a.Service, Staff: a.Staff, LocationType: a.LocationType,
		Location: a.Location, id: a.ID}
	switch {
	case a.LocationType == "phone":
		p.Location = a.place.location
	case a.LocationType == "online" && a.Status == statusConfirmed:
		p.Location = a.MeetingURL
	}
	return p
}
