package booking

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
)

// PublicService is a service as visitors see it.
type PublicService struct {
	ID              uuid.UUID              `json:"id" format:"uuid"`
	Name            string                 `json:"name"`
	Description     string                 `json:"description"`
	DurationMin     int                    `json:"duration_min"`
	Price           *string                `json:"price"`
	LocationType    string                 `json:"location_type"`
	LocationDetails string                 `json:"location_details"`
	Confirmation    string                 `json:"confirmation"`
	Staff           []StaffRef             `json:"staff"`
	Form            opt.Value[DetailsForm] `json:"form" doc:"What the details step asks; null for name, address, phone number and a message."`
}

// PublicServices is the list of them, and what the booking page says around it.
type PublicServices struct {
	Items         []PublicService `json:"items"`
	NextCursor    *string         `json:"next_cursor"`
	Total         int64           `json:"total"`
	Timezone      string          `json:"timezone"`
	Currency      string          `json:"currency"`
	Business      string          `json:"business"`
	TermsText     string          `json:"terms_text"`
	ClientChanges bool            `json:"client_changes"`
}

func (s *service) publicServices(ctx context.Context, tx *db.Tx, _ op.None) (PublicServices, error) {
	site := s.site()
	c, err := s.readCatalog(ctx, tx)
	if err != nil {
		return PublicServices{}, err
	}
	out := PublicServices{Items: []PublicService{}, Total: int64(len(c.services)), Timezone: s.Config.Timezone, Currency: site.Currency,
		Business: site.Business.Name, TermsText: c.settings.TermsText, ClientChanges: c.settings.ClientChanges}
	for _, b := range c.services {
		p := PublicService{ID: b.ID, Name: b.Name, Description: b.Description, DurationMin: b.DurationMin, Price: b.Price, LocationType: b.LocationType,
			LocationDetails: b.LocationDetails, Confirmation: b.Confirmation, Staff: []StaffRef{}}
		for _, user := range s.staffOf(tx, b) {
			p.Staff = append(p.Staff, StaffRef{user, s.staffName(user, c.staff[user].Name)})
		}
		if form, ok := c.forms.of(b, c.settings); ok {
			p.Form = opt.Of(form)
		}
		out.Items = append(out.Items, p)
	}
	return out, nil
}

// siteInfo is what booking reads of the site's general settings.
type siteInfo struct {
	Business struct {
		Name  string `json:"name"`
		Email string `json:"email"`
		Phone string `json:"phone"`
	} `json:"business"`
	Currency string `json:"currency"`
	Country  string `json:"country"`
	ReplyTo  string `json:"reply_to"`
}

func (s *service) site() siteInfo {
	var site siteInfo
	s.Site.Read("general", &site)
	if site.Business.Name == "" {
		site.Business.Name = "Frontdesk"
	}
	return site
}

// PublicAppointment is an appointment as its client sees it.
type PublicAppointment struct {
	Status       string    `json:"status"`
	StartsAt     time.Time `json:"starts_at"`
	EndsAt       time.Time `json:"ends_at"`
	Service      Ref       `json:"service"`
	Staff        StaffRef  `json:"staff"`
	LocationType string    `json:"location_type"`
	Location     string    `json:"location"`

	id uuid.UUID
}

// RecordID is what the audit log names.
func (p PublicAppointment) RecordID() string { return p.id.String() }

// public is the appointment as a visitor gets to see it. Nothing in it is read from the contact: whoever booked may have
// given somebody else's address.
func (a appointment) public() PublicAppointment {
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
