package web

import (
	"time"

	"frontdesk/libs/web"
)

// services is the answer of GET /booking/services.
type services struct {
	Items         []service `json:"items"`
	Currency      string    `json:"currency"`
	TermsText     string    `json:"terms_text"`
	ClientChanges bool      `json:"client_changes"`
}

func (s services) find(id string) *service {
	for i := range s.Items {
		if s.Items[i].ID == id {
			return &s.Items[i]
		}
	}
	return nil
}

// of are the services that a person does.
func (s services) of(person int64) (theirs []service) {
	for _, one := range s.Items {
		if one.staffName(person) != "" {
			theirs = append(theirs, one)
		}
	}
	return theirs
}

type service struct {
	ID              string  `json:"id"`
	Name            string  `json:"name"`
	Description     string  `json:"description"`
	DurationMin     int     `json:"duration_min"`
	Price           *string `json:"price"`
	LocationType    string  `json:"location_type"`
	LocationDetails string  `json:"location_details"`
	Confirmation    string  `json:"confirmation"`
	Staff           []staff `json:"staff"`
	Form            *form   `json:"form"`
}

type staff struct {
	UserID int64  `json:"user_id"`
	Name   string `json:"name"`
}

type form struct {
	ID       int64         `json:"id"`
	Elements []web.Element `json:"elements"`
}

// plain is what the details step asks when no form says otherwise.
var plain = []web.Element{
	{ID: "first_name", Type: "field", Target: "contact.first_name", Width: "half"},
	{ID: "last_name", Type: "field", Target: "contact.last_name", Width: "half"},
	{ID: "email", Type: "field", Target: "contact.email", Required: true},
	{ID: "phone", Type: "field", Target: "contact.phone"},
	{ID: "message", Type: "field", Target: "message"},
}

// elements are the questions of the details step.
func (s service) elements() []web.Element {
	if s.Form != nil {
		return s.Form.Elements
	}
	return plain
}

// staffName is the name of a person who does the service, "" for anybody else.
func (s service) staffName(id int64) string {
	for _, m := range s.Staff {
		if m.UserID == id {
			return m.Name
		}
	}
	return ""
}

// freeTimes is the answer of GET /booking/slots.
type freeTimes struct {
	Items []slot `json:"items"`
	Token string `json:"token"`
}

type slot struct {
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	Staff    []int64   `json:"staff"`
}

// appointment is one as its client sees it.
type appointment struct {
	Status   string    `json:"status"`
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	Service  struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"service"`
	Staff        staff  `json:"staff"`
	LocationType string `json:"location_type"`
	Location     string `json:"location"`
}
